// Sorts and filters by reading every visible object, for what no index answers: at most `scanLimit` objects and
// `scanBytes` of text, then it gives up. Orders by the same encoding as the indexes, so both give one order. Only a few of
// those that read much run at once; who would wait too far back is refused with `query_busy`.

import { setImmediate as othersFirst } from "node:timers/promises";
import { projectName } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import { valueAt } from "../../core/json/members.ts";
import { createTurns, type Turns } from "../../core/turns.ts";
import { compareEncoded, encodedStringBytes, encodeSortValue } from "../store/order.ts";
import type { CollectionRef, ObjectStore, Page, PageRange, Visibility } from "../store/port.ts";
import type { Filter, ListQuery, SortKey } from "../validate/validate-list.ts";
import type { ObjectScene } from "./objects.ts";

export const scanLimit = 10_000;
/** Of a scan. */
export const scanBytes = 64 * 1024 * 1024;

/** Characters that any scan may read before it needs a turn: so small ones never wait for large ones. */
const freeBytes = 256 * 1024;
/** Characters of matches that a scan keeps in memory, of those that the page may still show. Two of 64 MiB ended a replica. */
const keptLength = 16 * 1024 * 1024;
/** Each holds up to twice `keptLength`, and those who wait some `freeBytes`. */
const concurrency = 2;
const maxWaiting = 32;

interface Match {
  /** By order of creation. */
  readonly number: number;
  readonly key: string;
  readonly text: string;
}

export interface Scan {
  readonly query: ListQuery;
  readonly range: PageRange;
  readonly turns: Turns;
}

/** The turns that all scans of one process share. */
export function createScanTurns(): Turns {
  return createTurns({ concurrency, maxWaiting, refusal: busy });
}

/** Undefined when there is more to read, or to keep for the page, than the limits allow. */
export async function scanObjects(store: ObjectStore, scene: ObjectScene, scan: Scan): Promise<Page | undefined> {
  const { query, range, turns } = scan;
  const { visible } = scene.grant;
  if ((await store.count(scene.collection, visible)) > scanLimit) return undefined;
  const matches = createMatches(range);
  const filters = query.filters.map(matcher);
  const isWhole = await readAll(store, { collection: scene.collection, visible, turns }, (text) => {
    if (!filters.every((matches) => matches(text))) return true;
    return matches.add(sortKeyOf(text, query.sort), text);
  });
  return isWhole ? matches.page() : undefined;
}

interface Reading {
  readonly collection: CollectionRef;
  readonly visible: Visibility;
  readonly turns: Turns;
}

/** False when it gave up: there is more than the limits allow, or `onText` said false. */
async function readAll(
  store: ObjectStore,
  { collection, visible, turns }: Reading,
  onText: (text: string) => boolean,
): Promise<boolean> {
  let seen = 0;
  let bytes = 0;
  let hasTurn = false;
  try {
    for await (const batch of store.scan(collection, visible)) {
      seen += batch.length;
      bytes += batch.reduce((sum, text) => sum + text.length, 0);
      if (!batch.every(onText)) return false;
      if (seen > scanLimit || bytes > scanBytes) return false;
      if (!hasTurn && bytes > freeBytes) {
        await turns.take(projectName(collection.project));
        hasTurn = true;
      }
      // A store in this process answers without ever leaving the event loop to anybody else.
      await othersFirst();
    }
    return true;
  } finally {
    if (hasTurn) turns.give();
  }
}

function busy(): Problem {
  return new Problem("query_busy", "Too many lists are being sorted or filtered without an index; try again", {
    headers: { "Retry-After": "2" },
  });
}

interface Matches {
  /** False when more would have to be kept than the limit allows. */
  add(key: string, text: string): boolean;
  page(): Page;
}

/** Keeps what the page may still show: the first `offset + limit` of those that came. */
function createMatches(range: PageRange): Matches {
  let kept: Match[] = [];
  let count = 0;
  let length = 0;
  const last = range.offset + range.limit;
  const prune = (): void => {
    kept = inOrder(kept, range.descending).slice(0, last);
    length = kept.reduce((sum, { key, text }) => sum + key.length + text.length, 0);
  };
  return {
    add(key, text) {
      count += 1;
      kept.push({ number: count, key, text });
      length += key.length + text.length;
      if (length <= 2 * keptLength) return true;
      prune();
      return length <= keptLength;
    },
    page() {
      const ordered = inOrder(kept, range.descending);
      return { count, texts: ordered.slice(range.offset, last).map((match) => match.text) };
    },
  };
}

/** Ties in order of creation, all of it exactly reversed when descending. */
function inOrder(matches: readonly Match[], descending: boolean): Match[] {
  const ordered = matches.toSorted((left, right) => compareEncoded(left.key, right.key) || left.number - right.number);
  return descending ? ordered.reverse() : ordered;
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
