// Turns a RootKey's initialValue into the JSON text to start from, normalised as Kubernetes stores
// it: members sorted, `1.0` as `1`. Refuses depth, size, integers that a double can't hold and
// strings that are not Unicode.

import type { Json } from "../../core/config/types.ts";
import { childPointer } from "../../core/json/json-pointer.ts";
import { isArray } from "../../core/json/json-value.ts";
import { doubleText } from "../../core/json/number.ts";
import { type Fault, type Result, refuseAll } from "../model/verdict.ts";

const maxDepth = 64;
/** More can be wrong; fewer are worth reading. */
const maxFaults = 10;

/** `value` undefined = the default, `{}`; null is a value. `maxBytes` is of UTF-8. */
export function initialValueText(value: Json | undefined, maxBytes: number): Result<string> {
  const pointer = "/spec/initialValue";
  const faults: Fault[] = [];
  const text = textOf(value === undefined ? {} : value, { pointer, depth: 1, faults });
  if (faults.length === 0 && Buffer.byteLength(text) > maxBytes) {
    const message = `Takes more bytes as JSON than the Project's limits.maxDocumentBytes, ${maxBytes}`;
    faults.push({ pointer, message });
  }
  return faults.length > 0 ? refuseAll("InvalidSpec", faults.slice(0, maxFaults)) : { ok: true, value: text };
}

interface ValueLocation {
  readonly pointer: string;
  readonly depth: number;
  readonly faults: Fault[];
}

function textOf(value: Json, location: ValueLocation): string {
  if (typeof value === "number") return numberText(value, location);
  if (typeof value === "string") return stringText(value, location);
  if (value === null || typeof value !== "object") return String(value);
  if (location.depth > maxDepth) {
    location.faults.push({ pointer: location.pointer, message: `Is nested more than ${maxDepth} levels deep` });
    return "null";
  }
  return isArray(value) ? arrayText(value, location) : objectText(value, location);
}

function numberText(value: number, { pointer, faults }: ValueLocation): string {
  if (!Number.isFinite(value)) {
    faults.push({ pointer, message: "Is not a JSON number" });
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const message = "An integer beyond 2^53-1 would not come back as it was written; write it as a string";
    faults.push({ pointer, message });
  } else {
    return Number.isInteger(value) ? String(value) : doubleText(value);
  }
  return "0";
}

function stringText(value: string, { pointer, faults }: ValueLocation): string {
  if (!value.isWellFormed()) faults.push({ pointer, message: "Has half of a surrogate pair" });
  return JSON.stringify(value);
}

function arrayText(items: readonly Json[], location: ValueLocation): string {
  return `[${items.map((item, index) => textOf(item, inside(location, String(index)))).join(",")}]`;
}

/** Built as text: an object would move members that look like digits to the front. */
function objectText(value: { readonly [name: string]: Json }, location: ValueLocation): string {
  const members = Object.entries(value).sort(([a], [b]) => byCodePoint(a, b));
  return `{${members.map(([name, member]) => `${stringText(name, location)}:${textOf(member, inside(location, name))}`).join(",")}}`;
}

/** Go sorts by bytes of UTF-8, which is the order of code points and not that of UTF-16. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function inside(location: ValueLocation, segment: string): ValueLocation {
  return { ...location, pointer: childPointer(location.pointer, segment), depth: location.depth + 1 };
}
