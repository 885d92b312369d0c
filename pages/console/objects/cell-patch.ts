// From a cell of a list to the JSON Patch (RFC 6902) that stores its new value.

import { pathTo } from "./changes.ts";
import { type StoredObject, valueIn } from "./columns.ts";

/** `value` = JSON text; undefined removes the member. */
export function cellPatch(item: StoredObject, path: readonly string[], value: string | undefined): string {
  if (value === undefined) {
    return valueIn(item, path) === undefined ? "[]" : `[{"op":"remove","path":${pathTo(path)}}]`;
  }
  // Objects above it that don't exist are added with it.
  const levels = path.map((_, index) => path.slice(0, index + 1));
  const added = levels.find((level) => !isObject(valueIn(item, level))) ?? path;
  const inner = path.slice(added.length).reduceRight((text, name) => `{${JSON.stringify(name)}:${text}}`, value);
  return `[{"op":"add","path":${pathTo(added)},"value":${inner}}]`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
