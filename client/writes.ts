// What conditional writes and patches send.

import { pointerOf } from "../core/json/json-pointer.ts";
import type { IncrementOptions, RetryOptions, WriteOptions } from "./api.ts";
import type { Call } from "./requests.ts";

export function writeHeaders({ ifMatch }: WriteOptions): Readonly<Record<string, string>> {
  return ifMatch === undefined ? {} : { "If-Match": ifMatch };
}

export function sending({ signal, retryForMs }: RetryOptions): Pick<Call, "signal" | "retryForMs"> {
  return { signal, retryForMs };
}

/** To merge it twice makes no difference. */
export function mergePatchCall(patch: unknown, options: WriteOptions): Omit<Call, "path"> {
  const headers = { "Content-Type": "application/merge-patch+json", ...writeHeaders(options) };
  return { method: "PATCH", body: patch, headers, ...sending(options), isRepeatable: true };
}

/** With a tag it can't take place twice. */
export function jsonPatch(options: WriteOptions): Omit<Call, "path"> {
  const headers = { "Content-Type": "application/json-patch+json", ...writeHeaders(options) };
  return { method: "PATCH", headers, ...sending(options), isRepeatable: options.ifMatch !== undefined };
}

/** An operation of JSON Patch; its path is an RFC 6901 pointer. */
export function incrementOf(segments: readonly string[], by: number, { min, max }: IncrementOptions): object {
  return { op: "increment", path: pointerOf(segments), by, min, max };
}
