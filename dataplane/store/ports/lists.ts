// Many objects of a collection: pages by offset and by cursor, and what bounded scans read. port.ts says what a call may throw.

import type { IndexField } from "../../../core/config/types.ts";
import type { ValueRange } from "../ranges.ts";
import type { CollectionRef, Visibility } from "./refs.ts";

/** Ids from one text on, up to another that is left out; in order of creation, because ids are (object-ids.ts). */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

export interface PageRange {
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
  /** A page whose texts have more bytes together is cut short and says so; absent = however many. */
  readonly maxBytes?: number;
  /** Awaited before a store that reads a long page in parts reads on; what it throws ends the page. */
  readonly beforeMore?: () => Promise<void>;
  /** In order of creation: only these objects are shown and counted; absent = all. */
  readonly ids?: IdRange;
}

export interface Page {
  /** All objects that the query matches, not only this page's. */
  readonly count: number;
  /** Served texts, in order. */
  readonly texts: readonly string[];
  /** True when `maxBytes` kept objects out of it. */
  readonly isCut?: boolean;
}

export interface FieldQuery {
  /** `name` of an index; the store answers `not_ready` when it is unknown or still building. */
  readonly index: string;
  /**
   * Where the index must have its values from, else `not_ready`: while the store takes no writes it keeps those that were declared before.
   */
  readonly field?: IndexField;
  /** Only objects whose value encodes to exactly this (encodeSortValue in order.ts); absent = all. */
  readonly equals?: string;
  /** Only objects whose encoded value lies in one of these: disjoint and ascending (ranges.ts); never beside `equals`. */
  readonly ranges?: readonly ValueRange[];
}

/** `not_ready`: the store has no index for the query, or still adds to what it needs, or lacks the entries of owners. */
export type FoundPage = ({ readonly outcome: "page" } & Page) | { readonly outcome: "not_ready" };

/** What a page begins behind: an object that may be gone or have another value by now. */
export interface Position {
  /** Encoded; "" in order of creation. */
  readonly value: string;
  readonly id: string;
}

export interface KeysetRange extends Pick<PageRange, "limit" | "descending" | "maxBytes" | "beforeMore" | "ids"> {
  /** Goes on behind it; absent = from the start. */
  readonly after?: Position;
  /** Whether `count` is wanted; it is 0 otherwise. */
  readonly counted: boolean;
}

export interface KeysetPage extends Page {
  /** Where to go on, when there is more. */
  readonly next?: Position;
}

export type Candidates =
  | { readonly outcome: "found"; readonly ids: readonly string[] }
  | { readonly outcome: "too_many" | "not_ready" };

export interface ObjectLists {
  /** A page in order of creation, and the count. */
  pageByCreation(collection: CollectionRef, visible: Visibility, range: PageRange): Promise<FoundPage>;
  /** A page in order of an indexed field (then of id), optionally of one value only. */
  pageByField(collection: CollectionRef, visible: Visibility, query: FieldQuery, range: PageRange): Promise<FoundPage>;
  /**
   * The next objects behind a position, in order of creation, or of an indexed field when there is a query: whatever is written
   * meanwhile, a client that goes from page to page gets every object once that exists all the time with the same value.
   */
  pageAfter(
    collection: CollectionRef,
    visible: Visibility,
    query: FieldQuery | undefined,
    range: KeysetRange,
  ): Promise<({ readonly outcome: "page" } & KeysetPage) | { readonly outcome: "not_ready" }>;
  /** The ids of all objects that an index has for the query, in any order; `too_many` when they are more than `max`. */
  candidates(collection: CollectionRef, visible: Visibility, query: FieldQuery, max: number): Promise<Candidates>;
  /** The ids of all objects within the range, in order of creation; `not_ready` where the store lacks the entries of owners. */
  candidatesByCreation(
    collection: CollectionRef,
    visible: Visibility,
    range: IdRange,
    max: number,
  ): Promise<Candidates>;
  /** Served texts of these objects, in this order, in batches of at most 4 MiB; those that are gone are left out. */
  readObjects(collection: CollectionRef, ids: readonly string[]): AsyncIterable<readonly string[]>;
  /** How many a scan looks at: the visible objects, or all of them while the store lacks the entries of owners. */
  count(collection: CollectionRef, visible: Visibility): Promise<number>;
  /**
   * Served texts of all visible objects, in order of creation, in batches of at most 4 MiB. For bounded scans, whose caller has counted them.
   * Throws WriteConflict where the store has come to lack the entries of owners since, and would look at more than `max` objects instead.
   */
  scan(collection: CollectionRef, visible: Visibility, max?: number): AsyncIterable<readonly string[]>;
}
