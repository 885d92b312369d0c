// What a query reads, as entries of one viewer's list, by offset or after a position. SQLite walks
// an offset and a filter's count entry by entry: some ten milliseconds for some hundred thousand.

import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import type { IndexField } from "../../../core/config/types.ts";
import { encodedTime, isOfExpiry } from "../expiry.ts";
import { compareEncoded, hasSameEntries } from "../order.ts";
import { ExpiredInTheWay } from "../ports/expiry.ts";
import type { FieldQuery, IdRange, KeysetRange, PageRange, Position, ValueCount } from "../ports/lists.ts";
import type { CollectionRef, Visibility } from "../ports/refs.ts";
import { rangesOf, type ValueRange } from "../ranges.ts";
import type { Collection, Collections, OwnerRow } from "./collections.ts";
import type { ObjectRow } from "./text-reader.ts";

/** One viewer's entries of one ordering, those in the ranges. */
export interface List {
  readonly orderingId: number;
  /** Whose values the ordering is by; absent in order of creation. */
  readonly index?: IndexField;
  readonly ownerId: number;
  /** Ascending. */
  readonly ranges: readonly ValueRange[];
  /**
   * Of entries with a range's first value only those from the first id on, and with the value after
   * its end only those up to the other id.
   */
  readonly ids: IdRange;
  /** When all entries are in them; otherwise SQLite counts. */
  readonly length: number | undefined;
  /** Whose objects are left out; absent where nothing has expired. */
  readonly expired?: Expired | undefined;
}

/** The entries of an index of expiry up to a time. */
interface Expired {
  readonly orderingId: number;
  readonly ownerId: number;
  readonly until: string;
  readonly entries: number;
}

export interface Entry extends ObjectRow {
  readonly value: string;
}

export interface Lists {
  /** By creation without a query, or with ids. "nothing": the caller sees nothing. */
  find(ref: CollectionRef, visible: Visibility, by?: ListBy): List | "nothing" | "not_ready";
  count(list: List): number;
  /** By value, ascending, and one more than `max` when there is one. */
  countValues(list: List, max: number): readonly ValueCount[];
  /** The ranges' entries one after the other, as if nothing lay between them. */
  entriesAt(list: List, range: Pick<PageRange, "offset" | "limit" | "descending">): readonly ObjectRow[];
  /** The next ones behind a position, and one more than `limit` when there is one. */
  entriesAfter(list: List, range: Pick<KeysetRange, "after" | "limit" | "descending">): readonly Entry[];
}

export interface ListBy {
  readonly query?: FieldQuery | undefined;
  readonly ids?: IdRange | undefined;
}

/** Sorts after an id or a value itself, and before all others that do. */
const behind = "\u0001";
/** The only value in order of creation is "". */
const creation: readonly ValueRange[] = [{ from: "", to: "" }];
/** Ids begin with a hexadecimal digit. */
const allIds: IdRange = { from: "", to: "g" };
/** In an index, ranges of values end before the first id of a value. */
const noIds: IdRange = { from: "", to: "" };

