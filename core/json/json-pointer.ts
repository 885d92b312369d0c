// Writes, reads and follows JSON Pointers (RFC 6901).

import type { Json } from "../config/types.ts";
import { isArray, isObject } from "./json-value.ts";

/** `pointer`, one step further down. */
export function childPointer(pointer: string, segment: string | number): string {
  return `${pointer}/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The pointer that leads from a value's root along these names and indices. */
export function pointerOf(path: readonly (string | number)[]): string {
  return path.reduce(childPointer, "");
}

const maxShortCharacters = 256;

/** As statuses take it: names of members may be long. It may end within a name. */
export function shortPointer(pointer: string): string {
  return pointer.slice(0, maxShortCharacters).toWellFormed();
}

/** The names and indices of a pointer, unescaped; no more than the first `limit`. */
export function segmentsOf(pointer: string, limit?: number): string[] {
  const parts = pointer.split("/", limit === undefined ? undefined : limit + 1).slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Undefined when the pointer leads nowhere. */
export function valueAtPointer(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value;
  for (const name of segmentsOf(pointer)) {
    if (isArray(found)) found = found[Number(name)];
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
