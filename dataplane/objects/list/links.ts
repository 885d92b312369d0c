// The links of a list: absolute URLs of this page and of its neighbours, by offset, or by cursor when the request had one. Pure.

import type { Page } from "../../store/port.ts";
import { type Cursor, cursorText } from "./cursor.ts";
import type { ListQuery } from "./query.ts";

export interface ListPage extends Page {
  /** Where a walk goes on, when there is more. */
  readonly next?: Cursor;
}

export function linksOf(query: ListQuery, page: ListPage, url: string): string {
  return JSON.stringify(query.cursor === undefined ? byOffset(query, page.count, url) : byCursor(query, page, url));
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

/** A walk goes one way: who wants to go back has the links of the pages before. */
function byCursor({ limit, cursor, order, suffix }: ListQuery, { next }: ListPage, url: string): Links {
  const at = (text: string) => `${url}?_limit=${limit}&_cursor=${text}${suffix}`;
  const links: Links = { self: at(cursor?.text ?? "") };
  if (next !== undefined) links.next = at(cursorText(order, next));
  return links;
}

/** One page back; from past the end so many pages that there is something on it. */
function previousOffset({ offset, limit }: ListQuery, count: number): number {
  const back = offset - limit;
  const emptyPages = Math.max(0, Math.ceil((back + 1 - count) / limit));
  return Math.max(0, back - emptyPages * limit);
}
