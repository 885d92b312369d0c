// Sorts and filters by reading every object that may match, for what no index answers: at most
// `scanLimit` objects and `scanBytes` of text. The order is that of the indexes. Only a few large
// scans run at once; one that finds too many waiting is refused with `query_busy`.

import { setImmediate as othersFirst } from "node:timers/promises";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { valueAt } from "../../../core/json/members.ts";
import { idIn } from "../../../core/object-id.ts";
import { createSemaphore, type Semaphore } from "../../../core/semaphore.ts";
import { compareEncoded, encodeSortValue } from "../../store/order.ts";
import type { Page } from "../../store/ports/lists.ts";
import type { CollectionRef } from "../../store/ports/refs.ts";
import type { Condition } from "./conditions.ts";
import type { Cursor } from "./cursor.ts";
import type { Order } from "./sort.ts";
import { inSpells } from "./spells.ts";

export const scanLimit = 10_000;
/** Bytes of text that one scan may read. */
export const scanBytes = 64 * 1024 * 1024;

/** Bytes that a scan may read without a permit: small ones never wait for large ones. */
const freeBytes = 256 * 1024;
/** Each keeps up to twice `keptBytes`, and each that waits some `freeBytes`. */
const concurrency = 2;
const maxWaiting = 32;

interface Scan {
  readonly collection: CollectionRef;
  /** Every object that may match, in order of creation. */
  readonly texts: AsyncIterable<readonly string[]>;
  readonly conditions: readonly Condition[];
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Only objects behind it are shown, and all are counted. */
  readonly after?: Cursor;
  /** False when `count` may be any number of which it is true that so many match. */
  readonly counted: boolean;
  readonly semaphore: Semaphore;
}

interface ScannedPage extends Page {
  /** Position of the last object shown, when there are more. */
  readonly next?: Cursor;
}

/** Shared by all scans, long pages and long lists of candidates of the process. */
export function createScanSemaphore(): Semaphore {
  return createSemaphore({ concurrency, maxWaiting, refusal: busy });
}

/** The limit at which a scan stopped: what it read, or the bytes that it kept for the page. */
export type Excess = "objects" | "bytes_read" | "bytes_kept";

type ScanResult = { readonly page: ScannedPage } | { readonly excess: Excess };

export async function filterAndSort(scan: Scan): Promise<ScanResult> {
  const { conditions, order, offset, limit, after } = scan;
  const matches = createTopMatches(order, { after, max: offset + limit + 1 });
  // In order of creation what comes first is shown first.
  const mayEnd = !scan.counted && order.keys.length === 0 && !order.descending;
  const end = await readAll(scan, (text) => {
    if (!conditions.every((condition) => condition.matchesObject(text))) return "go on";
    if (!matches.add(matchOf(text, order))) return "bytes_kept";
    return mayEnd && matches.isFull() ? "enough" : "go on";
  });
  if (end !== "go on" && end !== "enough") return { excess: end };
  const { count, found } = matches.all();
  const shown = found.slice(offset, offset + limit);
  const last = found.length > offset + limit ? shown.at(-1) : undefined;
  const page = { count, texts: shown.map(({ text }) => text) };
  return { page: last === undefined ? page : { ...page, next: { values: last.values, id: last.id } } };
}

function matchOf(text: string, { keys }: Order): Match {
  return { values: keys.map(({ path }) => encodeSortValue(valueAt(text, path))), id: idIn(text), text };
}

type Step = "go on" | "enough" | Excess;

type Reading = Pick<Scan, "texts" | "semaphore" | "collection" | "conditions">;

type CountResult = { readonly counts: ReadonlyMap<string, number> } | { readonly excess: Excess };

/** How many matches have each value at a path, by its encoding. */
export async function countMatches(reading: Reading, path: readonly string[]): Promise<CountResult> {
  const counts = new Map<string, number>();
  const end = await readAll(reading, (text) => {
    if (!reading.conditions.every((condition) => condition.matchesObject(text))) return "go on";
    const value = encodeSortValue(valueAt(text, path));
    counts.set(value, (counts.get(value) ?? 0) + 1);
    return "go on";
  });
  return end === "go on" || end === "enough" ? { counts } : { excess: end };
}

async function readAll({ texts, semaphore, collection }: Reading, onText: (text: string) => Step): Promise<Step> {
  let seen = 0;
  let bytes = 0;
  let hasPermit = false;
  try {
    for await (const batch of texts) {
      seen += batch.length;
      bytes += bytesOf(batch);
      const step = await evaluateEach(batch, onText);
      if (step !== "go on") return step;
      if (seen > scanLimit) return "objects";
      if (bytes > scanBytes) return "bytes_read";
      if (!hasPermit && bytes > freeBytes) {
        await semaphore.acquire(keyOfProject(collection.project));
        hasPermit = true;
      }
      // A store in this process answers without ever leaving the event loop to anybody else.
      await othersFirst();
    }
    return "go on";
  } finally {
    if (hasPermit) semaphore.release();
  }
}

async function evaluateEach(batch: readonly string[], onText: (text: string) => Step): Promise<Step> {
  let step: Step = "go on";
  await inSpells(batch, (text) => {
    step = onText(text);
    return step === "go on";
  });
  return step;
}

function busy(): Problem {
  return new Problem("query_busy", "Too many large lists are in progress; try again", {
    headers: { "Retry-After": "2" },
  });
}

/** Bytes of matches that a scan keeps for its page. Two scans with 64 MiB each ended a replica. */
export const keptBytes = 16 * 1024 * 1024;

/** An object and its place in the order. */
export interface Match extends Cursor {
  readonly text: string;
}

/** Keeps those matches that the page may show, in order, up to a bound. */
interface TopMatches {
  /** False when more would have to be kept than the limit allows. */
  add(match: Match): boolean;
  /** Whether there are as many as are wanted. */
  isFull(): boolean;
  /** How many there were, and the first of them that are to be shown. */
  all(): { readonly count: number; readonly found: readonly Match[] };
}

interface TopMatchesOptions {
  readonly after: Cursor | undefined;
  readonly max: number;
}

function createTopMatches(order: Order, { after, max }: TopMatchesOptions): TopMatches {
  const compare = comparison(order);
  let kept: Match[] = [];
  let count = 0;
  let bytes = 0;
  const prune = (): void => {
    kept = kept.sort(compare).slice(0, max);
  };
  return {
    add(match) {
      count += 1;
      if (after !== undefined && compare(match, after) <= 0) return true;
      kept.push(match);
      bytes += bytesOfMatch(match);
      if (bytes <= 2 * keptBytes) return true;
      prune();
      bytes = kept.reduce((sum, each) => sum + bytesOfMatch(each), 0);
      return bytes <= keptBytes;
    },
    isFull: () => kept.length >= max,
    all() {
      prune();
      return { count, found: kept };
    },
  };
}

function bytesOfMatch({ values, text }: Match): number {
  return bytesOf(values) + Buffer.byteLength(text);
}

/** Counting them takes some 10 to 20 ms of the time in which 64 MiB are read. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function comparison({ keys, descending }: Order): (one: Cursor, other: Cursor) => number {
  const signs = keys.map((key) => (key.descending ? -1 : 1));
  const ofCreation = descending ? -1 : 1;
  return (one, other) => {
    for (const [at, sign] of signs.entries()) {
      const order = compareEncoded(one.values[at] ?? "", other.values[at] ?? "");
      if (order !== 0) return sign * order;
    }
    if (one.id === other.id) return 0;
    return one.id < other.id ? -ofCreation : ofCreation;
  };
}
