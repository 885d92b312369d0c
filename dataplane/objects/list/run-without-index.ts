// Lists what no index answers: an index scan finds candidates, or the collection is scanned up to a
// bound; then each object is checked. Refuses what would read more, and names the index that helps.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { IndexField } from "../../../core/config/types.ts";
import { WriteConflict } from "../../../core/errors/store-errors.ts";
import type { Semaphore } from "../../../core/semaphore.ts";
import type { ClientPosition } from "../../changes/positions.ts";
import type { Preconditions } from "../../http/conditional-requests.ts";
import { ownersField } from "../../store/ports/indexes.ts";
import type { ObjectLists, Page, PageRange } from "../../store/ports/lists.ts";
import type { CollectionRef, Visibility } from "../../store/ports/refs.ts";
import { shortPageBytes } from "../../store/read-page.ts";
import type { CsvColumns } from "./csv.ts";
import type { Cursor } from "./cursor.ts";
import { cursorOf } from "./cursor-position.ts";
import { bytesOf, countMatches, type Excess, filterAndSort, scanLimit } from "./filter-and-sort.ts";
import { type CandidateScan, constraintsOf, type IndexPlan, type QueryPlan } from "./query-plan.ts";
import { indexBuilding, tooExpensive } from "./refusals.ts";
import type { Order } from "./sort.ts";

export interface ListRequest {
  readonly store: ObjectLists;
  readonly collection: CollectionRef;
  /** Indexes that the configuration declares. */
  readonly indexes: readonly IndexField[];
  readonly visible: Visibility;
  readonly plan: QueryPlan;
  readonly preconditions: Preconditions | undefined;
  /** Of a page as CSV; absent for JSON. */
  readonly columns?: CsvColumns;
  /** The collection's absolute URL, as the request named it. */
  readonly url: string;
  /** Bounds the scans and long pages that run at once in this process. */
  readonly scanSemaphore: Semaphore;
  /** Called when the store lacks an index of the configuration: it is being built, or was lost. */
  readonly onIndexMissing: () => void;
  /** Called before a scan, which takes long and waits for `scanSemaphore`. */
  readonly onScan: () => void;
  /** From where to follow what was read until now; absent without a log of changes. */
  readonly position?: () => Promise<ClientPosition>;
}

/** The request while it is carried out. */
export interface RunningList extends ListRequest {
  /** Awaited before a long page is read to its end: takes a permit of `scanSemaphore`. */
  readonly beforeMore: () => Promise<void>;
}

export interface ListPage extends Page {
  /** Where the next page begins, when there is more. */
  readonly next?: Cursor;
}

/**
 * Bytes of a page's objects. A page is in memory four times: reply, texts, their join, and sent
 * bytes. Two of 64 MiB took more memory than the chart gives.
 */
export const pageBytes = 16 * 1024 * 1024;

export function rangeOf({ plan, beforeMore }: RunningList): PageRange {
  const { offset, limit, order } = plan.query;
  return { offset, limit, descending: order.descending, maxBytes: pageBytes, beforeMore };
}

/** Indexes of which a list is asked how much they would find. */
const maxCountedIndexes = 4;
const onlyCount = { offset: 0, limit: 0, descending: false } as const;
/** Candidates that are named without a permit of the semaphore. */
const freeCandidates = 2_000;

export async function listWithoutIndex(list: RunningList, indexPlan: IndexPlan): Promise<ListPage> {
  const found = await candidates(list, indexPlan.candidateScans);
  if (found.ids !== undefined && found.isExact && indexPlan.isInCreationOrder) return pageOfIds(list, found.ids);
  const { page } = await readEach(list, { ...indexPlan, ...found }, (texts) => filterAndSortList(list, texts));
  return page;
}

