// Removes expired objects, by the process's own clock. Which collections have some is in the
// tables; when each is to be taken next is in memory, since one process has the database.

import type { DatabaseSync } from "node:sqlite";
import { decodedTime, encodedTime, isOfExpiry } from "../expiry.ts";
import type { Expiry, ExpiryStep, ObjectExpiry } from "../ports/expiry.ts";
import { type CollectionRef, nameOfCollection } from "../ports/refs.ts";
import type { Collection } from "./collections.ts";
import type { ObjectRow } from "./entries.ts";
import { createRemoval, type ObjectDeps } from "./objects.ts";

/** Removing so many takes some milliseconds. */
const objectsPerStep = 200;

export function createExpiry(deps: ObjectDeps): ObjectExpiry {
  const { database, transactions, collections, changes, clock } = deps;
  const statements = prepare(database);
  const removeStored = createRemoval(deps);
  /** Unix milliseconds; a collection that is not here is to be taken. */
  const takenUntil = new Map<string, number>();

  function find(ref: CollectionRef): readonly [Collection, ordering: number] | undefined {
    const collection = collections.find(ref);
    const index = collection?.indexes.find(({ field }) => isOfExpiry(field, ref.expiry));
    return collection && index && [collection, index.orderingId];
  }

  function next(ref: CollectionRef): Expiry | undefined {
    const found = find(ref);
    if (found === undefined) return undefined;
    const first = statements.first.get(found[1], found[0].everyone);
    return { now: clock.now(), next: first && decodedTime(String(first.value)) };
  }

  function removeSome(ref: CollectionRef): ExpiryStep {
    const step = next(ref);
    const found = find(ref);
    if (step === undefined || found === undefined) return { now: clock.now(), next: undefined, removed: 0 };
    const [collection, ordering] = found;
    const rows = statements.expired.all(ordering, collection.everyone, encodedTime(step.now), objectsPerStep);
    for (const row of rows) {
      const stored = row as unknown as ObjectRow;
      removeStored(collection, stored);
      changes.add(ref, "delete", () => ({ id: stored.id, owner: collections.ownerName(stored.ownerId) }));
    }
    return { ...step, removed: rows.length };
  }

  return {
    removeExpired: (ref) => transactions.write(() => removeSome(ref)),
    nextExpiry: (ref) => transactions.read(() => next(ref)),
    async noteExpiring(ref, at) {
      const name = nameOfCollection(ref);
      const noted = takenUntil.get(name);
      if (at !== undefined || noted === undefined) takenUntil.set(name, Math.min(at ?? 0, noted ?? Infinity));
    },
    takeExpiring: (max, takenMs) =>
      transactions.read(() => {
        const now = clock.now();
        const until = now + takenMs;
        const due = statements.expiring
          .all()
          .map(refOf)
          .filter((ref) => (takenUntil.get(nameOfCollection(ref)) ?? 0) <= now)
          .slice(0, max);
        for (const ref of due) takenUntil.set(nameOfCollection(ref), until);
        return due.map((collection) => ({ collection, until }));
      }),
    async takeAgain({ collection, until }, inMs) {
      const name = nameOfCollection(collection);
      if (takenUntil.get(name) !== until) return undefined;
      const again = inMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + inMs;
      takenUntil.set(name, again);
      return inMs === undefined ? undefined : { collection, until: again };
    },
  };
}

function refOf(row: Record<string, unknown>): CollectionRef {
  const project = { namespace: String(row.namespace), name: String(row.project) };
  return { project, resource: String(row.resource) };
}

function prepare(database: DatabaseSync) {
  return {
    first: database.prepare("SELECT value FROM entries WHERE ordering = ? AND owner = ? ORDER BY value, id LIMIT 1"),
    expired: database.prepare(
      `SELECT e.object AS objectId, e.id, o.owner AS ownerId, o.text FROM entries AS e CROSS JOIN objects AS o ON o.object = e.object
        WHERE e.ordering = ? AND e.owner = ? AND e.value <= ? ORDER BY e.value, e.id LIMIT ?`,
    ),
    expiring: database.prepare(
      `SELECT DISTINCT namespace, project, resource FROM orderings JOIN collections USING (collection)
        WHERE path LIKE '{%' AND json_extract(path, '$.purpose.expiry') IS NOT NULL`,
    ),
  };
}
