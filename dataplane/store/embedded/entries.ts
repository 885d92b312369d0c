// Keeps the entries of objects consistent with their texts, by creation and in every index, for
// everyone and for the owner, and reads objects in order of creation. Runs inside a transaction.
// Encoding an object's stored text finds its entries.

import type { DatabaseSync } from "node:sqlite";
import type { UniqueRule } from "../../../core/config/types.ts";
import { valueAt } from "../../../core/json/members.ts";
import { entryValue, ruleOf } from "../entry-values.ts";
import type { StoreIndex } from "../ports/indexes.ts";
import type { Collection, Ordering } from "./collections.ts";

export interface ObjectRow {
  readonly objectId: number;
  readonly id: string;
  readonly ownerId: number;
  readonly text: string;
}

/** Where a batch ends, so that no single call holds the event loop for long. */
export interface BatchBounds {
  readonly objects: number;
  readonly characters: number;
}

export interface Batch {
  readonly objects: readonly ObjectRow[];
  /** The last object's id when there may be more after it. */
  readonly next: string | undefined;
}

export interface Entries {
  add(collection: Collection, object: ObjectRow): void;
  /**
   * The first unique rule by which an object has these values already; `before` = the text that
   * `text` replaces, whose values an object may keep.
   */
  brokenRule(collection: Collection, text: string, before?: string): UniqueRule | undefined;
  remove(collection: Collection, object: ObjectRow): void;
  /** Moves the entries of the indexes whose value differs between the two texts. */
  move(collection: Collection, object: ObjectRow, newText: string): void;
  /** Adds an existing object's entries to these indexes, unless they are there. */
  addTo(indexes: readonly Ordering[], collection: Collection, object: ObjectRow): void;
  /** The objects of `owner` after the id `after` (`""` = from the start), at least one. */
  batch(collection: Collection, owner: number, after: string, bounds: BatchBounds): Batch;
}

export function createEntries(database: DatabaseSync): Entries {
  const insertSql = "INSERT INTO entries (ordering, owner, value, id, object) VALUES (?, ?, ?, ?, ?)";
  /** Fails on an entry that exists: two objects of one id must not pass silently. */
  const insert = database.prepare(insertSql);
  const insertIfMissing = database.prepare(`${insertSql} ON CONFLICT DO NOTHING`);
  const drop = database.prepare("DELETE FROM entries WHERE ordering = ? AND owner = ? AND value = ? AND id = ?");
  const taken = database.prepare("SELECT 1 FROM entries WHERE ordering = ? AND owner = ? AND value = ? LIMIT 1");
  const objectsAfter = database.prepare(
    `SELECT e.object AS objectId, e.id, o.owner AS ownerId, o.text FROM entries AS e CROSS JOIN objects AS o ON o.object = e.object
      WHERE e.ordering = ? AND e.owner = ? AND e.value = '' AND e.id > ? ORDER BY e.id LIMIT ?`,
  );

  type Row = readonly [orderingId: number, owner: number, value: string, id: string];

  /** In the ordering by creation, and in that of each index. */
  function rowsOf(collection: Collection, object: ObjectRow): readonly Row[] {
    const { creation, everyone, indexes } = collection;
    const byCreation = [everyone, object.ownerId].map((owner): Row => [creation, owner, "", object.id]);
    return [...byCreation, ...indexes.flatMap((index) => rowsIn(index, collection, object, object.text))];
  }

  /** None where the index leaves the object out; only indexes of lists have those of owners. */
  function rowsIn({ orderingId, field }: Ordering, { everyone }: Collection, row: ObjectRow, text: string) {
    const value = valueIn(field, text);
    if (value === undefined) return [];
    const owners = field.purpose === undefined ? [everyone, row.ownerId] : [everyone];
    return owners.map((owner): Row => [orderingId, owner, value, row.id]);
  }

  return {
    add(collection, object) {
      for (const row of rowsOf(collection, object)) insert.run(...row, object.objectId);
    },
    brokenRule({ indexes, everyone }, text, before) {
      const broken = indexes.find(({ orderingId, field }) => {
        const value = ruleOf(field) && valueIn(field, text);
        if (value === undefined || (before !== undefined && valueIn(field, before) === value)) return false;
        return taken.get(orderingId, everyone, value) !== undefined;
      });
      return broken && ruleOf(broken.field);
    },
    remove(collection, object) {
      // Nothing to delete where an index is building and has not come to this object.
      for (const row of rowsOf(collection, object)) drop.run(...row);
    },
    move(collection, object, newText) {
      for (const index of collection.indexes) {
        // While it is building, it gets the entries of all objects that are written.
        const isReady = index.state === "ready";
        if (isReady && valueIn(index.field, object.text) === valueIn(index.field, newText)) continue;
        for (const row of rowsIn(index, collection, object, object.text)) drop.run(...row);
        for (const row of rowsIn(index, collection, object, newText)) insert.run(...row, object.objectId);
      }
    },
    addTo(indexes, collection, object) {
      for (const index of indexes) {
        for (const row of rowsIn(index, collection, object, object.text)) insertIfMissing.run(...row, object.objectId);
      }
    },
    batch({ creation }, owner, after, bounds) {
      const objects: ObjectRow[] = [];
      let characters = 0;
      for (const row of objectsAfter.iterate(creation, owner, after, bounds.objects)) {
        const object = row as unknown as ObjectRow;
        objects.push(object);
        characters += object.text.length;
        if (characters >= bounds.characters) break;
      }
      const isFull = objects.length === bounds.objects || characters >= bounds.characters;
      return { objects, next: isFull ? objects.at(-1)?.id : undefined };
    },
  };
}

function valueIn(field: StoreIndex, text: string): string | undefined {
  return entryValue(field, (path) => valueAt(text, path));
}
