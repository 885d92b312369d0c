// The addresses of values inside a root key. Some names can't be part of a URL: such values have
// none.

/** Names and indices from the root key's value down. */
export type ValuePath = readonly string[];

/** Bytes of a segment that the server takes. */
const maxSegmentBytes = 1024;

/** Relative to the project's URL; undefined where a URL can't name the value. */
export function urlOf(rootKey: string, path: ValuePath): string | undefined {
  if (!path.every(canBeSegment)) return undefined;
  return ["json", rootKey, ...path].map(encodeURIComponent).join("/");
}

function canBeSegment(name: string): boolean {
  // URLs resolve `.` and `..`, however they are encoded; the server takes neither an empty segment
  // nor NUL.
  if (name === "" || name === "." || name === ".." || name.includes("\0") || !name.isWellFormed()) return false;
  return new TextEncoder().encode(name).length <= maxSegmentBytes;
}
