// From the time of creation in an object's metadata to words, in the reader's language and time
// zone; "" for anything else.

import { ExactNumber } from "./exact-number.ts";

/** `created` = Unix seconds. */
export function timeOf(created: unknown): string {
  const seconds = Number(created instanceof ExactNumber ? created.text : created);
  if (!Number.isFinite(seconds)) return "";
  return new Date(seconds * 1_000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
