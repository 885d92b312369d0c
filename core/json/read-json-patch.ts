// Reads a JSON Patch (RFC 6902), with `increment` as one operation more, from its canonical text.
// Refuses with PatchRefusal what is not a patch and what has too many operations.

import { compareNumbers } from "./decimal.ts";
import { childPointer, segmentsOf } from "./json-pointer.ts";
import { elementsOf, kindOf, membersOf, valueAt } from "./members.ts";
import { PatchRefusal } from "./patch-refusal.ts";

/** Unescaped segments of a JSON Pointer. */
export type Segments = readonly string[];

export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Segments; readonly value: string }
  | { readonly op: "move" | "copy"; readonly path: Segments; readonly from: Segments }
  | { readonly op: "remove"; readonly path: Segments }
  | Increment;

/** Adds to a number. The members are canonical numbers. */
export interface Increment {
  readonly op: "increment";
  readonly path: Segments;
  readonly by: string;
  /** What the sum may be at least and at most. */
  readonly min: string | undefined;
  readonly max: string | undefined;
}

export const maxOperations = 1_000;
/** Stored values nest 64 levels; a longer pointer can lead nowhere. */
const maxSegments = 65;

/** The operations of a patch's canonical text. */
export function readJsonPatch(text: string): readonly Operation[] {
  if (kindOf(text) !== "array") throw invalid("A JSON Patch must be an array of operations");
  const elements = elementsOf(text);
  if (elements.length > maxOperations) {
    throw new PatchRefusal(
      "patch_too_large",
      `A JSON Patch may have at most ${maxOperations} operations; send it in parts`,
    );
  }
  return elements.map(readOperation);
}

function readOperation(text: string, at: number): Operation {
  if (kindOf(text) !== "object") throw invalid("An operation must be an object", `/${at}`);
  const op = stringMember(text, "op", at);
  const path = pointerMember(text, "path", at);
  switch (op) {
    case "remove":
      return { op, path };
    case "add":
    case "replace":
    case "test": {
      const value = valueAt(text, ["value"]);
      if (value === undefined) throw invalid(`${op} needs \`value\``, `/${at}`);
      return { op, path, value };
    }
    case "move":
    case "copy": {
      const from = pointerMember(text, "from", at);
      if (op === "move" && isBelow(path, from)) throw invalid("A value can't be moved into itself", `/${at}/path`);
      return { op, path, from };
    }
    case "increment":
      return readIncrement(text, path, at);
    default:
      throw invalid("`op` must be add, remove, replace, move, copy, test or increment", `/${at}/op`);
  }
}

const incrementMembers: readonly string[] = ["op", "path", "by", "min", "max"];

function readIncrement(text: string, path: Segments, at: number): Increment {
  // RFC 6902 has unknown members ignored; here a bound with another name would be no bound.
  const unknown = membersOf(text).find(({ name }) => !incrementMembers.includes(name));
  if (unknown) throw invalid("increment has only op, path, by, min and max", childPointer(`/${at}`, unknown.name));
  const by = numberMember(text, "by", at);
  if (by === undefined) throw invalid("increment needs `by`", `/${at}`);
  const [min, max] = [numberMember(text, "min", at), numberMember(text, "max", at)];
  if (min !== undefined && max !== undefined && compareNumbers(min, max) > 0) {
    throw invalid("`min` must not be greater than `max`", `/${at}/min`);
  }
  return { op: "increment", path, by, min, max };
}

function numberMember(text: string, name: string, at: number): string | undefined {
  const value = valueAt(text, [name]);
  if (value === undefined || kindOf(value) === "number") return value;
  throw invalid(`\`${name}\` is a number`, `/${at}/${name}`);
}

function stringMember(text: string, name: string, at: number): string {
  const value = valueAt(text, [name]);
  if (value === undefined) throw invalid(`An operation needs \`${name}\``, `/${at}`);
  if (kindOf(value) !== "string") throw invalid(`\`${name}\` is a string`, `/${at}/${name}`);
  return JSON.parse(value) as string;
}

function pointerMember(text: string, name: string, at: number): Segments {
  const pointer = stringMember(text, name, at);
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw invalid(`\`${name}\` is a JSON Pointer: empty, or /a/b with ~1 for / and ~0 for ~`, `/${at}/${name}`);
  }
  const segments = segmentsOf(pointer, maxSegments + 1);
  if (segments.length > maxSegments) {
    throw invalid(`\`${name}\` is longer than values are deep`, `/${at}/${name}`);
  }
  return segments;
}

function isBelow(path: Segments, ancestor: Segments): boolean {
  return path.length > ancestor.length && ancestor.every((segment, level) => path[level] === segment);
}

function invalid(message: string, pointer = ""): PatchRefusal {
  return new PatchRefusal("invalid_patch", message, pointer);
}
