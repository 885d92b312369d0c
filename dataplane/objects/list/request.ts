// One request for a list: its plan, whose objects it may show, and what it may use of the process.

import type { IndexField } from "../../../core/config/types.ts";
import type { Semaphore } from "../../../core/semaphore.ts";
import type { Preconditions } from "../../http/conditional-requests.ts";
import type { ObjectLists, Page, PageRange } from "../../store/ports/lists.ts";
import type { CollectionRef, Visibility } from "../../store/ports/refs.ts";
import type { Cursor } from "./cursor.ts";
import type { QueryPlan } from "./query-plan.ts";

export interface ListRequest {
  readonly store: ObjectLists;
  readonly collection: CollectionRef;
  /** Indexes that the configuration declares. */
  readonly indexes: readonly IndexField[];
  readonly visible: Visibility;
  readonly plan: QueryPlan;
  readonly preconditions: Preconditions | undefined;
  /** The collection's absolute URL, as the request named it. */
  readonly url: string;
  /** Bounds the scans and long pages that run at once in this process (scan.ts). */
  readonly scanSemaphore: Semaphore;
  /** Called when the store can't use an index that the configuration has: it is being built, or was lost with its data. */
  readonly onIndexMissing: () => void;
  /** Called before a scan, which takes long and waits for `scanSemaphore`. */
  readonly onScan: () => void;
}

/** The request while it is carried out. */
export interface RunningList extends ListRequest {
  /** Awaited once before a long page is read to its end: takes a permit of `scanSemaphore`, which the end of the list releases. */
  readonly beforeMore: () => Promise<void>;
}

export interface ListPage extends Page {
  /** Where the next page begins, when there is more. */
  readonly next?: Cursor;
}

/**
 * Bytes of a page's objects. One is in memory four times on its way: as the store's reply, its texts, their join, and the bytes
 * that are sent. Two of 64 MiB took a replica beyond the memory that the chart gives it.
 */
export const pageBytes = 16 * 1024 * 1024;

export function rangeOf({ plan, beforeMore }: RunningList): PageRange {
  const { offset, limit, order } = plan.query;
  return { offset, limit, descending: order.descending, maxBytes: pageBytes, beforeMore };
}
