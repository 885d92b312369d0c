// ObjectStore's pages: a range of one ordering's entries, then the texts they point to. A deep offset walks entries from the
// nearer end.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { CollectionRef, FieldPage, FieldQuery, ObjectStore, Page, PageRange, Visibility } from "../port.ts";
import type { Collection } from "./collections.ts";
import type { ObjectParts } from "./objects.ts";

type Pages = Pick<ObjectStore, "pageByCreation" | "pageByField" | "count">;

/** Sorted entries: all of one owner in one ordering, or those of one value among them. */
interface Entries {
  readonly ordering: number;
  readonly owner: number;
  readonly equals?: string | undefined;
  readonly count: number;
}

const nothing: Page = { count: 0, texts: [] };

export function createPages({ database, transactions, collections }: ObjectParts): Pages {
  const statements = prepare(database);

  function pageByCreation(ref: CollectionRef, visible: Visibility, range: PageRange): Page {
    const collection = collections.find(ref);
    const viewer = collection && collections.owner(collection, visible);
    if (collection === undefined || viewer === undefined) return nothing;
    return page({ ordering: collection.creation, owner: viewer.owner, count: viewer.objects }, range);
  }

  function pageByField(ref: CollectionRef, visible: Visibility, query: FieldQuery, range: PageRange): FieldPage {
    const collection = collections.find(ref);
    const ordering = collection && readyOrdering(collection, query.index);
    if (collection === undefined || ordering === undefined) return { outcome: "not_ready" };
    const viewer = collections.owner(collection, visible);
    if (viewer === undefined) return { outcome: "page", ...nothing };
    const { equals } = query;
    const count = equals === undefined ? viewer.objects : countOf(ordering, viewer.owner, equals);
    return { outcome: "page", ...page({ ordering, owner: viewer.owner, equals, count }, range) };
  }

  function countOf(ordering: number, owner: number, equals: string): number {
    return Number(statements.count.get(ordering, owner, equals)?.entries);
  }

  function page(entries: Entries, { offset, limit, descending }: PageRange): Page {
    const { count } = entries;
    const wanted = Math.min(limit, count - offset);
    if (wanted <= 0) return { count, texts: [] };
    const isFarther = offset > count - offset - wanted;
    const skipped = isFarther ? count - offset - wanted : offset;
    const objects = objectsIn(entries, { offset: skipped, limit: wanted, descending: descending !== isFarther });
    if (isFarther) objects.reverse();
    return { count, texts: objects.map((object) => String(statements.text.get(object)?.text)) };
  }

  function objectsIn({ ordering, owner, equals }: Entries, { offset, limit, descending }: PageRange): number[] {
    const direction = descending ? statements.descending : statements.ascending;
    const rows =
      equals === undefined
        ? direction.all.all(ordering, owner, limit, offset)
        : direction.equal.all(ordering, owner, equals, limit, offset);
    return rows.map(({ object }) => Number(object));
  }

  return {
    pageByCreation: (ref, visible, range) =>
      transactions.read("pageByCreation", () => pageByCreation(ref, visible, range)),
    pageByField: (ref, visible, query, range) =>
      transactions.read("pageByField", () => pageByField(ref, visible, query, range)),
    count: (ref, visible) =>
      transactions.read("count", () => {
        const collection = collections.find(ref);
        return (collection && collections.owner(collection, visible)?.objects) ?? 0;
      }),
  };
}

function readyOrdering({ indexes }: Collection, name: string): number | undefined {
  return indexes.find(({ field, state }) => field.name === name && state === "ready")?.ordering;
}

interface Direction {
  readonly all: StatementSync;
  readonly equal: StatementSync;
}

function prepare(database: DatabaseSync) {
  const range = "LIMIT ? OFFSET ?";
  const direction = (order: "ASC" | "DESC"): Direction => ({
    all: database.prepare(
      `SELECT object FROM entries WHERE ordering = ? AND owner = ? ORDER BY value ${order}, id ${order} ${range}`,
    ),
    equal: database.prepare(
      `SELECT object FROM entries WHERE ordering = ? AND owner = ? AND value = ? ORDER BY id ${order} ${range}`,
    ),
  });
  return {
    ascending: direction("ASC"),
    descending: direction("DESC"),
    count: database.prepare("SELECT COUNT(*) AS entries FROM entries WHERE ordering = ? AND owner = ? AND value = ?"),
    text: database.prepare("SELECT text FROM objects WHERE object = ?"),
  };
}
