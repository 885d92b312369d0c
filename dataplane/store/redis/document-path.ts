// Says which path segments a Redis JSON path can name, and renders paths that mean one thing only; pure.

import type { Path } from "../ports/refs.ts";

/**
 * Measured with Redis JSON 2.8: `["…"]` can't hold a quote or a backslash, escaped or not, and drops a space at its start.
 * Control characters and a space at the end work there; they are left out because no document says that they do.
 */
function isAddressable(segment: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return !/["\\\u0000-\u001f\u007f]|^ | $/.test(segment);
}

/** Whether a segment could be an array's index. */
export function isIndex(segment: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(segment);
}

/** How many segments from the start can be named; all of them for most paths. */
export function addressableLength(path: Path): number {
  const unaddressable = path.findIndex((segment) => !isAddressable(segment));
  return unaddressable < 0 ? path.length : unaddressable;
}

/** The one path that the segments can mean, or undefined when one could be a key or an index. */
export function unambiguousPath(path: Path): string | undefined {
  if (path.some(isIndex)) return undefined;
  return `$${path.map((segment) => `["${segment}"]`).join("")}`;
}
