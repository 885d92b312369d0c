// Keeps the entries of objects true: by creation and in every index, for everyone and for the owner. Runs inside a write;
// an object's entries are found again by encoding its stored text.

import type { DatabaseSync } from "node:sqlite";
import type { IndexField } from "../../../core/config/types.ts";
import { encodeIndexed, fieldValue } from "../order.ts";
import type { Collection, Ordering } from "./collections.ts";
import type { RankCheckpoints } from "./rank-checkpoints.ts";

export interface Indexed {
  readonly object: number;
  readonly id: string;
  readonly owner: number;
  readonly text: string;
}

export interface Entries {
  add(collection: Collection, object: Indexed): void;
  remove(collection: Collection, object: Indexed): void;
  /** Moves the entries of the indexes whose value differs between the two texts. */
  move(collection: Collection, object: Indexed, newText: string): void;
  /** Adds an existing object's entries to these indexes, unless they are there. */
  addTo(indexes: readonly Ordering[], collection: Collection, object: Indexed): void;
}

export function createEntries(database: DatabaseSync, checkpoints: RankCheckpoints): Entries {
  const insertSql = "INSERT INTO entries (ordering, owner, value, id, object) VALUES (?, ?, ?, ?, ?)";
  /** Fails on an entry that exists: two objects of one id must not pass silently. */
  const insert = database.prepare(insertSql);
  const insertIfMissing = database.prepare(`${insertSql} ON CONFLICT DO NOTHING`);
  const drop = database.prepare("DELETE FROM entries WHERE ordering = ? AND owner = ? AND value = ? AND id = ?");

  function insertBoth(ordering: number, { everyone }: Collection, value: string, indexed: Indexed): void {
    const { id, object } = indexed;
    for (const owner of [everyone, indexed.owner]) {
      insert.run(ordering, owner, value, id, object);
      checkpoints.added({ ordering, owner }, value, id);
    }
  }

  function dropBoth(ordering: number, { everyone }: Collection, value: string, indexed: Indexed): void {
    const { id } = indexed;
    for (const owner of [everyone, indexed.owner]) {
      // Nothing to delete where an index is building and has not come to this object; such a list has no checkpoints either.
      drop.run(ordering, owner, value, id);
      checkpoints.removed({ ordering, owner }, value, id);
    }
  }

  return {
    add(collection, object) {
      insertBoth(collection.creation, collection, "", object);
      for (const { ordering, field } of collection.indexes) {
        insertBoth(ordering, collection, encodedAt(object.text, field), object);
      }
    },
    remove(collection, object) {
      dropBoth(collection.creation, collection, "", object);
      for (const { ordering, field } of collection.indexes) {
        dropBoth(ordering, collection, encodedAt(object.text, field), object);
      }
    },
    move(collection, object, newText) {
      for (const { ordering, field } of collection.indexes) {
        const [before, after] = [encodedAt(object.text, field), encodedAt(newText, field)];
        // Equal ones may have no entry yet while the index is building, which then adds it.
        if (before === after) continue;
        dropBoth(ordering, collection, before, object);
        insertBoth(ordering, collection, after, object);
      }
    },
    addTo(indexes, collection, object) {
      for (const { ordering, field } of indexes) {
        const value = encodedAt(object.text, field);
        for (const owner of [collection.everyone, object.owner]) {
          insertIfMissing.run(ordering, owner, value, object.id, object.object);
        }
      }
    },
  };
}

function encodedAt(text: string, field: IndexField): string {
  return encodeIndexed(field, (path) => fieldValue(text, path));
}
