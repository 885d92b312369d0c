// What answering a list goes by: the request, and what it may take of the process.

import type { IndexField } from "../../../core/config/types.ts";
import type { Semaphore } from "../../../core/semaphore.ts";
import type { ObjectLists, Page, PageRange } from "../../store/ports/lists.ts";
import type { ObjectContext } from "../crud.ts";
import { type Condition, conditionOf } from "./conditions.ts";
import type { Cursor } from "./cursor.ts";
import { type ListPlan, planList } from "./plan.ts";
import type { ListQuery } from "./query.ts";

/** What a list asks for, and what the indexes can do for it: decided by its query and the configuration alone. */
export interface PreparedList {
  readonly query: ListQuery;
  readonly conditions: readonly Condition[];
  /** Undefined for all objects in order of creation. */
  readonly plan: ListPlan | undefined;
}

export function prepareList(query: ListQuery, indexes: readonly IndexField[]): PreparedList {
  const { filters, order } = query;
  const conditions = filters.map(conditionOf);
  const isPlain = filters.length === 0 && order.keys.length === 0;
  return { query, conditions, plan: isPlain ? undefined : planList(conditions, order, indexes) };
}

export interface ListRequest extends PreparedList {
  /** The collection's absolute URL, as the request named it. */
  readonly url: string;
  /** Called when the store can't use an index that the configuration has: it is being built, or was lost with its data. */
  readonly onIndexMissing: () => void;
  /** Of all scans and long pages of this process (scan.ts). */
  readonly scanSemaphore: Semaphore;
  /** Called before a scan, which takes long and waits for `scanSemaphore`. */
  readonly onScan: () => void;
}

/**
 * Characters of a page's objects. One is in memory four times on its way: as the store's reply, its texts, their join, and the bytes
 * that are sent. Two of 64 MiB took a replica beyond the memory that the chart gives it.
 */
export const pageLength = 16 * 1024 * 1024;

export interface ListContext {
  readonly store: ObjectLists;
  readonly context: ObjectContext;
  readonly request: ListRequest;
  /** Awaited once before a long page is read to its end. */
  readonly beforeMore: () => Promise<void>;
}

export interface ListPage extends Page {
  /** Where the next page begins, when there is more. */
  readonly next?: Cursor;
}

export function rangeOf({ request, beforeMore }: ListContext): PageRange {
  const { offset, limit, order } = request.query;
  return { offset, limit, descending: order.descending, maxLength: pageLength, beforeMore };
}
