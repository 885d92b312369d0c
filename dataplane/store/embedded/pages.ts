// ObjectStore's pages: a range of one list's entries, found by way of rank-checkpoints.ts, then the texts they point to. The cost grows
// with the page, not with the list or the offset.

import type { DatabaseSync } from "node:sqlite";
import { isSamePlace } from "../order.ts";
import type { CollectionRef, FieldQuery, ObjectStore, PageRange, Visibility } from "../port.ts";
import type { ValueRange } from "../ranges.ts";
import { type PagePart, wholePage } from "../whole-page.ts";
import type { Collection } from "./collections.ts";
import type { ObjectParts } from "./objects.ts";
import type { SizedList } from "./rank-checkpoints.ts";
import type { ObjectPlace } from "./texts.ts";

type Pages = Pick<ObjectStore, "pageByCreation" | "pageByField" | "count">;

/** Positions in a list, ascending; `end` is not one of them. */
interface Span {
  readonly start: number;
  readonly end: number;
}

const nothing: PagePart = { count: 0, texts: [], rest: [] };

export function createPages(parts: ObjectParts): Pages {
  const { transactions, collections, texts } = parts;
  const { pageByCreation, pageByField } = createPageReader(parts);
  return {
    async pageByCreation(ref, visible, range) {
      const part = await transactions.read("pageByCreation", () => pageByCreation(ref, visible, range));
      return wholePage(part, (ids) => texts.readMore("pageByCreation", ref, ids), range);
    },
    async pageByField(ref, visible, query, range) {
      const part = await transactions.read("pageByField", () => pageByField(ref, visible, query, range));
      if (part === "not_ready") return { outcome: "not_ready" };
      const page = await wholePage(part, (ids) => texts.readMore("pageByField", ref, ids), range);
      return { outcome: "page", ...page };
    },
    count: (ref, visible) =>
      transactions.read("count", () => {
        const collection = collections.find(ref);
        return (collection && collections.owner(collection, visible)?.objects) ?? 0;
      }),
  };
}

/** Of a page, the part that is read at once. */
export interface PageReader {
  pageByCreation(ref: CollectionRef, visible: Visibility, range: PageRange): PagePart;
  pageByField(ref: CollectionRef, visible: Visibility, query: FieldQuery, range: PageRange): PagePart | "not_ready";
}

/** Reads inside a transaction of the caller's. */
export function createPageReader({ database, collections, checkpoints, texts }: ObjectParts): PageReader {
  const statements = prepare(database);

  function pageByCreation(ref: CollectionRef, visible: Visibility, range: PageRange): PagePart {
    const collection = collections.find(ref);
    const viewer = collection && collections.owner(collection, visible);
    if (collection === undefined || viewer === undefined) return nothing;
    const list = { ordering: collection.creation, owner: viewer.owner, length: viewer.objects };
    return page(list, { start: 0, end: list.length }, range);
  }

  function pageByField(
    ref: CollectionRef,
    visible: Visibility,
    query: FieldQuery,
    range: PageRange,
  ): PagePart | "not_ready" {
    const collection = collections.find(ref);
    const ordering = collection && readyOrdering(collection, query);
    if (collection === undefined || ordering === undefined) return "not_ready";
    const viewer = collections.owner(collection, visible);
    if (viewer === undefined) return nothing;
    const list = { ordering, owner: viewer.owner, length: viewer.objects };
    if (query.ranges !== undefined) return pageOfRanges(list, query.ranges, range);
    return page(list, spanOf(list, query.equals), range);
  }

  /** The ranges' entries one after the other, as if nothing lay between them. */
  function pageOfRanges(list: SizedList, ranges: readonly ValueRange[], range: PageRange): PagePart {
    const spans = ranges.map(({ from, to }) => ({
      start: checkpoints.below(list, from, false),
      end: checkpoints.below(list, to, false),
    }));
    const count = spans.reduce((sum, { start, end }) => sum + end - start, 0);
    const objects = shownParts(spans, range).flatMap(({ position, wanted }) => {
      const found = objectsAt(list, position, wanted);
      return range.descending ? found.reverse() : found;
    });
    return texts.firstOf(count, objects);
  }

  function spanOf(list: SizedList, equals: string | undefined): Span {
    if (equals === undefined) return { start: 0, end: list.length };
    return { start: checkpoints.below(list, equals, false), end: checkpoints.below(list, equals, true) };
  }

  function page(list: SizedList, { start, end }: Span, range: PageRange): PagePart {
    const { offset, limit, descending } = range;
    const count = end - start;
    const wanted = Math.min(limit, count - offset);
    if (wanted <= 0) return { ...nothing, count };
    const objects = objectsAt(list, descending ? end - offset - wanted : start + offset, wanted);
    if (descending) objects.reverse();
    return texts.firstOf(count, objects);
  }

  function objectsAt(list: SizedList, position: number, wanted: number): ObjectPlace[] {
    const { value, id, skip } = checkpoints.place(list, position);
    const rows = statements.objects.all(list.ordering, list.owner, value, id, wanted, skip);
    return rows as unknown as ObjectPlace[];
  }

  return { pageByCreation, pageByField };
}

interface ShownPart {
  /** Of its lowest entry. */
  readonly position: number;
  readonly wanted: number;
}

/** What a page shows of several spans, in the page's order. */
function shownParts(spans: readonly Span[], { offset, limit, descending }: PageRange): readonly ShownPart[] {
  const parts: ShownPart[] = [];
  let [skipped, left] = [offset, limit];
  for (const { start, end } of descending ? spans.toReversed() : spans) {
    const wanted = Math.max(0, Math.min(left, end - start - skipped));
    if (wanted > 0) parts.push({ position: descending ? end - skipped - wanted : start + skipped, wanted });
    left -= wanted;
    skipped = Math.max(0, skipped - (end - start));
  }
  return parts;
}

export function readyOrdering(
  { indexes }: Collection,
  { index: name, field }: Pick<FieldQuery, "index" | "field">,
): number | undefined {
  const index = indexes.find((each) => each.field.name === name && each.state === "ready");
  if (index === undefined || (field !== undefined && !isSamePlace(index.field, field))) return undefined;
  return index.ordering;
}

function prepare(database: DatabaseSync) {
  return {
    objects: database.prepare(
      `SELECT object, id FROM entries WHERE ordering = ? AND owner = ? AND (value, id) >= (?, ?)
        ORDER BY value, id LIMIT ? OFFSET ?`,
    ),
  };
}
