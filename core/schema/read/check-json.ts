// Looks at a schema as plain JSON, before it is read as a schema: refuses what is not JSON, too large or too deep. Steps
// without recursion and stops at the first refusal, because YAML aliases make small files that stand for endless ones.

import { childPointer } from "../../json/json-pointer.ts";
import { schemaLimits } from "../limits.ts";
import type { SchemaReport } from "./report.ts";

interface PendingValue {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
}

/** Reports at most one problem; true when there is none. */
export function checkJson(schema: unknown, report: SchemaReport): boolean {
  const waiting: PendingValue[] = [{ value: schema, pointer: "", depth: 0 }];
  let size = 0;
  for (let pending = waiting.pop(); pending !== undefined; pending = waiting.pop()) {
    const reason = refusalOf(pending.value, pending.depth);
    size += ownSize(pending.value);
    if (reason !== undefined || size > schemaLimits.bytes) {
      report.problem(reason === undefined ? "" : pending.pointer, reason ?? tooLarge);
      return false;
    }
    waiting.push(...partsOf(pending));
  }
  return true;
}

function partsOf({ value, pointer, depth }: PendingValue): readonly PendingValue[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, part]) => ({
    value: part,
    pointer: childPointer(pointer, name),
    depth: depth + 1,
  }));
}

const tooLarge = `The schema is larger than ${schemaLimits.bytes / 1024} KiB; split the resource, or drop descriptions and examples`;

function refusalOf(value: unknown, depth: number): string | undefined {
  if (depth > schemaLimits.depth)
    return `The schema nests more than ${schemaLimits.depth} levels; move parts to $defs and refer to them`;
  if (typeof value === "number" && !Number.isFinite(value)) return "Is not a JSON number";
  const isJson = value === null || ["string", "number", "boolean", "object"].includes(typeof value);
  return isJson ? undefined : "Is not a JSON value";
}

/** Bytes of a value's JSON text, the values inside it aside. */
function ownSize(value: unknown): number {
  if (typeof value === "string") return byteLength(value);
  if (typeof value !== "object" || value === null) return String(value).length;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const separators = Math.max(2, Object.keys(value).length + 1);
  return names.reduce((sum, name) => sum + byteLength(name) + 1, separators);
}

function byteLength(text: string): number {
  // A text of more characters than the bound has more bytes, too: no need to encode it.
  return text.length > schemaLimits.bytes ? text.length : Buffer.byteLength(JSON.stringify(text));
}
