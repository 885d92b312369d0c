// Single objects and scans: create, read, compare-and-set, remove, scan, purge. Refuses as the port
// says.

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../../core/clock.ts";
import { hasExpired } from "../expiry.ts";
import type { ObjectLists } from "../ports/lists.ts";
import type {
  CreateOutcome,
  NewObject,
  ObjectReads,
  ObjectWrites,
  RemoveOutcome,
  ReplaceOutcome,
  StoredObject,
} from "../ports/objects.ts";
import type { CollectionPurges, PurgeStep } from "../ports/purges.ts";
import type { CollectionRef, Owner, Visibility } from "../ports/refs.ts";
import type { ChangeTable } from "./change-logs.ts";
import type { Collection, Collections } from "./collections.ts";
import type { Batch, Entries, ObjectRow } from "./entries.ts";
import type { RecordTable } from "./idempotency-records.ts";
import type { TextReader } from "./text-reader.ts";
import type { Transactions } from "./transactions.ts";

export interface ObjectDeps {
  readonly database: DatabaseSync;
  readonly transactions: Transactions;
  readonly collections: Collections;
  readonly entries: Entries;
  readonly records: RecordTable;
  readonly texts: TextReader;
  readonly changes: ChangeTable;
  readonly clock: Clock;
}

type Objects = ObjectReads & ObjectWrites & CollectionPurges & Pick<ObjectLists, "scan">;

const scanBatch = { objects: 500, characters: 512 * 1024 };

export function createObjects(deps: ObjectDeps): Objects {
  const { database, transactions, collections, entries, records, changes, clock } = deps;
  const statements = prepare(database);
  const removeStored = createRemoval(deps);

  /** The object of this id, by way of the owner's own order of creation when one is given. */
  function find(collection: Collection, id: string, visible: Visibility): ObjectRow | undefined {
    const viewer = viewerOf(collections, collection, visible);
    if (viewer === undefined) return undefined;
    return statements.find.get(collection.creation, viewer, id) as ObjectRow | undefined;
  }

  function create(ref: CollectionRef, { id, owner, text }: NewObject, maxObjects: number): CreateOutcome {
    const collection = collections.ensure(ref);
    if ((collections.owner(collection, {})?.objects ?? 0) >= maxObjects) return { outcome: "quota_exceeded" };
    const rule = entries.brokenRule(collection, text);
    if (rule !== undefined) return { outcome: "not_unique", rule };
    if (find(collection, id, {}) !== undefined) return { outcome: "exists" };
    const row = collections.ensureOwner(collection, owner);
    const objectId = Number(statements.insert.run(row.ownerId, text).lastInsertRowid);
    entries.add(collection, { objectId, id, ownerId: row.ownerId, text });
    collections.resize([collection.everyone, row.ownerId], { objects: 1, bytes: Buffer.byteLength(text) });
    changes.add(ref, "put", () => ({ id, owner }));
    return { outcome: "created", text };
  }

  function hasEnded({ expiry }: CollectionRef, { text }: StoredObject): boolean {
    return expiry !== undefined && hasExpired(expiry, text, clock.now());
  }

  function replace(ref: CollectionRef, { id, owner, text }: NewObject, previous: StoredObject): ReplaceOutcome {
    const collection = collections.find(ref);
    const stored = collection && find(collection, id, {});
    if (collection === undefined || stored === undefined) return { outcome: "not_found" };
    if (stored.text !== previous.text) return { outcome: "conflict" };
    if (hasEnded(ref, stored)) return { outcome: "not_found" };
    const rule = entries.brokenRule(collection, text, stored.text);
    if (rule !== undefined) return { outcome: "not_unique", rule };
    entries.move(collection, stored, text);
    statements.update.run(text, stored.objectId);
    const bytes = Buffer.byteLength(text) - Buffer.byteLength(stored.text);
    if (bytes !== 0) collections.resize([collection.everyone, stored.ownerId], { objects: 0, bytes });
    changes.add(ref, "put", () => ({ id, owner }));
    return { outcome: "replaced", text };
  }

  function remove(ref: CollectionRef, id: string, visible: Visibility, previous?: StoredObject): RemoveOutcome {
    const collection = collections.find(ref);
    const stored = collection && find(collection, id, visible);
    if (collection === undefined || stored === undefined) return "not_found";
    if (previous !== undefined && stored.text !== previous.text) return "conflict";
    removeStored(collection, stored);
    changes.add(ref, "delete", () => ({ id, owner: collections.ownerName(stored.ownerId) }));
    return "removed";
  }

  function purge(ref: CollectionRef, identity: string, batch: number): PurgeStep {
    const collection = collections.find(ref);
    if (collection === undefined || identityOf(collection) !== identity) return "gone";
    const bounds = { objects: batch, characters: Number.POSITIVE_INFINITY };
    const { objects } = entries.batch(collection, collection.everyone, "", bounds);
    for (const object of objects) removeStored(collection, object);
    // It would have a gap: these objects leave no entries.
    changes.deleteLog(ref);
    if ((collections.owner(collection, {})?.objects ?? 0) > 0) return "more";
    collections.delete(ref);
    return "done";
  }

  function batchAfter(ref: CollectionRef, owner: Owner | undefined, id: string): Batch {
    const collection = collections.find(ref);
    const viewer = collection && viewerOf(collections, collection, owner === undefined ? {} : { owner });
    if (collection === undefined || viewer === undefined) return { objects: [], next: undefined };
    return entries.batch(collection, viewer, id, scanBatch);
  }

  return {
    create: (ref, object, maxObjects) =>
      transactions.write(() => records.once<CreateOutcome>(ref, object.record, () => create(ref, object, maxObjects))),
    read: (ref, id, visible) =>
      transactions.read(() => {
        const collection = collections.find(ref);
        const stored = collection && find(collection, id, visible);
        return stored && { text: stored.text };
      }),
    replace: (ref, object, previous) => transactions.write(() => replace(ref, object, previous)),
    remove: (ref, id, visible) => transactions.write(() => remove(ref, id, visible) === "removed"),
    removeUnchanged: (ref, id, previous) => transactions.write(() => remove(ref, id, {}, previous)),
    collectionIdentity: (ref) => transactions.read(() => identityOf(collections.find(ref))),
    purge: (ref, identity, batch) => transactions.write(() => purge(ref, identity, batch)),
    scan: (ref, { owner }, { after = "" } = {}) =>
      textsOf(after, (from) => transactions.read(() => batchAfter(ref, owner, from))),
  };
}