export function createLists(database: DatabaseSync, collections: Collections, clock: Clock): Lists {
  const all = prepare(database, "");
  const live = prepare(
    database,
    "AND object NOT IN (SELECT object FROM entries WHERE ordering = ? AND owner = ? AND value <= ?)",
  );
  const expiredEntries = database.prepare(
    "SELECT COUNT(*) AS entries FROM entries WHERE ordering = ? AND owner = ? AND value <= ?",
  );
  const statementsOf = ({ expired }: List) => (expired === undefined ? all : live);
  const leftOut = ({ expired }: List) =>
    expired === undefined ? [] : [expired.orderingId, expired.ownerId, expired.until];

  function countIn(list: List, { from, to }: ValueRange): number {
    const { orderingId, ownerId, length, ids } = list;
    if (length !== undefined) return length;
    const { count } = statementsOf(list);
    return Number(count.get(orderingId, ownerId, from, ids.from, to, ids.to, ...leftOut(list))?.entries);
  }

  function expiredOf({ everyone, indexes }: Collection, { expiry }: CollectionRef): Expired | undefined {
    if (expiry === undefined) return undefined;
    const index = indexes.find(({ field }) => isOfExpiry(field, expiry));
    if (index === undefined) throw new ExpiredInTheWay("There is no index of what expires");
    const { orderingId } = index;
    const until = encodedTime(clock.now());
    const entries = Number(expiredEntries.get(orderingId, everyone, until)?.entries);
    return entries === 0 ? undefined : { orderingId, ownerId: everyone, until, entries };
  }

  function listOf(collection: Collection, ref: CollectionRef, visible: Visibility, { query, ids = allIds }: ListBy) {
    const byCreation = { orderingId: collection.creation, ranges: creation, ids };
    const ordered = query === undefined ? byCreation : readyOrdering(collection, query);
    if (ordered === undefined) return "not_ready";
    const viewer = collections.owner(collection, visible);
    if (viewer === undefined) return "nothing";
    const isWhole = ids === allIds && (query?.ranges ?? query?.equals) === undefined;
    const expired = expiredOf(collection, ref);
    const length = isWhole ? lengthOf(viewer, visible, expired) : undefined;
    return { ...ordered, ownerId: viewer.ownerId, length, expired };
  }

  return {
    find(ref, visible, by = {}) {
      const collection = collections.find(ref);
      if (collection !== undefined) return listOf(collection, ref, visible, by);
      return by.query === undefined ? "nothing" : "not_ready";
    },
    count: (list) => list.ranges.reduce((sum, range) => sum + countIn(list, range), 0),
    countValues(list, max) {
      const { orderingId, ownerId, ids } = list;
      return list.ranges.flatMap(({ from, to }) => {
        const bounds = [orderingId, ownerId, from, ids.from, to, ids.to];
        return statementsOf(list).countValues.all(...bounds, ...leftOut(list), max + 1) as unknown as ValueCount[];
      });
    },
    entriesAt(list, { offset, limit, descending }) {
      const { ids } = list;
      const statement = statementsOf(list)[descending ? "rangeDown" : "range"];
      const found: ObjectRow[] = [];
      let skipped = offset;
      for (const range of rangesInDirection(list.ranges, descending)) {
        const wanted = limit - found.length;
        const { from, to } = range;
        const bounds = [list.orderingId, list.ownerId, from, ids.from, to, ids.to];
        const rows = statement.all(...bounds, ...leftOut(list), wanted, skipped);
        found.push(...(rows as unknown as ObjectRow[]));
        if (skipped > 0) skipped = Math.max(0, skipped - countIn(list, range));
      }
      return found;
    },
    entriesAfter(list, { after, limit, descending }) {
      const statement = statementsOf(list)[descending ? "rangeDown" : "range"];
      const found: Entry[] = [];
      for (const range of rangesInDirection(list.ranges, descending)) {
        const wanted = limit + 1 - found.length;
        if (wanted <= 0) break;
        const { from, to } = rangeBehind(range, list.ids, { after, descending });
        const bounds = [list.orderingId, list.ownerId, from.value, from.id, to.value, to.id];
        const rows = statement.all(...bounds, ...leftOut(list), wanted, 0);
        found.push(...(rows as unknown as Entry[]));
      }
      return found;
    },
  };
}

/** How many of an owner's objects have expired is not known. */
function lengthOf({ objects }: OwnerRow, { owner }: Visibility, expired: Expired | undefined): number | undefined {
  if (expired === undefined) return objects;
  return owner === undefined ? objects - expired.entries : undefined;
}

function rangesInDirection(ranges: readonly ValueRange[], descending: boolean): readonly ValueRange[] {
  return descending ? ranges.toReversed() : ranges;
}

function readyOrdering(
  { indexes }: Collection,
  query: FieldQuery,
): Pick<List, "orderingId" | "index" | "ranges" | "ids"> | undefined {
  const { index: name, field } = query;
  const found = indexes.find(
    (each) =>
      each.field.name === name && each.state === "ready" && (field === undefined || hasSameEntries(each.field, field)),
  );
  if (found === undefined) return undefined;
  return { orderingId: found.orderingId, index: found.field, ranges: rangesOf(query), ids: noIds };
}

interface PositionRange {
  /** Included. */
  readonly from: Position;
  readonly to: Position;
}

/** What is left of a range behind a position: all of it, a part, or nothing. */
function rangeBehind(
  range: ValueRange,
  ids: IdRange,
  { after, descending }: { readonly after: Position | undefined; readonly descending: boolean },
): PositionRange {
  const from = { value: range.from, id: ids.from };
  const to = { value: range.to, id: ids.to };
  if (after === undefined) return { from, to };
  if (descending) return { from, to: comparePositions(after, to) < 0 ? after : to };
  return { from: comparePositions(after, from) < 0 ? from : { value: after.value, id: after.id + behind }, to };
}

function comparePositions(one: Position, other: Position): number {
  return compareEncoded(one.value, other.value) || compareEncoded(one.id, other.id);
}

function prepare(database: DatabaseSync, further: string) {
  const range = `FROM entries WHERE ordering = ? AND owner = ? AND (value, id) >= (?, ?) AND (value, id) < (?, ?) ${further}`;
  const rows = `SELECT value, id, object AS objectId ${range}`;
  return {
    count: database.prepare(`SELECT COUNT(*) AS entries ${range}`),
    countValues: database.prepare(`SELECT value, COUNT(*) AS count ${range} GROUP BY value ORDER BY value LIMIT ?`),
    range: database.prepare(`${rows} ORDER BY value, id LIMIT ? OFFSET ?`),
    rangeDown: database.prepare(`${rows} ORDER BY value DESC, id DESC LIMIT ? OFFSET ?`),
  };
}
