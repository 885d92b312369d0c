// What conditional writes and patches send.

import type { IncrementOptions, WriteOptions } from "./api.ts";
import type { Call } from "./requests.ts";

export const mergePatchType = { "Content-Type": "application/merge-patch+json" };

export function writeHeaders({ ifMatch }: WriteOptions): Readonly<Record<string, string>> {
  return ifMatch === undefined ? {} : { "If-Match": ifMatch };
}

/** With a tag it can't take place twice. */
export function jsonPatch(options: WriteOptions): Omit<Call, "path"> {
  const headers = { "Content-Type": "application/json-patch+json", ...writeHeaders(options) };
  return { method: "PATCH", headers, signal: options.signal, isRepeatable: options.ifMatch !== undefined };
}

/** An operation of JSON Patch; its path is an RFC 6901 pointer. */
export function incrementOf(segments: readonly string[], by: number, { min, max }: IncrementOptions): object {
  const path = segments.map((each) => `/${each.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return { op: "increment", path, by, min, max };
}
