// Finds a collection's row, its orderings and its owners. Rows of collections are cached, because
// every call needs them; `forget` empties the cache when a transaction was undone.

import type { DatabaseSync } from "node:sqlite";
import type { FieldPath } from "../../../core/config/types.ts";
import { hasSameEntries } from "../order.ts";
import type { IndexState, StoreIndex } from "../ports/indexes.ts";
import type { CollectionRef, Owner, Visibility } from "../ports/refs.ts";

/** An index, and the number under which its entries stand. */
export interface Ordering extends IndexState {
  readonly orderingId: number;
  /** Existing objects up to this id have their entries. */
  readonly builtTo: string;
}

export interface Collection {
  readonly collectionId: number;
  /** The newest declaration; undefined before the first. */
  readonly revision: number | undefined;
  /** The ordering by creation. */
  readonly creation: number;
  /** The number that stands for everyone. */
  readonly everyone: number;
  readonly indexes: readonly Ordering[];
}

export interface OwnerRow {
  readonly ownerId: number;
  readonly objects: number;
  /** UTF-8 bytes of their texts. */
  readonly bytes: number;
}

export interface Collections {
  find(ref: CollectionRef): Collection | undefined;
  /** Finds, or adds an empty one; only inside a write. */
  ensure(ref: CollectionRef): Collection;
  /** The number and size of what `visible` shows; undefined when that is nothing. */
  owner(collection: Collection, visible: Visibility): OwnerRow | undefined;
  ensureOwner(collection: Collection, owner: Owner): OwnerRow;
  ownerName(ownerId: number): Owner;
  /** Adds `change` to the numbers of each of these owners. */
  resize(owners: readonly number[], change: Omit<OwnerRow, "ownerId">): void;
  /**
   * Makes `fields` the indexes: existing ones stay, others are dropped, new ones are to be built.
   */
  declare(ref: CollectionRef, revision: number, fields: readonly StoreIndex[]): void;
  /** Records up to which id an index has been built; undefined = completely. */
  advance(ref: CollectionRef, index: Ordering, builtTo: string | undefined): void;
  /** Removes the row of an empty collection, with everything that was declared for it. */
  delete(ref: CollectionRef): void;
  forget(): void;
}

const everyoneName = "";

export function createCollections(database: DatabaseSync): Collections {
  const statements = prepare(database);
  const known = new Map<string, Collection>();

  function find(ref: CollectionRef): Collection | undefined {
    const key = keyOf(ref);
    const found = known.get(key) ?? load(ref);
    if (found !== undefined) known.set(key, found);
    return found;
  }

  function load({ project, resource }: CollectionRef): Collection | undefined {
    const row = statements.find.get(project.namespace, project.name, resource);
    if (row === undefined) return undefined;
    const collectionId = Number(row.collection);
    const orderings = statements.orderings.all(collectionId);
    const creation = orderings.find(({ name }) => name === null);
    const everyone = statements.owner.get(collectionId, everyoneName);
    if (creation === undefined || everyone === undefined) throw new Error("A collection has no ordering by creation");
    return {
      collectionId,
      revision: row.revision === null ? undefined : Number(row.revision),
      creation: Number(creation.ordering),
      everyone: Number(everyone.owner),
      indexes: orderings.filter(({ name }) => name !== null).map(asOrdering),
    };
  }

  function ensure(ref: CollectionRef): Collection {
    const found = find(ref);
    if (found !== undefined) return found;
    const { project, resource } = ref;
    const collectionId = Number(statements.add.run(project.namespace, project.name, resource).lastInsertRowid);
    statements.addOrdering.run(collectionId, null, null, "ready");
    statements.addOwner.run(collectionId, everyoneName);
    const added = load(ref);
    if (added === undefined) throw new Error("A collection that was just added is gone");
    known.set(keyOf(ref), added);
    return added;
  }

  function owner({ collectionId }: Collection, visible: Visibility): OwnerRow | undefined {
    const row = statements.owner.get(collectionId, visible.owner ?? everyoneName);
    if (row === undefined) return undefined;
    return { ownerId: Number(row.owner), objects: Number(row.objects), bytes: Number(row.bytes) };
  }

  return {
    find,
    ensure,
    owner,
    ensureOwner(collection, name) {
      const found = owner(collection, { owner: name });
      if (found !== undefined) return found;
      const { lastInsertRowid } = statements.addOwner.run(collection.collectionId, name);
      return { ownerId: Number(lastInsertRowid), objects: 0, bytes: 0 };
    },
    ownerName: (ownerId) => String(statements.ownerByNumber.get(ownerId)?.name),
    resize(owners, change) {
      for (const number of owners) statements.resize.run(change.objects, change.bytes, number);
    },
    declare(ref, revision, fields) {
      const { collectionId, everyone, indexes } = ensure(ref);
      const isEmpty = Number(statements.ownerByNumber.get(everyone)?.objects) === 0;
      const dropped = indexes.filter(({ field }) => !includes(fields, field));
      const declared = indexes.map(({ field }) => field);
      const added = fields.filter((field) => !includes(declared, field));
      for (const { orderingId } of dropped) {
        statements.dropEntries.run(orderingId);
        statements.drop.run(orderingId);
      }
      // Nothing is left to build in an empty collection.
      if (isEmpty) statements.readyAll.run(collectionId);
      for (const field of added) {
        statements.addOrdering.run(collectionId, field.name, pathText(field), isEmpty ? "ready" : "building");
      }
      statements.revise.run(revision, collectionId);
      known.delete(keyOf(ref));
    },
    advance(ref, { orderingId, builtTo: before }, builtTo) {
      statements.advance.run(builtTo ?? before, builtTo === undefined ? "ready" : "building", orderingId);
      known.delete(keyOf(ref));
    },
    delete(ref) {
      const found = find(ref);
      if (found === undefined) return;
      statements.dropAll.run(found.collectionId);
      statements.deleteOwners.run(found.collectionId);
      statements.delete.run(found.collectionId);
      known.delete(keyOf(ref));
    },
    forget: () => known.clear(),
  };
}