/** Removes an object with its entries, in the transaction of the caller, who logs the change. */
export function createRemoval({ database, collections, entries }: ObjectDeps) {
  const statement = database.prepare("DELETE FROM objects WHERE object = ?");
  return (collection: Collection, stored: ObjectRow): void => {
    entries.remove(collection, stored);
    statement.run(stored.objectId);
    const bytes = -Buffer.byteLength(stored.text);
    collections.resize([collection.everyone, stored.ownerId], { objects: -1, bytes });
  };
}

async function* textsOf(after: string, batchAfter: (id: string) => Promise<Batch>): AsyncIterable<readonly string[]> {
  for (let from: string | undefined = after; from !== undefined; ) {
    // Others are served between two batches.
    if (from !== after) await nextTurn();
    const { objects, next }: Batch = await batchAfter(from);
    if (objects.length > 0) yield objects.map(({ text }) => text);
    from = next;
  }
}

function viewerOf(collections: Collections, collection: Collection, visible: Visibility): number | undefined {
  return visible.owner === undefined ? collection.everyone : collections.owner(collection, visible)?.ownerId;
}

/** Numbers of owners are never used again. */
function identityOf(collection: Collection | undefined): string | undefined {
  return collection?.everyone.toString();
}

function prepare(database: DatabaseSync) {
  const object = "e.object AS objectId, e.id, o.owner AS ownerId, o.text";
  const joined = "entries AS e CROSS JOIN objects AS o ON o.object = e.object";
  return {
    insert: database.prepare("INSERT INTO objects (owner, text) VALUES (?, ?)"),
    update: database.prepare("UPDATE objects SET text = ? WHERE object = ?"),
    find: database.prepare(
      `SELECT ${object} FROM ${joined} WHERE e.ordering = ? AND e.owner = ? AND e.value = '' AND e.id = ?`,
    ),
  };
}
