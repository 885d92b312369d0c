// Answers what no index does alone: an index names the few objects that may match, or all that the caller sees are read, up to a
// bound. Refuses what would read more, naming the index that would make it cheap.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { Condition } from "./conditions.ts";
import { type ListContext, type ListPage, pageLength } from "./context.ts";
import { type Cursor, cursorOf } from "./cursor.ts";
import { type IndexUse, type ListPlan, restrictionsOf } from "./plan.ts";
import { indexBuilding, tooExpensive } from "./refusals.ts";
import { scanLimit, scanObjects } from "./scan.ts";
import type { Order } from "./sort.ts";

/** Indexes of which a list is asked how much they would find. */
const maxCountedIndexes = 4;
const onlyCount = { offset: 0, limit: 0, descending: false } as const;
/** Candidates that are named without a permit of the semaphore. */
const freeCandidates = 2_000;
/** Characters of a page that are read without one, as of pages by an index. */
const freeLength = 1024 * 1024;

export async function listByScan(
  list: ListContext,
  plan: ListPlan,
  conditions: readonly Condition[],
): Promise<ListPage> {
  const { store, context, request } = list;
  const found = await candidates(list, plan.candidateUses);
  if (found.ids !== undefined && found.isEach && plan.isByCreation) {
    return pageOfIds(list, found.ids, conditions);
  }
  request.onScan();
  const texts = found.ids === undefined ? await everything(list) : store.readObjects(context.collection, found.ids);
  const result = texts === undefined ? tooManyObjects : await scan(list, texts, conditions);
  if ("page" in result) return result.page;
  const waiting = plan.answer?.query.index ?? found.waiting;
  if (waiting !== undefined) throw indexBuilding(waiting);
  throw tooExpensive(result.excess, { query: request.query, conditions, indexes: context.resource.config.indexes });
}

const tooManyObjects = Object.freeze({ excess: "objects" } as const);

function scan(
  { context, request }: ListContext,
  texts: AsyncIterable<readonly string[]>,
  conditions: readonly Condition[],
) {
  const { order, offset, limit, cursor, counted } = request.query;
  const after = cursor?.after;
  const { collection } = context;
  const semaphore = request.scanSemaphore;
  return scanObjects({
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

async function everything({ store, context }: ListContext): Promise<AsyncIterable<readonly string[]> | undefined> {
  const { visible } = context.grant;
  const isWithinBound = (await store.count(context.collection, visible)) <= scanLimit;
  return isWithinBound ? store.scan(context.collection, visible) : undefined;
}

interface Candidates {
  /** In order of creation; absent when no index finds few enough. */
  readonly ids?: readonly string[];
  /** True when each of them matches. */
  readonly isEach?: boolean;
  /** An index that could find them, but is not ready. */
  readonly waiting?: string;
}

/** The smallest set that an index names. */
async function candidates(list: ListContext, candidateUses: readonly IndexUse[]): Promise<Candidates> {
  const { store, context } = list;
  const { best, count, waiting } = await smallest(list, candidateUses);
  if (best === undefined) return waiting === undefined ? {} : { waiting };
  const { visible } = context.grant;
  const read = () => store.candidates(context.collection, visible, best.query, scanLimit);
  const found = count > freeCandidates ? await withPermit(list, read) : await read();
  if (found.outcome === "not_ready") return notReady(list, best.query.index);
  return found.outcome === "found" ? { ids: found.ids.toSorted(), isEach: best.isComplete } : {};
}

/** Naming ten thousand holds Redis for some four milliseconds, as reading a mebibyte does. */
async function withPermit<T>({ context, request }: ListContext, read: () => Promise<T>): Promise<T> {
  await request.scanSemaphore.acquire(keyOfProject(context.collection.project));
  try {
    return await read();
  } finally {
    request.scanSemaphore.release();
  }
}

function notReady({ request }: ListContext, index: string | undefined): Candidates {
  request.onIndexMissing();
  return index === undefined ? {} : { waiting: index };
}

interface Smallest {
  /** Undefined when all find too many. */
  readonly best?: IndexUse;
  readonly count: number;
  readonly waiting?: string;
}

async function smallest(list: ListContext, candidateUses: readonly IndexUse[]): Promise<Smallest> {
  const { store, context } = list;
  let chosen: Smallest = { count: scanLimit + 1 };
  for (const use of candidateUses.slice(0, maxCountedIndexes)) {
    const page = await store.pageByField(context.collection, context.grant.visible, use.query, onlyCount);
    if (page.outcome === "not_ready") chosen = { ...chosen, ...notReady(list, use.query.index) };
    else if (page.count < chosen.count) chosen = { ...chosen, best: use, count: page.count };
  }
  return chosen;
}

/** Where the index found exactly what matches, only the page itself is read. */
async function pageOfIds(
  list: ListContext,
  ids: readonly string[],
  conditions: readonly Condition[],
): Promise<ListPage> {
  const { order, offset, limit, cursor } = list.request.query;
  const ordered = order.descending ? ids.toReversed() : ids;
  const start = offset + passed(ordered, cursor?.after, order);
  const shown = ordered.slice(start, start + limit);
  const { texts, isCut } = await readPage(list, shown);
  // What was changed since the index was read may match no longer.
  const matching = texts.filter((text) => conditions.every((condition) => condition.holds(text)));
  const page: ListPage = { count: ids.length, texts: matching, isCut };
  const last = start + limit < ids.length ? shown.at(-1) : undefined;
  if (last === undefined) return page;
  return { ...page, next: cursorOf({ value: "", id: last }, order, undefined, restrictionsOf(conditions)) };
}

/** How many of the ids lie before the cursor, or are its own. */
function passed(ordered: readonly string[], after: Cursor | undefined, { descending }: Order): number {
  if (after === undefined) return 0;
  const first = ordered.findIndex((id) => (descending ? id < after.id : id > after.id));
  return first < 0 ? ordered.length : first;
}

async function readPage({ store, context, beforeMore }: ListContext, ids: readonly string[]) {
  const texts: string[] = [];
  let length = 0;
  let hasPermit = false;
  for await (const batch of store.readObjects(context.collection, ids)) {
    texts.push(...batch);
    length += batch.reduce((sum, text) => sum + text.length, 0);
    if (length > pageLength) break;
    if (length > freeLength && !hasPermit) {
      hasPermit = true;
      await beforeMore();
    }
  }
  return { texts, isCut: length > pageLength };
}
