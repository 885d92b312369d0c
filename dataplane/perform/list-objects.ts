// Answers a list: from an index where one fits, else by a scan of bounded size. Refuses what would read too much, naming
// the index that would make it cheap.

import { projectName } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import { selected } from "../../core/json/selection.ts";
import type { Turns } from "../../core/turns.ts";
import type { Answer } from "../respond/answer.ts";
import { currentAnswer } from "../respond/conditional.ts";
import type { FieldPage, ObjectStore, PageRange } from "../store/port.ts";
import type { ListQuery } from "../validate/validate-list.ts";
import { type Condition, conditionOf } from "./conditions.ts";
import { type ListPage, linksOf } from "./list-links.ts";
import type { ObjectScene } from "./objects.ts";
import { type IndexUse, type Plan, planList, restrictionsOf } from "./plan-list.ts";
import { indexBuilding, tooExpensive } from "./refuse-list.ts";
import { scanLimit, scanObjects } from "./scan-objects.ts";
import { cursorOf, positionOf } from "./walk-positions.ts";

export interface ListRequest {
  readonly query: ListQuery;
  /** The collection's absolute URL, as the request named it. */
  readonly url: string;
  /** Called when the store can't use an index that the configuration has: it is being built, or was lost with its data. */
  readonly onIndexMissing: () => void;
  /** Of all scans and long pages of this process (scan-objects.ts). */
  readonly scanTurns: Turns;
  /** Called before a scan, which takes long and has turns of its own. */
  readonly onScan: () => void;
}

/**
 * Characters of a page's objects. One is in memory four times on its way: as the store's reply, its texts, their join, and the bytes
 * that are sent. Two of 64 MiB took a replica beyond the memory that the chart gives it.
 */
export const pageLength = 16 * 1024 * 1024;

export async function listObjects(store: ObjectStore, scene: ObjectScene, request: ListRequest): Promise<Answer> {
  const { query, scanTurns } = request;
  let hasTurn = false;
  // What is long has turns, as scans have: a project that is alone may have 64 pages under way.
  const beforeMore = async (): Promise<void> => {
    await scanTurns.take(projectName(scene.collection.project));
    hasTurn = true;
  };
  try {
    const page = await findPage({ store, scene, request, beforeMore });
    if (page.isCut) throw pageTooLong();
    return currentAnswer(envelope(query, page, request.url), scene.preconditions);
  } finally {
    if (hasTurn) scanTurns.give();
  }
}

function envelope(query: ListQuery, page: ListPage, url: string): string {
  const { fields } = query;
  const texts = fields === undefined ? page.texts : page.texts.map((text) => selected(text, fields));
  const count = query.counted ? `"count":${page.count},` : "";
  return `{${count}"items":[${texts.join(",")}],"links":${linksOf(query, page, url)}}`;
}

interface Finding {
  readonly store: ObjectStore;
  readonly scene: ObjectScene;
  readonly request: ListRequest;
  readonly beforeMore: () => Promise<void>;
}

async function findPage(finding: Finding): Promise<ListPage> {
  const { scene, request } = finding;
  const { query } = request;
  if (query.filters.length === 0 && query.order.keys.length === 0) return inOrderOfCreation(finding);
  const conditions = query.filters.map(conditionOf);
  const plan = planList(conditions, query.order, scene.resource.config.indexes);
  if (plan.answer !== undefined) {
    const indexed = await fromIndex(finding, plan.answer, conditions);
    if (indexed.outcome === "page") return indexed;
    request.onIndexMissing();
  }
  request.onScan();
  return fromScan(finding, plan, conditions);
}

async function inOrderOfCreation(finding: Finding): Promise<ListPage> {
  const { store, scene, request } = finding;
  if (request.query.cursor === undefined) {
    return store.pageByCreation(scene.collection, scene.grant.visible, rangeOf(finding));
  }
  const page = await fromIndex(finding, undefined, []);
  if (page.outcome === "page") return page;
  throw new Error("The order of creation is always there");
}

