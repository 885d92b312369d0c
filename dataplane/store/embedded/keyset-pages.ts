// ObjectStore's pages behind a position and candidates of a scan: entries of one list by their keys, then the texts they point to.

import type { DatabaseSync } from "node:sqlite";
import { compareEncoded } from "../order.ts";
import type { Candidates, CollectionRef, FieldQuery, KeysetRange, ObjectStore, Position, Visibility } from "../port.ts";
import { rangesOf, type ValueRange } from "../ranges.ts";
import { type PagePart, wholePage } from "../whole-page.ts";
import type { Collection } from "./collections.ts";
import type { ObjectParts } from "./objects.ts";
import { createPageReader, readyOrdering } from "./pages.ts";
import type { ObjectPlace } from "./texts.ts";

type KeysetPages = Pick<ObjectStore, "pageAfter" | "candidates" | "readObjects">;

interface Entry extends ObjectPlace {
  readonly value: string;
}

interface KeysetPart extends PagePart {
  /** Where to go on, when there is more. */
  readonly next?: Position;
}

interface Listed {
  readonly collection: Collection;
  readonly ordering: number;
  readonly owner: number;
}

/** The only value in order of creation is "". */
const creation: readonly ValueRange[] = [{ from: "", to: "\u0001" }];
/** A page of which only the count is wanted. */
const nothing = { offset: 0, limit: 0, descending: false };

export function createKeysetPages(parts: ObjectParts): KeysetPages {
  const { database, transactions, collections, texts } = parts;
  const statements = prepare(database);
  const pages = createPageReader(parts);

  /** Undefined when the index isn't ready; "nothing" when the caller sees nothing. */
  function listed(
    ref: CollectionRef,
    visible: Visibility,
    query: FieldQuery | undefined,
  ): Listed | "nothing" | undefined {
    const collection = collections.find(ref);
    if (collection === undefined) return query === undefined ? "nothing" : undefined;
    const ordering = query === undefined ? collection.creation : readyOrdering(collection, query);
    if (ordering === undefined) return undefined;
    const viewer = collections.owner(collection, visible);
    return viewer === undefined ? "nothing" : { collection, ordering, owner: viewer.owner };
  }

  function entriesAfter(list: Listed, ranges: readonly ValueRange[], range: KeysetRange): readonly Entry[] {
    const found: Entry[] = [];
    for (const part of range.descending ? ranges.toReversed() : ranges) {
      const wanted = range.limit + 1 - found.length;
      if (wanted > 0) found.push(...entriesIn(list, part, range, wanted));
    }
    return found;
  }

  function entriesIn(list: Listed, part: ValueRange, range: KeysetRange, wanted: number): readonly Entry[] {
    const { after, descending } = range;
    const start = startIn(part, after, descending);
    const end = descending ? part.from : part.to;
    const statement = descending ? statements.down : statements.up;
    return statement.all(list.ordering, list.owner, start.value, start.id, end, wanted) as unknown as Entry[];
  }

  function pageAfter(
    ref: CollectionRef,
    visible: Visibility,
    query: FieldQuery | undefined,
    range: KeysetRange,
  ): KeysetPart | "not_ready" {
    const list = listed(ref, visible, query);
    if (list === undefined) return "not_ready";
    if (list === "nothing") return { count: 0, texts: [], rest: [] };
    const entries = entriesAfter(list, query === undefined ? creation : rangesOf(query), range);
    const shown = entries.slice(0, range.limit);
    const part = texts.firstOf(range.counted ? countOf(ref, visible, query) : 0, shown);
    const last = entries.length > range.limit ? shown.at(-1) : undefined;
    return last === undefined ? part : { ...part, next: { value: last.value, id: last.id } };
  }

  function countOf(ref: CollectionRef, visible: Visibility, query: FieldQuery | undefined): number {
    if (query === undefined) return pages.pageByCreation(ref, visible, nothing).count;
    const page = pages.pageByField(ref, visible, query, nothing);
    return page === "not_ready" ? 0 : page.count;
  }

  function candidates(ref: CollectionRef, visible: Visibility, query: FieldQuery, most: number): Candidates {
    const list = listed(ref, visible, query);
    if (list === undefined) return { outcome: "not_ready" };
    if (list === "nothing") return { outcome: "found", ids: [] };
    const entries = entriesAfter(list, rangesOf(query), { limit: most, descending: false, counted: false });
    if (entries.length > most) return { outcome: "too_many" };
    return { outcome: "found", ids: entries.map(({ id }) => id) };
  }

  return {
    async pageAfter(ref, visible, query, range) {
      const part = await transactions.read("walk", () => pageAfter(ref, visible, query, range));
      if (part === "not_ready") return { outcome: "not_ready" };
      const page = await wholePage(part, (ids) => texts.readMore("walk", ref, ids), range);
      return { outcome: "page", ...page, ...(part.next && { next: part.next }) };
    },
    candidates: (ref, visible, query, most) =>
      transactions.read("candidates", () => candidates(ref, visible, query, most)),
    async *readObjects(ref, ids) {
      for (let from = 0; from < ids.length; ) {
        const part = await texts.readMore("readObjects", ref, ids.slice(from));
        if (part.texts.length > 0) yield part.texts;
        from += part.done;
      }
    },
  };
}

/** Where reading a range begins: at its own start, or behind the position when that lies further. */
function startIn({ from, to }: ValueRange, after: Position | undefined, descending: boolean): Position {
  const own = { value: descending ? to : from, id: "" };
  if (after === undefined) return own;
  const order = compareEncoded(after.value, own.value) || compareEncoded(after.id, own.id);
  return (descending ? order < 0 : order > 0) ? after : own;
}

function prepare(database: DatabaseSync) {
  const from = "SELECT value, id, object FROM entries WHERE ordering = ? AND owner = ?";
  return {
    up: database.prepare(`${from} AND (value, id) > (?, ?) AND value < ? ORDER BY value, id LIMIT ?`),
    down: database.prepare(`${from} AND (value, id) < (?, ?) AND value >= ? ORDER BY value DESC, id DESC LIMIT ?`),
  };
}
