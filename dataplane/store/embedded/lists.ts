// What a query reads, as entries of one viewer's list, by offset or behind a position. SQLite walks an offset and a filter's count
// entry by entry, which takes some ten milliseconds where they are some hundred thousand.

import type { DatabaseSync } from "node:sqlite";
import type { IndexField } from "../../../core/config/types.ts";
import { compareEncoded, hasSamePaths } from "../order.ts";
import type { FieldQuery, KeysetRange, PageRange, Position } from "../ports/lists.ts";
import type { CollectionRef, Visibility } from "../ports/refs.ts";
import { rangesOf, type ValueRange } from "../ranges.ts";
import type { Collection, Collections } from "./collections.ts";
import type { ObjectRow } from "./text-reader.ts";

/** One viewer's entries of one ordering, those in the ranges. */
export interface List {
  readonly orderingId: number;
  /** Whose values the ordering is by; absent in order of creation. */
  readonly index?: IndexField;
  readonly ownerId: number;
  /** Ascending. */
  readonly ranges: readonly ValueRange[];
  /** When all entries are in them; otherwise SQLite counts. */
  readonly length: number | undefined;
}

export interface Entry extends ObjectRow {
  readonly value: string;
}

export interface Lists {
  /** By creation without a query. "nothing": the caller sees nothing. */
  find(ref: CollectionRef, visible: Visibility, query?: FieldQuery): List | "nothing" | "not_ready";
  count(list: List): number;
  /** The ranges' entries one after the other, as if nothing lay between them. */
  entriesAt(list: List, range: Pick<PageRange, "offset" | "limit" | "descending">): readonly ObjectRow[];
  /** The next ones behind a position, and one more than `limit` when there is one. */
  entriesAfter(list: List, range: Pick<KeysetRange, "after" | "limit" | "descending">): readonly Entry[];
}

/** The only value in order of creation is "". */
const creation: readonly ValueRange[] = [{ from: "", to: "\u0001" }];

export function createLists(database: DatabaseSync, collections: Collections): Lists {
  const statements = prepare(database);

  function countIn({ orderingId, ownerId, length }: List, { from, to }: ValueRange): number {
    return length ?? Number(statements.count.get(orderingId, ownerId, from, to)?.entries);
  }

  function listOf(collection: Collection, visible: Visibility, query: FieldQuery | undefined) {
    const ordered = query === undefined ? { orderingId: collection.creation } : readyOrdering(collection, query);
    if (ordered === undefined) return "not_ready";
    const viewer = collections.owner(collection, visible);
    if (viewer === undefined) return "nothing";
    const isWhole = (query?.ranges ?? query?.equals) === undefined;
    const ranges = query === undefined ? creation : rangesOf(query);
    return { ...ordered, ownerId: viewer.ownerId, ranges, length: isWhole ? viewer.objects : undefined };
  }

  return {
    find(ref, visible, query) {
      const collection = collections.find(ref);
      if (collection !== undefined) return listOf(collection, visible, query);
      return query === undefined ? "nothing" : "not_ready";
    },
    count: (list) => list.ranges.reduce((sum, range) => sum + countIn(list, range), 0),
    entriesAt(list, { offset, limit, descending }) {
      const statement = descending ? statements.rangeDown : statements.range;
      const found: ObjectRow[] = [];
      let skipped = offset;
      for (const range of rangesInDirection(list.ranges, descending)) {
        const wanted = limit - found.length;
        const rows = statement.all(list.orderingId, list.ownerId, range.from, range.to, wanted, skipped);
        found.push(...(rows as unknown as ObjectRow[]));
        if (skipped > 0) skipped = Math.max(0, skipped - countIn(list, range));
      }
      return found;
    },
    entriesAfter(list, { after, limit, descending }) {
      const statement = descending ? statements.down : statements.up;
      const found: Entry[] = [];
      for (const range of rangesInDirection(list.ranges, descending)) {
        const wanted = limit + 1 - found.length;
        if (wanted <= 0) break;
        const start = startIn(range, after, descending);
        const end = descending ? range.from : range.to;
        const rows = statement.all(list.orderingId, list.ownerId, start.value, start.id, end, wanted);
        found.push(...(rows as unknown as Entry[]));
      }
      return found;
    },
  };
}

function rangesInDirection(ranges: readonly ValueRange[], descending: boolean): readonly ValueRange[] {
  return descending ? ranges.toReversed() : ranges;
}

function readyOrdering(
  { indexes }: Collection,
  { index: name, field }: FieldQuery,
): Pick<List, "orderingId" | "index"> | undefined {
  const found = indexes.find((each) => each.field.name === name && each.state === "ready");
  if (found === undefined || (field !== undefined && !hasSamePaths(found.field, field))) return undefined;
  return { orderingId: found.orderingId, index: found.field };
}

/** Where reading a range begins: at its own start, or behind the position when that lies further. */
function startIn({ from, to }: ValueRange, after: Position | undefined, descending: boolean): Position {
  const own = { value: descending ? to : from, id: "" };
  if (after === undefined) return own;
  const order = compareEncoded(after.value, own.value) || compareEncoded(after.id, own.id);
  return (descending ? order < 0 : order > 0) ? after : own;
}

function prepare(database: DatabaseSync) {
  const list = "FROM entries WHERE ordering = ? AND owner = ?";
  const range = `${list} AND value >= ? AND value < ?`;
  return {
    count: database.prepare(`SELECT COUNT(*) AS entries ${range}`),
    range: database.prepare(`SELECT object AS objectId, id ${range} ORDER BY value, id LIMIT ? OFFSET ?`),
    rangeDown: database.prepare(`SELECT object AS objectId, id ${range} ORDER BY value DESC, id DESC LIMIT ? OFFSET ?`),
    up: database.prepare(
      `SELECT value, id, object AS objectId ${list} AND (value, id) > (?, ?) AND value < ? ORDER BY value, id LIMIT ?`,
    ),
    down: database.prepare(
      `SELECT value, id, object AS objectId ${list} AND (value, id) < (?, ?) AND value >= ? ORDER BY value DESC, id DESC LIMIT ?`,
    ),
  };
}
