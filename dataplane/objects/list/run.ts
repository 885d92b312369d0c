// Answers a list, as JSON or CSV: from an index where one matches, else by a bounded scan.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { selected } from "../../../core/json/selection.ts";
import { idIn } from "../../../core/object-id.ts";
import { currentResponse, entityTag, isNotModified } from "../../http/conditional-requests.ts";
import type { HttpResponse } from "../../http/exchange.ts";
import type { PageRange } from "../../store/ports/lists.ts";
import { type CsvColumns, csvText, csvType } from "./csv.ts";
import { cursorText } from "./cursor.ts";
import { cursorOf, positionOf } from "./cursor-position.ts";
import type { ListQuery } from "./query.ts";
import { constraintsOf, type IndexPlan, type IndexScan, type QueryPlan } from "./query-plan.ts";
import {
  type ListPage,
  type ListRequest,
  listWithoutIndex,
  pageBytes,
  type RunningList,
  rangeOf,
} from "./run-without-index.ts";

export async function listObjects(request: ListRequest): Promise<HttpResponse> {
  const { collection, columns, scanSemaphore } = request;
  let hasPermit = false;
  // A long page waits for the semaphore, as scans do: a project alone may have 64 pages under way.
  const beforeMore = async (): Promise<void> => {
    await scanSemaphore.acquire(keyOfProject(collection.project));
    hasPermit = true;
  };
  try {
    const page = await findPage({ ...request, beforeMore });
    if (page.isCut) throw pageTooLong();
    const position = page.next && (await request.position?.());
    const next = page.next && { ...page.next, ...(position && { position }) };
    const shown = { ...page, ...(next && { next }) };
    return columns === undefined ? jsonResponse(request, shown) : await csvResponse(request, shown, columns);
  } finally {
    if (hasPermit) scanSemaphore.release();
  }
}

/** Of a page in either form, which no cache may take for the other. */
const vary = { Vary: "Accept, Authorization, Origin" };

function jsonResponse({ plan, url, preconditions }: ListRequest, page: ListPage): HttpResponse {
  const response = currentResponse(envelope(plan.query, page, url), preconditions);
  return { ...response, headers: { ...response.headers, ...vary } };
}

/** Links are in its head, and its tag is of both. */
async function csvResponse(
  { plan, url, preconditions }: ListRequest,
  page: ListPage,
  columns: CsvColumns,
): Promise<HttpResponse> {
  const text = await csvText(columns, page.texts);
  if (Buffer.byteLength(text) > pageBytes) throw pageTooLong();
  const { next, prev } = linksOf(plan.query, page, url);
  const link = [next && `<${next}>; rel="next"`, prev && `<${prev}>; rel="prev"`].filter(Boolean).join(", ");
  const tag = entityTag(link + text);
  const headers = { ...vary, ETag: tag, ...(link !== "" && { Link: link }) };
  if (isNotModified(preconditions, tag)) return { status: 304, headers };
  return { status: 200, text, headers: { ...headers, "Content-Type": csvType } };
}

function envelope(query: ListQuery, page: ListPage, url: string): string {
  const { fields } = query;
  const texts = fields === undefined ? page.texts : page.texts.map((text) => selected(text, fields));
  const count = query.counted ? `"count":${page.count},` : "";
  const etags = query.tagged ? `"etags":${JSON.stringify(tagsOf(page.texts))},` : "";
  return `{${count}"items":[${texts.join(",")}],${etags}"links":${JSON.stringify(linksOf(query, page, url))}}`;
}

/** By id, as a GET of each object answers it, whatever `_fields` shows. */
function tagsOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text) => [idIn(text), entityTag(text)]));
}

function findPage(list: RunningList): Promise<ListPage> {
  const { indexPlan } = list.plan;
  return indexPlan === undefined ? byCreation(list) : byPlan(list, indexPlan);
}

async function byPlan(list: RunningList, indexPlan: IndexPlan): Promise<ListPage> {
  if (indexPlan.answeringScan !== undefined) {
    const indexed = await fromIndex(list, indexPlan.answeringScan);
    if (indexed.outcome === "page") return indexed;
    list.onIndexMissing();
  }
  return await listWithoutIndex(list, indexPlan);
}

/** For everybody the order of creation is always there. */
const creationOrder: IndexPlan = Object.freeze({ candidateScans: [], isInCreationOrder: true });

async function byCreation(list: RunningList): Promise<ListPage> {
  const { store, collection, visible, plan } = list;
  const page = await (plan.query.cursor === undefined
    ? store.pageByCreation(collection, visible, { ...rangeOf(list), ...idsOf(plan) })
    : afterCursor(list, undefined));
  if (page.outcome === "page") return page;
  list.onIndexMissing();
  return await listWithoutIndex(list, creationOrder);
}

function idsOf({ ids }: QueryPlan): Pick<PageRange, "ids"> {
  return ids === undefined ? {} : { ids };
}

type IndexPage = ({ readonly outcome: "page" } & ListPage) | { readonly outcome: "not_ready" };

function fromIndex(list: RunningList, scan: IndexScan): Promise<IndexPage> {
  if (list.plan.query.cursor !== undefined) return afterCursor(list, scan);
  return list.store.pageByField(list.collection, list.visible, scan.query, rangeOf(list));
}

/** `scan` = undefined in order of creation alone. */
async function afterCursor(list: RunningList, scan: IndexScan | undefined): Promise<IndexPage> {
  const { store, collection, visible, plan } = list;
  const { cursor, order, counted } = plan.query;
  const constraints = constraintsOf(plan.conditions);
  const after = cursor?.after && positionOf(cursor.after, order, scan, constraints);
  const range = { ...rangeOf(list), counted, ...(after && { after }), ...(scan === undefined && idsOf(plan)) };
  const found = await store.pageAfter(collection, visible, scan?.query, range);
  if (found.outcome === "not_ready") return found;
  const { next, ...page } = found;
  return next === undefined ? page : { ...page, next: cursorOf(next, order, scan, constraints) };
}

function pageTooLong(): Problem {
  return new Problem(
    "query_too_expensive",
    "The objects of this page have more than 16 MiB together; send a smaller `_limit`",
  );
}

/** Absolute URLs of this page and its neighbours, by offset or by cursor, as the request asked. */
function linksOf(query: ListQuery, page: ListPage, url: string): Links {
  return query.cursor === undefined ? byOffset(query, page.count, url) : byCursor(query, page, url);
}

interface Links {
  self: string;
  next?: string;
  prev?: string;
}

function byOffset(query: ListQuery, count: number, url: string): Links {
  const { limit, offset, suffix } = query;
  const at = (from: number) => `${url}?_limit=${limit}&_offset=${from}${suffix}`;
  const links: Links = { self: at(offset) };
  if (offset + limit < count) links.next = at(offset + limit);
  if (offset > 0) links.prev = at(previousOffset(query, count));
  return links;
}

/** Cursors go one way: earlier pages have their own links. */
function byCursor({ limit, cursor, order, suffix }: ListQuery, { next }: ListPage, url: string): Links {
  const at = (text: string) => `${url}?_limit=${limit}&_cursor=${text}${suffix}`;
  const links: Links = { self: at(cursor?.text ?? "") };
  if (next !== undefined) links.next = at(cursorText(order, next));
  return links;
}

/** One page back, or from past the end to the last page with items. */
function previousOffset({ offset, limit }: ListQuery, count: number): number {
  const back = offset - limit;
  const emptyPages = Math.max(0, Math.ceil((back + 1 - count) / limit));
  return Math.max(0, back - emptyPages * limit);
}
