// What conditional writes and patches send.

import { pointerOf } from "../core/json/json-pointer.ts";
import type { IncrementOptions, RetryOptions, WriteOptions } from "./api.ts";
import { isSame } from "./merge-patch.ts";
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

/** The fields that differ, each whole; undefined = it is to go. */
export function changesBetween(before: object, after: object): Readonly<Record<string, unknown>> {
  const [from, to] = [before, after] as Readonly<Record<string, unknown>>[];
  const names = Object.keys({ ...from, ...to });
  return Object.fromEntries(
    names.filter((name) => !isSame(from?.[name], to?.[name])).map((name) => [name, to?.[name]]),
  );
}

/** As JSON Patch, because null is a value of a field there. */
export function operationsOf(changes: Readonly<Record<string, unknown>>): readonly object[] {
  return Object.entries(changes).map(([name, value]) => {
    const path = pointerOf([name]);
    return value === undefined ? { op: "remove", path } : { op: "add", path, value };
  });
}

/** An operation of JSON Patch; its path is an RFC 6901 pointer. */
export function incrementOf(segments: readonly string[], by: number, { min, max }: IncrementOptions): object {
  return { op: "increment", path: pointerOf(segments), by, min, max };
}