/** How many matches have each value at the path, by its encoding. */
export async function countWithoutIndex(
  list: ListRequest,
  indexPlan: IndexPlan,
  path: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { collection, plan, scanSemaphore: semaphore } = list;
  const { conditions } = plan;
  const found = await candidates(list, indexPlan.candidateScans);
  const { counts } = await readEach(list, { ...indexPlan, ...found }, (texts) =>
    countMatches({ collection, conditions, semaphore, texts }, path),
  );
  return counts;
}

/** Evaluates the candidates, or all that the caller sees. */
async function readEach<Result extends object>(
  list: ListRequest,
  found: Candidates & Pick<IndexPlan, "answeringScan">,
  evaluate: (texts: AsyncIterable<readonly string[]>) => Promise<Result | { readonly excess: Excess }>,
): Promise<Result> {
  const { store, collection, indexes, plan } = list;
  list.onScan();
  const texts = found.ids === undefined ? await scanCollection(list) : store.readObjects(collection, found.ids);
  const result = texts === undefined ? tooManyObjects : await evaluate(texts).catch(refuseConflict);
  if (!("excess" in result)) return result;
  const building = found.answeringScan?.query.index ?? found.building ?? (await missingOwners(list));
  if (building !== undefined) throw indexBuilding(building);
  throw tooExpensive(result.excess, { query: plan.query, conditions: plan.conditions, indexes });
}

/** The index that a list of one's own objects needs, if it is missing. */
async function missingOwners({ store, collection, visible, plan }: ListRequest): Promise<string | undefined> {
  if (visible.owner === undefined) return undefined;
  if (plan.indexPlan === undefined) return ownersField.name;
  const page = await store.pageByCreation(collection, visible, onlyCount);
  return page.outcome === "not_ready" ? ownersField.name : undefined;
}

/** The entries of owners were dropped during the scan. */
function refuseConflict(error: unknown): never {
  throw error instanceof WriteConflict ? indexBuilding(ownersField.name) : error;
}

const tooManyObjects = Object.freeze({ excess: "objects" } as const);

function filterAndSortList(
  { collection, plan, scanSemaphore: semaphore }: RunningList,
  texts: AsyncIterable<readonly string[]>,
) {
  const { query, conditions } = plan;
  const { order, offset, limit, cursor, counted } = query;
  const after = cursor?.after;
  return filterAndSort({
    collection,
    texts,
    conditions,
    order,
    offset,
    limit,
    counted,
    semaphore,
    ...(after && { after }),
  });
}

/** Undefined when the caller sees more objects than a scan may read. */
async function scanCollection(list: ListRequest): Promise<AsyncIterable<readonly string[]> | undefined> {
  const { store, collection, visible } = list;
  const isWithinBound = (await store.count(collection, visible)) <= scanLimit;
  return isWithinBound ? store.scan(collection, visible, { max: scanLimit }) : undefined;
}

interface Candidates {
  /** In order of creation; absent when no index finds few enough. */
  readonly ids?: readonly string[];
  /** True when each of them matches, and need not be checked. */
  readonly isExact?: boolean;
  /** An index that could find them, but is still being built. */
  readonly building?: string;
}

/** What the cheapest index scan finds, or the order of creation where that has fewer. */
async function candidates(list: ListRequest, scans: readonly CandidateScan[]): Promise<Candidates> {
  const { store, collection, visible } = list;
  const { best, count, building } = await cheapestScan(list, scans);
  const ids = await createdWithin(list, Math.min(count, scanLimit));
  if (ids !== undefined) return { ids };
  if (best === undefined) return building === undefined ? {} : { building };
  const read = () => store.candidates(collection, visible, best.queries, scanLimit);
  const found = count > freeCandidates ? await withPermit(list, read) : await read();
  if (found.outcome === "not_ready") return notReady(list, best);
  return found.outcome === "found" ? { ids: found.ids.toSorted(), isExact: best.isExact } : {};
}

/**
 * Objects within the filters on creation; undefined without such filters, or for more than `max`.
 */
