// Sorts and filters by reading every visible object, for what no index answers: at most `scanLimit` objects and
// `scanBytes` of text, then it gives up. Orders by the same encoding as the indexes, so both give one order.

import { valueAt } from "../../core/json/members.ts";
import { compareEncoded, encodedStringBytes, encodeSortValue } from "../store/order.ts";
import type { ObjectStore, Page, PageRange } from "../store/port.ts";
import type { Filter, ListQuery, SortKey } from "../validate/validate-list.ts";
import type { ObjectScene } from "./objects.ts";

export const scanLimit = 10_000;
const scanBytes = 64 * 1024 * 1024;

interface Match {
  readonly key: string;
  readonly text: string;
}

/** Undefined when there is more to read than the limits allow. */
export async function scanObjects(
  store: ObjectStore,
  scene: ObjectScene,
  query: ListQuery,
  range: PageRange,
): Promise<Page | undefined> {
  const { visible } = scene.grant;
  if ((await store.count(scene.collection, visible)) > scanLimit) return undefined;
  const matches: Match[] = [];
  const filters = query.filters.map(matcher);
  let seen = 0;
  let bytes = 0;
  for await (const batch of store.scan(scene.collection, visible)) {
    for (const text of batch) {
      seen += 1;
      bytes += text.length;
      if (filters.every((matches) => matches(text))) matches.push({ key: sortKeyOf(text, query.sort), text });
    }
    if (seen > scanLimit || bytes > scanBytes) return undefined;
  }
  return { count: matches.length, texts: pageOf(matches, range) };
}

function pageOf(matches: readonly Match[], range: PageRange): readonly string[] {
  // The scan runs in order of creation and the sort is stable, so ties stay in order of id.
  const ordered = matches.toSorted((left, right) => compareEncoded(left.key, right.key));
  if (range.descending) ordered.reverse();
  return ordered.slice(range.offset, range.offset + range.limit).map((match) => match.text);
}

function sortKeyOf(text: string, sort: SortKey | undefined): string {
  return sort?.byValue ? encodeSortValue(valueAt(text, sort.path)) : "";
}

function matcher(filter: Filter): (text: string) => boolean {
  const wanted = filter.values.map((value) => ({ value, key: encodeSortValue(value), exact: encodesExactly(value) }));
  return (text) => {
    const value = valueAt(text, filter.path);
    const key = encodeSortValue(value);
    return wanted.some((each) => each.key === key && (each.exact || each.value === value));
  };
}

/** False for strings so long that their encoding is cut, so that others which start alike encode to the same. */
export function encodesExactly(valueText: string): boolean {
  return Buffer.byteLength(valueText) <= encodedStringBytes;
}
