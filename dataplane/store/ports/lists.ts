// Many objects of a collection: pages by offset and by cursor, and what bounded scans read. port.ts
// says what a call may throw.

import type { ValueRange } from "../ranges.ts";
import type { StoreIndex } from "./indexes.ts";
import type { CollectionRef, Visibility } from "./refs.ts";

/** Ids from `from` (included) to `to` (excluded), which sort by creation. */
export interface IdRange {
  readonly from: string;
  readonly to: string;
}

export interface PageRange {
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
  /** A page whose texts have more bytes together is cut short and says so; absent = no limit. */
  readonly maxBytes?: number;
  /** Awaited before a store reads on in a long page; what it throws ends the page. */
  readonly beforeMore?: () => Promise<void>;
  /** In order of creation: only these objects are shown and counted; absent = all. */
  readonly ids?: IdRange;
}

export interface Page {
  /** All objects that the query matches, not only this page's. */
  readonly count: number;
  /** Served texts, in order. */
  readonly texts: readonly string[];
  /** True when `maxBytes` cut the page short. */
  readonly isCut?: boolean;
}

export interface FieldQuery {
  /** `name` of an index; the store answers `not_ready` when it is unknown or still building. */
  readonly index: string;
  /**
   * Where the index must get its values from, else `not_ready`: while the store refuses writes it
   * keeps the old declaration.
   */
  readonly field?: StoreIndex;
  /**
   * Only objects whose value encodes to exactly this (encodeSortValue in order.ts); absent = all.
   */
  readonly equals?: string;
  /** Only objects whose encoded value is in one of these: disjoint, ascending; without `equals`. */
  readonly ranges?: readonly ValueRange[];
}

/** `not_ready`: no index for the query, or still building, or no entries of owners. */
export type FoundPage = ({ readonly outcome: "page" } & Page) | { readonly outcome: "not_ready" };

/** What a page begins behind: an object that may be gone or have another value by now. */
export interface Position {
  /** Encoded; "" in order of creation. */
  readonly value: string;
  readonly id: string;
}

export interface KeysetRange extends Pick<PageRange, "limit" | "descending" | "maxBytes" | "beforeMore" | "ids"> {
  /** Continues after it; absent = from the start. */
  readonly after?: Position;
  /** Whether `count` is wanted; it is 0 otherwise. */
  readonly counted: boolean;
}

export interface KeysetPage extends Page {
  /** Where to continue, when there is more. */
  readonly next?: Position;
}

export type Candidates =
  | { readonly outcome: "found"; readonly ids: readonly string[] }
  | { readonly outcome: "too_many" | "not_ready" };

export interface ValueCount {
  /** Encoded, of all fields of the index. */
  readonly value: string;
  readonly count: number;
}

export type CountedValues =
  | { readonly outcome: "counted"; readonly values: readonly ValueCount[] }
  | { readonly outcome: "too_many" | "not_ready" };

export interface ScanRange {
  /** Objects that the caller is ready to have read; absent = any number. */
  readonly max?: number;
  /** Continues after the object of this id, which may be gone; absent = from the start. */
  readonly after?: string;
}

export interface ObjectLists {
  /** A page in order of creation, and the count. */
  pageByCreation(collection: CollectionRef, visible: Visibility, range: PageRange): Promise<FoundPage>;
  /** A page in order of an indexed field (then of id), optionally of one value only. */
  pageByField(collection: CollectionRef, visible: Visibility, query: FieldQuery, range: PageRange): Promise<FoundPage>;
  /**
   * The next objects after a position, in order of creation, or of an indexed field when there is a
   * query. A client that goes from page to page gets every object once that exists all the time
   * with the same value.
   */
  pageAfter(
    collection: CollectionRef,
    visible: Visibility,
    query: FieldQuery | undefined,
    range: KeysetRange,
  ): Promise<({ readonly outcome: "page" } & KeysetPage) | { readonly outcome: "not_ready" }>;
  /**
   * The ids of all objects of indexed queries at one moment, each once, in any order; `too_many`:
   * the queries find more than `max` together.
   */
  candidates(
    collection: CollectionRef,
    visible: Visibility,
    queries: readonly FieldQuery[],
    max: number,
  ): Promise<Candidates>;
  /**
   * How many objects of an indexed query have each value, at one moment, ascending; `too_many`:
   * more than `max` values.
   */
  countValues(collection: CollectionRef, visible: Visibility, query: FieldQuery, max: number): Promise<CountedValues>;
  /** The ids of all objects in the range, by creation; `not_ready` without owners' entries. */
  candidatesByCreation(
    collection: CollectionRef,
    visible: Visibility,
    range: IdRange,
    max: number,
  ): Promise<Candidates>;
  /** Served texts of these, in order, in batches of at most 4 MiB, without those that are gone. */
  readObjects(collection: CollectionRef, ids: readonly string[]): AsyncIterable<readonly string[]>;
  /** How many objects a scan reads: the visible ones, or all of them without entries of owners. */
  count(collection: CollectionRef, visible: Visibility): Promise<number>;
  /**
   * Served texts of all visible objects, in order of creation, in batches of at most 4 MiB, of
   * which one is read when it is asked for. Throws WriteConflict where entries of owners were
   * dropped since, and more than `max` objects would be read.
   */
  scan(collection: CollectionRef, visible: Visibility, range?: ScanRange): AsyncIterable<readonly string[]>;
}
