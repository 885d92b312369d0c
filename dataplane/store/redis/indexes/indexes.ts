// Declares a collection's indexes and builds them over existing objects in small steps, and adds or
// removes owners' entries likewise. Every step is one script that checks what it was computed from,
// so that it can be interrupted anywhere and continued by another replica.

import { randomBytes } from "node:crypto";
import type { ObjectIndexes, OwnersEntries, StoreIndex } from "../../ports/indexes.ts";
import { type CollectionKeys, collectionKeys, separator } from "../keys.ts";
import { sha1 } from "../objects/objects.ts";
import type {
  BuildBatch,
  BuildProgress,
  BuildStep,
  BuiltObject,
  IndexScripts,
  IndexSetCache,
} from "./index-scripts.ts";
import {
  allReady,
  encodedValues,
  type IndexSet,
  indexStates,
  isOfLists,
  isReplacedAt,
  nextIndexSet,
  type StatedIndexes,
  type StoredIndex,
} from "./index-set.ts";

/** A builder that died is followed by another one after this time. */
const lockMilliseconds = 5_000;
/** Bytes, entries and objects of one step, each of which takes Redis three or four milliseconds. */
const bytesPerStep = 512 * 1024;
const entriesPerStep = 250;
const objectsPerStep = 100;

export interface IndexDeps {
  readonly scripts: IndexScripts;
  readonly indexSetCache: IndexSetCache;
}

export function createIndexes(deps: IndexDeps): ObjectIndexes {
  const { scripts, indexSetCache } = deps;
  // Distinguishes this replica's lock from others'.
  const token = randomToken();
  return {
    async declareIndexes(collection, fields, revision, owners = "kept") {
      const keys = collectionKeys(collection);
      await indexSetCache.reload(keys);
      const stated = await indexSetCache.retryWhileStale(keys, (set) =>
        isReplacedAt(revision, set)
          ? replaceIndexSet(scripts, keys, set, { fields, revision, owners })
          : Promise.resolve(statedOf(set)),
      );
      indexSetCache.forget(keys);
      return indexStates(stated);
    },
    async refuseOlderWriters(collection) {
      if (collection.revision !== undefined) {
        await scripts.refuseOlderWriters(collectionKeys(collection), collection.revision, randomToken());
      }
    },
    async indexes(collection) {
      return indexStates(statedOf(await indexSetCache.reload(collectionKeys(collection))));
    },
    async buildIndexes(collection) {
      const keys = collectionKeys(collection);
      const { indexes, cursor } = await indexSetCache.get(keys);
      const entries = cursor === undefined ? indexes.length + 1 : buildingOf(indexes).length;
      const maxObjects = Math.min(objectsPerStep, Math.ceil(entriesPerStep / Math.max(1, entries)));
      const batch = await scripts.beginBuild({ keys, token, lockMilliseconds, maxObjects, maxBytes: bytesPerStep });
      if (batch.outcome !== "more") return batch.outcome;
      const progress = await carryOut(scripts, { keys, token, version: batch.version }, batch);
      if (progress === "stale" || batch.isLast) indexSetCache.forget(keys);
      return progress === "stale" ? "more" : progress;
    },
  };
}

interface IndexDeclaration {
  readonly fields: readonly StoreIndex[];
  readonly revision: number;
  /** As they are, if absent. */
  readonly owners?: OwnersEntries;
}

function statedOf({ indexes, owners }: IndexSet): StatedIndexes {
  return { indexes, isOwnersWalk: owners.cursor !== undefined };
}

/** Puts `fields` in the place of the set's own; `stale` when that one is no longer in force. */
export function replaceIndexSet(
  scripts: IndexScripts,
  keys: CollectionKeys,
  set: IndexSet,
  { fields, revision, owners }: IndexDeclaration,
) {
  const declaration = nextIndexSet(set, fields, owners === undefined ? undefined : owners === "kept");
  // Random, so that a version never comes back, even after a purge that restarts the numbering.
  const newVersion = declaration.isSame ? set.version : randomToken();
  return scripts.declare({ keys, version: set.version, newVersion, revision, declaration });
}

function buildingOf(indexes: readonly StoredIndex[]): readonly StoredIndex[] {
  return indexes.filter(({ state }) => state === "building");
}

type Batch = BuildBatch & { readonly outcome: "more" };

function carryOut(scripts: IndexScripts, step: BuildStep, batch: Batch): Promise<BuildProgress> {
  const { indexes, objects, isLast, keepsOwners, walk } = batch;
  const cursor = objects.at(-1)?.member ?? "";
  if (walk === "owners" && !keepsOwners) {
    const owners = [...new Set(objects.map(({ member }) => idAndOwner(member).owner))];
    return scripts.dropOwners({ ...step, owners, cursor: isLast ? undefined : cursor });
  }
  if (walk === "owners") {
    const ofLists = indexes.filter(isOfLists);
    const owned = objects.map((each) => builtObject(each, ofLists));
    return scripts.addOwners({ ...step, indexes: ofLists, objects: owned, isLast });
  }
  const building = buildingOf(indexes);
  // Only a change from outside leaves a member without an object. It has nothing to index.
  const built = objects.filter(({ text }) => text !== "").map((object) => builtObject(object, building));
  const ready = isLast ? allReady(indexes) : undefined;
  return scripts.addEntries({ ...step, building, keepsOwners, objects: built, cursor, built: ready });
}

function builtObject(
  object: { readonly member: string; readonly text: string },
  building: readonly StoredIndex[],
): BuiltObject {
  const { member, text } = object;
  return { member, ...idAndOwner(member), hash: sha1(text), values: encodedValues(building, text) };
}

/** A member of ids is `<id> 0 <owner>`. */
export function idAndOwner(member: string): { readonly id: string; readonly owner: string } {
  const end = member.indexOf(separator);
  return { id: member.slice(0, end), owner: member.slice(end + separator.length) };
}

function randomToken(): string {
  return randomBytes(8).toString("hex");
}
