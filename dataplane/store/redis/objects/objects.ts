// Single objects in Redis JSON: created, replaced and removed together with their index entries in
// one script each, which compares the text it replaces and the version of the indexes it knows.
// Refuses as the port says, and with WriteConflict when others change an object faster than it can
// be removed.

import { hash } from "node:crypto";
import type { Clock } from "../../../../core/clock.ts";
import { WriteConflict } from "../../../../core/errors/store-errors.ts";
import { valueAt } from "../../../../core/json/members.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../../conflicts.ts";
import { encodedExpiry } from "../../expiry.ts";
import type { NewObject, ObjectReads, ObjectWrites } from "../../ports/objects.ts";
import type { CollectionRef } from "../../ports/refs.ts";
import type { IndexSetCache } from "../indexes/index-scripts.ts";
import { encodedValues, type IndexSet, indexMoves } from "../indexes/index-set.ts";
import { type CollectionKeys, collectionKeys, separator } from "../keys.ts";
import { code } from "../store-script.ts";
import type { BatchedCreates } from "./batched-creates.ts";
import type { BatchedReads } from "./batched-reads.ts";
import type { IndexEntry, ObjectScripts, OwnedObject } from "./object-scripts.ts";

export interface ObjectDeps {
  readonly batchedReads: BatchedReads;
  readonly batchedCreates: BatchedCreates;
  readonly scripts: ObjectScripts;
  readonly indexSetCache: IndexSetCache;
  readonly clock: Clock;
}

export function createObjects(deps: ObjectDeps): ObjectReads & ObjectWrites {
  const { batchedReads, batchedCreates, scripts, indexSetCache, clock } = deps;
  return {
    async create(collection, object, maxObjects) {
      const keys = collectionKeys(collection);
      const { id, owner, text } = requireNoNul(object);
      const result = await indexSetCache.retryWhileStale(keys, async (set) => {
        requireNotOlder(set, collection);
        const entries = entriesOf(set, text);
        const { version, owners } = set;
        const stored = { keys, version, keepsOwners: owners.areKept, maxObjects, id, owner, text, entries };
        const reply = await batchedCreates.create({ ...stored, record: object.record });
        return reply === code.stale_index_set ? "stale" : reply;
      });
      if (typeof result === "object") return result;
      if (result === code.conflict) return { outcome: "exists" };
      if (result === code.quota_exceeded) return { outcome: "quota_exceeded" };
      batchedReads.rememberSize(keys.objectKey(id), text);
      return { outcome: "created", text };
    },
    async read(collection, id, { owner }) {
      const keys = collectionKeys(collection);
      if (owner !== undefined) {
        const found = await scripts.read(keys, id, owner);
        return found && { text: found.text };
      }
      const text = await batchedReads.read(keys.objectKey(id));
      return text === undefined ? undefined : { text };
    },
    async replace(collection, object, previous) {
      const keys = collectionKeys(collection);
      const { id, owner, text } = requireNoNul(object);
      const { expiry } = collection;
      const expires = expiry && (encodedExpiry(expiry, (path) => valueAt(previous.text, path)) ?? "");
      const result = await indexSetCache.retryWhileStale(keys, async (set) => {
        requireNotOlder(set, collection);
        const moves = indexMoves(set.indexes, previous.text, text);
        const { version, owners } = set;
        const written = { keys, version, keepsOwners: owners.areKept, id, owner, text, moves, expires };
        const reply = await scripts.replace({ ...written, previous: sha1(previous.text) });
        return reply === code.stale_index_set ? "stale" : reply;
      });
      if (typeof result === "object") return result;
      if (result === code.not_found) return { outcome: "not_found" };
      if (result === code.conflict) return { outcome: "conflict" };
      batchedReads.rememberSize(keys.objectKey(id), text);
      return { outcome: "replaced", text };
    },
    async remove(collection, id, { owner }) {
      const keys = collectionKeys(collection);
      const deadline = clock.monotonic() + conflictBudgetMs;
      for (let attempts = 1; ; attempts += 1) {
        const found = await scripts.read(keys, id, owner);
        if (found === undefined) return false;
        const result = await removeFound(deps, keys, id, found);
        if (result !== code.conflict) return result === code.done;
        if (clock.monotonic() > deadline) throw new WriteConflict(`Others keep changing the object ${id}`);
        await pauseAfterConflict(attempts);
      }
    },
    async removeUnchanged(collection, id, { text }) {
      const keys = collectionKeys(collection);
      const found = await scripts.read(keys, id);
      if (found === undefined) return "not_found";
      const result = found.text === text ? await removeFound(deps, keys, id, found) : code.conflict;
      if (result === code.not_found) return "not_found";
      return result === code.conflict ? "conflict" : "removed";
    },
  };
}

function removeFound({ scripts, indexSetCache }: ObjectDeps, keys: CollectionKeys, id: string, found: OwnedObject) {
  return indexSetCache.retryWhileStale(keys, async (set) => {
    const entries = entriesOf(set, found.text);
    const { version, owners } = set;
    const removed = { keys, version, keepsOwners: owners.areKept, id, owner: found.owner, entries };
    const reply = await scripts.remove({ ...removed, previous: sha1(found.text) });
    return reply === code.stale_index_set ? "stale" : reply;
  });
}

/** A script refuses the version of a set that was read before the least revision was raised. */
function requireNotOlder({ minRevision }: IndexSet, { revision }: CollectionRef): void {
  if (revision !== undefined && revision < minRevision) {
    throw new WriteConflict("A newer configuration decides what may be written, and was not read yet");
  }
}

export function sha1(text: string): string {
  return hash("sha1", text);
}

function entriesOf(set: IndexSet, text: string): readonly IndexEntry[] {
  const values = encodedValues(set.indexes, text);
  return set.indexes.map((index, at) => ({ index, value: values[at] ?? "" }));
}

/** An id or owner with a NUL would run into its neighbour in an index. */
function requireNoNul(object: NewObject): NewObject {
  if (object.id.includes(separator) || object.owner.includes(separator)) {
    throw new RangeError("The id or owner of an object holds a NUL");
  }
  return object;
}
