// Answers a list: from an index where one fits, else by a scan of bounded size. Refuses what would read too much, naming
// the index that would make it cheap.

import { projectName } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { Turns } from "../../core/turns.ts";
import type { Answer } from "../respond/answer.ts";
import { currentAnswer } from "../respond/conditional.ts";
import { encodeSortValue } from "../store/order.ts";
import type { FieldPage, ObjectStore, Page, PageRange } from "../store/port.ts";
import type { ListQuery } from "../validate/validate-list.ts";
import type { ObjectScene } from "./objects.ts";
import { encodesExactly, type Scan, scanLimit, scanObjects } from "./scan-objects.ts";

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
  const { query, url, scanTurns } = request;
  let hasTurn = false;
  // What is long has turns, as scans have: a project that is alone may have 64 pages under way.
  const beforeMore = async (): Promise<void> => {
    await scanTurns.take(projectName(scene.collection.project));
    hasTurn = true;
  };
  try {
    const page = await findPage(store, scene, { request, beforeMore });
    if (page.isCut) throw pageTooLong();
    const items = page.texts.join(",");
    const text = `{"count":${page.count},"items":[${items}],"links":${links(query, page.count, url)}}`;
    return currentAnswer(text, scene.preconditions);
  } finally {
    if (hasTurn) scanTurns.give();
  }
}

interface Finding {
  readonly request: ListRequest;
  readonly beforeMore: () => Promise<void>;
}

async function findPage(store: ObjectStore, scene: ObjectScene, { request, beforeMore }: Finding): Promise<Page> {
  const { query } = request;
  const { visible } = scene.grant;
  const { offset, limit } = query;
  const range: PageRange = {
    offset,
    limit,
    descending: query.sort?.descending ?? false,
    maxLength: pageLength,
    beforeMore,
  };
  const [first, ...others] = query.filters;
  if (!first && !query.sort?.byValue) return store.pageByCreation(scene.collection, visible, range);
  const indexed = others.length > 0 ? undefined : await fromIndex(store, scene, query, range);
  if (indexed?.outcome === "page") return indexed;
  if (indexed?.outcome === "not_ready") request.onIndexMissing();
  request.onScan();
  return fromScan(store, scene, { query, range, turns: request.scanTurns });
}

function fromIndex(
  store: ObjectStore,
  scene: ObjectScene,
  query: ListQuery,
  range: PageRange,
): Promise<FieldPage> | undefined {
  const [filter] = query.filters;
  const sortField = query.sort?.byValue ? query.sort.name : undefined;
  const index = filter?.name ?? sortField;
  if (index === undefined || !hasIndex(scene, index)) return undefined;
  if (!filter) return store.pageByField(scene.collection, scene.grant.visible, { index }, range);
  // All matches of one value are equal under its own order, so only another sort field needs a scan.
  const value = filter.values.length === 1 ? filter.values[0] : undefined;
  if (value === undefined || !encodesExactly(value) || (sortField ?? index) !== index) return undefined;
  return store.pageByField(scene.collection, scene.grant.visible, { index, equals: encodeSortValue(value) }, range);
}

async function fromScan(store: ObjectStore, scene: ObjectScene, scan: Scan): Promise<Page> {
  const { query } = scan;
  const page = await scanObjects(store, scene, scan);
  if (page) return page;
  const names = [...query.filters.map((filter) => filter.name), ...(query.sort?.byValue ? [query.sort.name] : [])];
  const waiting = names.find((name) => hasIndex(scene, name));
  if (waiting !== undefined && names.length === 1) {
    throw new Problem("index_building", `The index of \`${waiting}\` is being built; try again`, {
      headers: { "Retry-After": "5" },
    });
  }
  if (query.filters.length === 0) {
    throw new Problem(
      "sort_not_indexed",
      `More than ${scanLimit} objects can only be sorted by an indexed field; add \`${names[0]}\` to spec.indexes of the ApiResource`,
    );
  }
  throw new Problem(
    "query_too_expensive",
    `This query would read more than ${scanLimit} objects; use one filter on an indexed field, without another sort`,
  );
}

function pageTooLong(): Problem {
  return new Problem(
    "query_too_expensive",
    "The objects of this page are more than 16 MiB: ask for fewer with a smaller `_limit`",
  );
}

function hasIndex(scene: ObjectScene, name: string): boolean {
  return scene.resource.config.indexes.some((field) => field.name === name);
}

function links(query: ListQuery, count: number, url: string): string {
  const at = (offset: number) => `${url}?_limit=${query.limit}&_offset=${offset}${query.suffix}`;
  const all: { self: string; next?: string; prev?: string } = { self: at(query.offset) };
  if (query.offset + query.limit < count) all.next = at(query.offset + query.limit);
  if (query.offset > 0) all.prev = at(previousOffset(query, count));
  return JSON.stringify(all);
}

/** One page back; from past the end so many pages that there is something on it. */
function previousOffset({ offset, limit }: ListQuery, count: number): number {
  const back = offset - limit;
  const emptyPages = Math.max(0, Math.ceil((back + 1 - count) / limit));
  return Math.max(0, back - emptyPages * limit);
}
