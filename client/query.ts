// Turns queries and paths into the text of a URL.

import type { PageQuery, ResourceShape } from "./api.ts";

export type Path = string | readonly (string | number)[];

/** The keys and indices of a path such as `openingHours/0/from`; an array for keys with a slash. */
export function segmentsOf(path: Path): readonly string[] {
  if (typeof path !== "string") return path.map(String);
  return path === "" ? [] : path.split("/");
}

/** Throws TypeError where a server would take the path for that of something else. */
export function pathText(segments: readonly string[]): string {
  if (segments.includes("")) throw new TypeError("A URL can't have an empty key or id");
  return segments.map(encodeURIComponent).join("/");
}

/** `?`, and what follows; empty if nothing does. */
export function queryText<R extends ResourceShape>(query: PageQuery<R>): string {
  const { filter = {}, sort, fields, limit, etags, cursor, offset, count } = query;
  const parts: [string, unknown][] = Object.entries(filter).map(([name, value]) => [name, valueText(value)]);
  parts.push(["_sort", [sort ?? []].flat().join() || undefined], ["_fields", fields?.join()], ["_limit", limit]);
  parts.push(["_etags", etags], ["_cursor", cursor], ["_offset", offset], ["_count", count]);
  const given = parts
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, `${value}`]);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map((each) => String(each).replace(/[\\,]/g, "\\$&")).join();
  return value instanceof Date ? value.toISOString() : String(value);
}
