// Answers what no index does alone: an index names the few objects that may match, or all that the caller sees are read, up to a
// bound. Refuses what would read more, naming the index that would make it cheap.

import { projectName } from "../../../core/config/config-keys.ts";
import type { Condition } from "./conditions.ts";
import { type Finding, type ListPage, pageLength } from "./context.ts";
import { type Cursor, cursorOf } from "./cursor.ts";
import { type IndexUse, type Plan, restrictionsOf } from "./plan.ts";
import { indexBuilding, tooExpensive } from "./refusals.ts";
import { scanLimit, scanObjects } from "./scan.ts";
import type { Order } from "./sort.ts";

/** Indexes of which a list is asked how much they would find. */
const mostCounted = 4;
const onlyCount = { offset: 0, limit: 0, descending: false } as const;
/** Candidates that are named without a turn. */
const freeCandidates = 2_000;
/** Characters of a page that are read without a turn, as pages by an index have it. */
const freeLength = 1024 * 1024;

export async function listByScan(finding: Finding, plan: Plan, conditions: readonly Condition[]): Promise<ListPage> {
  const { store, scene, request } = finding;
  const found = await candidates(finding, plan.narrowings);
  if (found.ids !== undefined && found.isEach && plan.isByCreation) {
    return pageOfIds(finding, found.ids, conditions);
  }
  request.onScan();
  const texts = found.ids === undefined ? await everything(finding) : store.readObjects(scene.collection, found.ids);
  const page = texts && (await scan(finding, texts, conditions));
  if (page !== undefined) return page;
  const waiting = plan.answer?.query.index ?? found.waiting;
  if (waiting !== undefined) throw indexBuilding(waiting);
  throw tooExpensive(request.query, conditions, scene.resource.config.indexes);
}

function scan({ scene, request }: Finding, texts: AsyncIterable<readonly string[]>, conditions: readonly Condition[]) {
  const { order, offset, limit, cursor, counted } = request.query;
  const after = cursor?.after;
  const { collection } = scene;
  const turns = request.scanTurns;
  return scanObjects({ collection, texts, conditions, order, offset, limit, counted, turns, ...(after && { after }) });
}

async function everything({ store, scene }: Finding): Promise<AsyncIterable<readonly string[]> | undefined> {
  const { visible } = scene.grant;
  const isWithinBound = (await store.count(scene.collection, visible)) <= scanLimit;
  return isWithinBound ? store.scan(scene.collection, visible) : undefined;
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
async function candidates(finding: Finding, narrowings: readonly IndexUse[]): Promise<Candidates> {
  const { store, scene } = finding;
  const { best, count, waiting } = await smallest(finding, narrowings);
  if (best === undefined) return waiting === undefined ? {} : { waiting };
  const { visible } = scene.grant;
  const read = () => store.candidates(scene.collection, visible, best.query, scanLimit);
  const found = count > freeCandidates ? await inTurn(finding, read) : await read();
  if (found.outcome === "not_ready") return notReady(finding, best.query.index);
  return found.outcome === "found" ? { ids: found.ids.toSorted(), isEach: best.isComplete } : {};
}

/** Naming ten thousand holds Redis for some four milliseconds, as reading a mebibyte does. */
async function inTurn<T>({ scene, request }: Finding, read: () => Promise<T>): Promise<T> {
  await request.scanTurns.take(projectName(scene.collection.project));
  try {
    return await read();
  } finally {
    request.scanTurns.give();
  }
}

function notReady({ request }: Finding, index: string | undefined): Candidates {
  request.onIndexMissing();
  return index === undefined ? {} : { waiting: index };
}

interface Smallest {
  /** Undefined when all find too many. */
  readonly best?: IndexUse;
  readonly count: number;
  readonly waiting?: string;
}

async function smallest(finding: Finding, narrowings: readonly IndexUse[]): Promise<Smallest> {
  const { store, scene } = finding;
  let chosen: Smallest = { count: scanLimit + 1 };
  for (const use of narrowings.slice(0, mostCounted)) {
    const page = await store.pageByField(scene.collection, scene.grant.visible, use.query, onlyCount);
    if (page.outcome === "not_ready") chosen = { ...chosen, ...notReady(finding, use.query.index) };
    else if (page.count < chosen.count) chosen = { ...chosen, best: use, count: page.count };
  }
  return chosen;
}

/** Where the index found exactly what matches, only the page itself is read. */
async function pageOfIds(
  finding: Finding,
  ids: readonly string[],
  conditions: readonly Condition[],
): Promise<ListPage> {
  const { order, offset, limit, cursor } = finding.request.query;
  const ordered = order.descending ? ids.toReversed() : ids;
  const start = offset + passed(ordered, cursor?.after, order);
  const shown = ordered.slice(start, start + limit);
  const { texts, isCut } = await readPage(finding, shown);
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

async function readPage({ store, scene, beforeMore }: Finding, ids: readonly string[]) {
  const texts: string[] = [];
  let length = 0;
  let hasTurn = false;
  for await (const batch of store.readObjects(scene.collection, ids)) {
    texts.push(...batch);
    length += batch.reduce((sum, text) => sum + text.length, 0);
    if (length > pageLength) break;
    if (length > freeLength && !hasTurn) {
      hasTurn = true;
      await beforeMore();
    }
  }
  return { texts, isCut: length > pageLength };
}