function rangeOf({ request, beforeMore }: Finding): PageRange {
  const { offset, limit, order } = request.query;
  return { offset, limit, descending: order.descending, maxLength: pageLength, beforeMore };
}

/** `use` = undefined in order of creation alone. */
async function fromIndex(
  finding: Finding,
  use: IndexUse | undefined,
  conditions: readonly Condition[],
): Promise<({ readonly outcome: "page" } & ListPage) | { readonly outcome: "not_ready" }> {
  const { store, scene, request } = finding;
  const { cursor, order, counted } = request.query;
  const { visible } = scene.grant;
  if (cursor === undefined && use !== undefined) {
    return store.pageByField(scene.collection, visible, use.query, rangeOf(finding));
  }
  const known = restrictionsOf(conditions);
  const after = cursor?.after && positionOf(cursor.after, order, use, known);
  const range = { ...rangeOf(finding), counted, ...(after && { after }) };
  const walked = await store.walk(scene.collection, visible, use?.query, range);
  if (walked.outcome === "not_ready") return walked;
  const { next, ...page } = walked;
  return next === undefined ? page : { ...page, next: cursorOf(next, order, use, known) };
}

async function fromScan(finding: Finding, plan: Plan, conditions: readonly Condition[]): Promise<ListPage> {
  const { scene, request } = finding;
  const { query } = request;
  const source = await scanSource(finding, plan);
  const page =
    source.texts &&
    (await scanObjects({
      collection: scene.collection,
      texts: source.texts,
      conditions,
      order: query.order,
      offset: query.offset,
      limit: query.limit,
      ...(query.cursor?.after && { after: query.cursor.after }),
      counted: query.counted,
      turns: request.scanTurns,
    }));
  if (page !== undefined) return page;
  const { indexes } = scene.resource.config;
  const waiting = plan.answer?.query.index ?? source.waiting;
  throw waiting === undefined ? tooExpensive(query, conditions, indexes) : indexBuilding(waiting);
}

interface Source {
  /** Of all objects that may match; absent when they are too many. */
  readonly texts?: AsyncIterable<readonly string[]>;
  /** An index that would find them, but is not ready. */
  readonly waiting?: string;
}

/** The smallest set of candidates that an index names, or all objects that the caller sees. */
async function scanSource(finding: Finding, { narrowings }: Plan): Promise<Source> {
  const { store, scene, request } = finding;
  const { collection } = scene;
  const { visible } = scene.grant;
  let [best, fewest, waiting]: [IndexUse | undefined, number, string | undefined] = [
    undefined,
    scanLimit + 1,
    undefined,
  ];
  for (const use of narrowings.slice(0, mostCounted)) {
    const page: FieldPage = await store.pageByField(collection, visible, use.query, onlyCount);
    if (page.outcome === "not_ready") {
      request.onIndexMissing();
      waiting = use.query.index;
    } else if (page.count < fewest) [best, fewest] = [use, page.count];
  }
  if (best !== undefined) {
    const found = await store.candidates(collection, visible, best.query, scanLimit);
    if (found.outcome === "found") return { texts: store.readObjects(collection, inOrder(found.ids)) };
  }
  if ((await store.count(collection, visible)) <= scanLimit) return { texts: store.scan(collection, visible) };
  return waiting === undefined ? {} : { waiting };
}

/** Indexes of which a list is asked how much they would find. */
const mostCounted = 4;
const onlyCount = { offset: 0, limit: 0, descending: false } as const;

/** Of creation. */
function inOrder(ids: readonly string[]): readonly string[] {
  return ids.toSorted();
}

function pageTooLong(): Problem {
  return new Problem(
    "query_too_expensive",
    "The objects of this page are more than 16 MiB: ask for fewer with a smaller `_limit`",
  );
}
