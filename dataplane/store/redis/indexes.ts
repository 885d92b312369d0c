// Declares a collection's indexes and builds them over existing objects in small steps. Every step is one script that checks what the
// step was computed from, so that it can be cut anywhere and taken up by another replica.

import { randomBytes } from "node:crypto";
import type { IndexField } from "../../../core/config/types.ts";
import type { ObjectIndexes } from "../ports/indexes.ts";
import type { BuildBatch, BuiltObject, IndexScripts } from "./index-scripts.ts";
import { allReady, encodedValues, type IndexSet, indexStates, nextIndexSet, type StoredIndex } from "./index-set.ts";
import type { IndexSetCache } from "./index-set-cache.ts";
import { type CollectionKeys, collectionKeys, separator } from "./keys.ts";
import { sha1 } from "./objects.ts";

/** A builder that died is followed by another one after this time. */
const lockMilliseconds = 5_000;
/** Bytes, entries and objects of one step, each of which holds Redis for three or four milliseconds. */
const bytesPerStep = 512 * 1024;
const entriesPerStep = 250;
const objectsPerStep = 100;

export interface IndexDeps {
  readonly scripts: IndexScripts;
  readonly indexSetCache: IndexSetCache;
}

export function createIndexes(deps: IndexDeps): ObjectIndexes {
  const { scripts, indexSetCache } = deps;
  // Tells this replica's lock from others'.
  const token = randomToken();
  return {
    async declareIndexes(collection, fields, revision) {
      const keys = collectionKeys(collection);
      await indexSetCache.reload(keys);
      const indexes = await indexSetCache.retryWhileStale(keys, (set) =>
        revision > set.revision
          ? replaceIndexSet(scripts, keys, set, { fields, revision })
          : Promise.resolve(set.indexes),
      );
      indexSetCache.forget(keys);
      return indexStates(indexes);
    },
    async indexes(collection) {
      return indexStates((await indexSetCache.reload(collectionKeys(collection))).indexes);
    },
    async buildIndexes(collection) {
      const keys = collectionKeys(collection);
      const building = buildingOf((await indexSetCache.get(keys)).indexes);
      const maxObjects = Math.min(objectsPerStep, Math.ceil(entriesPerStep / Math.max(1, building.length)));
      const batch = await scripts.beginBuild({ keys, token, lockMilliseconds, maxObjects, maxBytes: bytesPerStep });
      if (batch.outcome !== "more") return batch.outcome;
      const progress = await addBatch(scripts, keys, token, batch);
      if (progress === "stale" || progress === "done") indexSetCache.forget(keys);
      return progress === "stale" ? "more" : progress;
    },
  };
}

interface IndexDeclaration {
  readonly fields: readonly IndexField[];
  readonly revision: number;
}

/** Puts `fields` in the place of the set's own; `stale` when that one is no longer in force. */
export function replaceIndexSet(
  scripts: IndexScripts,
  keys: CollectionKeys,
  set: IndexSet,
  { fields, revision }: IndexDeclaration,
) {
  const declaration = nextIndexSet(set, fields);
  // Random, so that a version never comes back: not even after a purge that began the numbering anew.
  const newVersion = declaration.isSame ? set.version : randomToken();
  return scripts.declare({ keys, version: set.version, newVersion, revision, declaration });
}

function buildingOf(indexes: readonly StoredIndex[]): readonly StoredIndex[] {
  return indexes.filter(({ state }) => state === "building");
}

function addBatch(scripts: IndexScripts, keys: CollectionKeys, token: string, batch: BuildBatch & { outcome: "more" }) {
  const { version, indexes, objects, isLast } = batch;
  const building = buildingOf(indexes);
  // A member without an object would be a trace of a foreign hand: there is nothing to index.
  const built = objects.filter(({ text }) => text !== "").map((object) => builtObject(object, building));
  const cursor = objects.at(-1)?.member ?? "";
  const ready = isLast ? allReady(indexes) : undefined;
  return scripts.addEntries({ keys, token, version, building, objects: built, cursor, built: ready });
}

function builtObject(
  object: { readonly member: string; readonly text: string },
  building: readonly StoredIndex[],
): BuiltObject {
  const { member, text } = object;
  return { ...idAndOwner(member), hash: sha1(text), values: encodedValues(building, text) };
}

/** A member of ids is `<id> 0 <owner>`. */
export function idAndOwner(member: string): { readonly id: string; readonly owner: string } {
  const end = member.indexOf(separator);
  return { id: member.slice(0, end), owner: member.slice(end + separator.length) };
}

function randomToken(): string {
  return randomBytes(8).toString("hex");
}
