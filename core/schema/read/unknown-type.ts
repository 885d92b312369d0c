// What to write in place of a type that other languages have and JSON Schema doesn't.

import type { Json } from "../../config/types.ts";
import { nearest } from "../../nearest.ts";
import { checkedFormat } from "../formats.ts";

export const typeNames: readonly string[] = ["string", "number", "integer", "boolean", "null", "array", "object"];

/** By what people write, in lower case: a type, or a format of strings. */
const meanings: ReadonlyMap<string, string> = new Map([
  ...["int", "long", "short", "bigint", "int32", "int64"].map((name) => [name, "integer"] as const),
  ...["float", "double", "decimal", "real", "numeric"].map((name) => [name, "number"] as const),
  ...["text", "str", "varchar", "char"].map((name) => [name, "string"] as const),
  ...["bool", "bit"].map((name) => [name, "boolean"] as const),
  ...["list", "set", "tuple"].map((name) => [name, "array"] as const),
  ...["map", "dict", "json", "struct", "record"].map((name) => [name, "object"] as const),
  ...["nil", "none", "undefined"].map((name) => [name, "null"] as const),
  ...["datetime", "timestamp", "instant"].map((name) => [name, "date-time"] as const),
  ...["url", "link"].map((name) => [name, "uri"] as const),
  ["guid", "uuid"],
  ["ip", "ipv4"],
]);

/** Those that need another keyword. */
const others: ReadonlyMap<string, string> = new Map([
  ["any", "leave type out, so that any value is valid"],
  ["enum", "write the values in enum, and leave type out"],
]);

/** Says what to write in place of a type that JSON Schema doesn't have. */
export function unknownType(type: Json): string {
  const known = `the types are ${typeNames.join(", ")}`;
  const name = String(type).toLowerCase();
  const other = others.get(name);
  if (other !== undefined) return `There is no type ${JSON.stringify(type)}: ${other}`;
  const meant = meanings.get(name) ?? (isTextFormat(name) ? name : nearest(name, typeNames));
  if (meant === undefined) return `There is no type ${JSON.stringify(type)}: ${known}`;
  const advice = typeNames.includes(meant) ? `type: ${meant}` : `type: string and format: ${meant}`;
  return `There is no type ${JSON.stringify(type)}: write ${advice}`;
}

function isTextFormat(name: string): boolean {
  return checkedFormat(name)?.type === "string";
}