async function createdWithin(list: ListRequest, max: number): Promise<readonly string[] | undefined> {
  const { store, collection, visible, plan } = list;
  const { ids } = plan;
  if (ids === undefined) return undefined;
  const read = (atMost: number) => store.candidatesByCreation(collection, visible, ids, atMost);
  let found = await read(Math.min(max, freeCandidates));
  if (found.outcome === "too_many" && max > freeCandidates) found = await withPermit(list, () => read(max));
  return found.outcome === "found" ? found.ids : undefined;
}

/** Ten thousand candidates occupy Redis for some 4 ms, as reading a mebibyte does. */
async function withPermit<T>({ collection, scanSemaphore }: ListRequest, read: () => Promise<T>): Promise<T> {
  await scanSemaphore.acquire(keyOfProject(collection.project));
  try {
    return await read();
  } finally {
    scanSemaphore.release();
  }
}

function notReady({ onIndexMissing }: ListRequest, { queries }: CandidateScan): Candidates {
  onIndexMissing();
  return { building: queries.map(({ index }) => index).join(", ") };
}

interface CheapestScan {
  /** Undefined when all find too many. */
  readonly best?: CandidateScan;
  readonly count: number;
  readonly building?: string;
}

/** Asks the store how many entries each scan finds. */
async function cheapestScan(list: ListRequest, scans: readonly CandidateScan[]): Promise<CheapestScan> {
  let chosen: CheapestScan = { count: scanLimit + 1 };
  for (const scan of scans.slice(0, maxCountedIndexes)) {
    const count = await countEntries(list, scan);
    if (count === "not_ready") chosen = { ...chosen, ...notReady(list, scan) };
    else if (count < chosen.count) chosen = { ...chosen, best: scan, count };
  }
  return chosen;
}

async function countEntries(
  { store, collection, visible }: ListRequest,
  { queries }: CandidateScan,
): Promise<number | "not_ready"> {
  let count = 0;
  for (const query of queries) {
    const page = await store.pageByField(collection, visible, query, onlyCount);
    if (page.outcome === "not_ready") return "not_ready";
    count += page.count;
  }
  return count;
}

/** Where the index found exactly what matches, only the page itself is read. */
async function pageOfIds(list: RunningList, ids: readonly string[]): Promise<ListPage> {
  const { query, conditions } = list.plan;
  const { order, offset, limit, cursor } = query;
  const ordered = order.descending ? ids.toReversed() : ids;
  const start = offset + countPassed(ordered, cursor?.after, order);
  const shown = ordered.slice(start, start + limit);
  const { texts, isCut } = await readPage(list, shown);
  // What was changed since the index was read may match no longer.
  const matching = texts.filter((text) => conditions.every((condition) => condition.matchesObject(text)));
  const page: ListPage = { count: ids.length, texts: matching, isCut };
  const last = start + limit < ids.length ? shown.at(-1) : undefined;
  if (last === undefined) return page;
  return { ...page, next: cursorOf({ value: "", id: last }, order, undefined, constraintsOf(conditions)) };
}

/** How many of the ids lie before the cursor, or are its own. */
function countPassed(ordered: readonly string[], after: Cursor | undefined, { descending }: Order): number {
  if (after === undefined) return 0;
  const first = ordered.findIndex((id) => (descending ? id < after.id : id > after.id));
  return first < 0 ? ordered.length : first;
}

async function readPage({ store, collection, beforeMore }: RunningList, ids: readonly string[]) {
  const texts: string[] = [];
  let bytes = 0;
  let hasPermit = false;
  for await (const batch of store.readObjects(collection, ids)) {
    texts.push(...batch);
    bytes += bytesOf(batch);
    if (bytes > pageBytes) break;
    if (bytes > shortPageBytes && !hasPermit) {
      hasPermit = true;
      await beforeMore();
    }
  }
  return { texts, isCut: bytes > pageBytes };
}