function prepare(database: DatabaseSync) {
  return {
    find: database.prepare(
      "SELECT collection, revision FROM collections WHERE namespace = ? AND project = ? AND resource = ?",
    ),
    add: database.prepare("INSERT INTO collections (namespace, project, resource) VALUES (?, ?, ?)"),
    revise: database.prepare("UPDATE collections SET revision = ? WHERE collection = ?"),
    delete: database.prepare("DELETE FROM collections WHERE collection = ?"),
    orderings: database.prepare(
      `SELECT ordering, name, path, state, built_to AS builtTo FROM orderings
        WHERE collection = ? ORDER BY ordering`,
    ),
    addOrdering: database.prepare("INSERT INTO orderings (collection, name, path, state) VALUES (?, ?, ?, ?)"),
    advance: database.prepare("UPDATE orderings SET built_to = ?, state = ? WHERE ordering = ?"),
    readyAll: database.prepare("UPDATE orderings SET state = 'ready' WHERE collection = ? AND state = 'building'"),
    drop: database.prepare("DELETE FROM orderings WHERE ordering = ?"),
    dropEntries: database.prepare("DELETE FROM entries WHERE ordering = ?"),
    dropAll: database.prepare("DELETE FROM orderings WHERE collection = ?"),
    owner: database.prepare("SELECT owner, objects, bytes FROM owners WHERE collection = ? AND name = ?"),
    ownerByNumber: database.prepare("SELECT name, objects FROM owners WHERE owner = ?"),
    addOwner: database.prepare("INSERT INTO owners (collection, name, objects) VALUES (?, ?, 0)"),
    resize: database.prepare("UPDATE owners SET objects = objects + ?, bytes = bytes + ? WHERE owner = ?"),
    deleteOwners: database.prepare("DELETE FROM owners WHERE collection = ?"),
  };
}

function asOrdering(row: Record<string, unknown>): Ordering {
  return {
    orderingId: Number(row.ordering),
    field: fieldOf(String(row.name), String(row.path)),
    state: row.state === "ready" ? "ready" : "building",
    builtTo: String(row.builtTo),
  };
}

/** A path, or the two fields of an index of two; with a purpose, everything but the name. */
function pathText({ name: _, ...index }: StoreIndex): string {
  return JSON.stringify(index.purpose === undefined ? (index.parts ?? index.path) : index);
}

function fieldOf(name: string, pathText: string): StoreIndex {
  const parsed = JSON.parse(pathText) as string[] | [FieldPath, FieldPath] | Omit<StoreIndex, "name">;
  if (!Array.isArray(parsed)) return { name, ...parsed };
  const [first, second] = parsed;
  return typeof first === "object" && typeof second === "object"
    ? { name, path: first.path, parts: [first, second] }
    : { name, path: parsed as string[] };
}

function includes(fields: readonly StoreIndex[], wanted: StoreIndex): boolean {
  return fields.some((field) => field.name === wanted.name && hasSameEntries(field, wanted));
}

function keyOf({ project, resource }: CollectionRef): string {
  return JSON.stringify([project.namespace, project.name, resource]);
}
