// Typed wrappers of the scripts that declare and build a collection's indexes: only they know the
// positions of keys and arguments.

import { WriteConflict } from "../../../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../../../core/recently-used.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { textOf, textsOf } from "../../../../core/redis/reply.ts";
import type { Script } from "../../../../core/redis/script.ts";
import type { Owner } from "../../ports/refs.ts";
import type { CollectionKeys } from "../keys.ts";
import { indexKeys, setValues } from "../objects/object-scripts.ts";
import { code, freeingScript, scriptReply, storeScript, unexpectedCode } from "../store-script.ts";
import {
  allReady,
  type Declaration,
  encoding,
  type IndexSet,
  indexSetFields,
  indexSetOf,
  type StatedIndexes,
  type StoredIndex,
  storedIndexesOf,
} from "./index-set.ts";

export interface DeclareIndexes {
  readonly keys: CollectionKeys;
  /** Version of the set that the declaration follows. */
  readonly version: string;
  readonly newVersion: string;
  readonly revision: number;
  readonly declaration: Declaration;
}

export interface BeginBuild {
  readonly keys: CollectionKeys;
  /** Names this builder among replicas. */
  readonly token: string;
  readonly lockMilliseconds: number;
  readonly maxObjects: number;
  readonly maxBytes: number;
}

export type BuildBatch =
  | { readonly outcome: "done" | "busy" }
  | {
      readonly outcome: "more";
      readonly version: string;
      readonly indexes: readonly StoredIndex[];
      readonly objects: readonly { readonly member: string; readonly text: string }[];
      /** True when no further object needs entries. */
      readonly isLast: boolean;
      readonly keepsOwners: boolean;
      /** Whose entries are next: those of building indexes, or those of owners. */
      readonly walk: "indexes" | "owners";
    };

export interface BuiltObject {
  /** Its member of ids. */
  readonly member: string;
  /** SHA-1 of the text that the values come from. */
  readonly hash: string;
  readonly id: string;
  readonly owner: string;
  /** One per building index, as of encodedValues. */
  readonly values: readonly string[];
}

/** One step of a builder that holds the lock. */
export interface BuildStep {
  readonly keys: CollectionKeys;
  readonly token: string;
  readonly version: string;
}

export interface AddEntries extends BuildStep {
  /** Indexes that are building. */
  readonly building: readonly StoredIndex[];
  readonly keepsOwners: boolean;
  readonly objects: readonly BuiltObject[];
  readonly cursor: string;
  /** All indexes, ready, when this was the last batch. */
  readonly built: readonly StoredIndex[] | undefined;
}

export interface AddOwners extends BuildStep {
  readonly indexes: readonly StoredIndex[];
  /** With one value for each of the indexes. */
  readonly objects: readonly BuiltObject[];
  readonly isLast: boolean;
}

export interface DropOwners extends BuildStep {
  readonly owners: readonly Owner[];
  /** The member of ids that the walk came to; undefined at the end. */
  readonly cursor: string | undefined;
}

export type BuildProgress = "done" | "more" | "stale" | "busy";

export interface IndexScripts {
  load(keys: CollectionKeys): Promise<IndexSet>;
  /** The set in force, or `stale` when that is not the one that the declaration follows. */
  declare(call: DeclareIndexes): Promise<StatedIndexes | "stale">;
  refuseOlderWriters(keys: CollectionKeys, revision: number, newVersion: string): Promise<void>;
  beginBuild(call: BeginBuild): Promise<BuildBatch>;
  addEntries(call: AddEntries): Promise<BuildProgress>;
  addOwners(call: AddOwners): Promise<BuildProgress>;
  dropOwners(call: DropOwners): Promise<BuildProgress>;
}

export function createIndexScripts(redisClient: RedisClient): IndexScripts {
  // As small as what is published of the resource, and a purge begins by dropping the indexes.
  const declare = freeingScript("indexes/declare-indexes-n");
  const refuseOlderWriters = freeingScript("indexes/refuse-older-writers-1");
  // Without memory as well, because owners' entries are removed in steps that begin with it.
  const beginBuild = freeingScript("indexes/begin-build-3");
  const addEntries = storeScript("indexes/add-entries-n", "write");
  const addOwners = storeScript("indexes/add-owners-n", "write");
  const dropOwners = freeingScript("indexes/drop-owners-n");

  const runStep = async (script: Script, keys: readonly string[], args: readonly (string | number)[]) =>
    progressOf(script, await redisClient.run(script, keys, args));

  return {
    async load(keys) {
      return indexSetOf(await redisClient.read(keys.indexSet, "HMGET", keys.indexSet, ...indexSetFields));
    },
    async declare({ keys, version, newVersion, revision, declaration }) {
      const { nextIndexNumber, indexes, dropped, droppedForOwners, cursor, owners } = declaration;
      const gone = [...indexKeys(keys, dropped, true), ...droppedForOwners.map(({ slot }) => keys.ownIndex(slot))];
      const fields = [JSON.stringify(allReady(indexes)), JSON.stringify(indexes)];
      const ofOwners = [owners.areKept ? 1 : 0, owners.cursor ?? "-"];
      const args = [version, newVersion, revision, nextIndexNumber, ...fields, cursor ?? "-", ...ofOwners];
      const reply = scriptReply(await redisClient.run(declare, [keys.indexSet, keys.ids, ...gone], args));
      if (reply.code === code.stale_index_set) return "stale";
      return { indexes: storedIndexesOf(textOf(reply.rest[0])), isOwnersWalk: reply.rest[1] === "1" };
    },
    async refuseOlderWriters(keys, revision, newVersion) {
      await redisClient.run(refuseOlderWriters, [keys.indexSet], [revision, newVersion]);
    },
    async beginBuild({ keys, token, lockMilliseconds, maxObjects, maxBytes }) {
      const own = [keys.indexSet, keys.buildLock, keys.ids];
      const args = [token, lockMilliseconds, keys.objectKeyPrefix, maxObjects, maxBytes, encoding];
      const reply = scriptReply(await redisClient.run(beginBuild, own, args));
      if (reply.code === code.done) return { outcome: "done" };
      if (reply.code === code.busy) return { outcome: "busy" };
      const [version, fields, members, texts, isLast, keepsOwners, walk] = reply.rest;
      const found = textsOf(texts);
      return {
        outcome: "more",
        version: textOf(version),
        indexes: storedIndexesOf(textOf(fields)),
        objects: textsOf(members).map((member, at) => ({ member, text: found[at] ?? "" })),
        isLast: isLast === "1",
        keepsOwners: keepsOwners === "1",
        walk: walk === "owners" ? "owners" : "indexes",
      };
    },
    addEntries({ keys, token, version, building, keepsOwners, objects, cursor, built }) {
      const objectKeys = objects.map(({ id }) => keys.objectKey(id));
      const own = [keys.indexSet, keys.buildLock, ...objectKeys, ...indexKeys(keys, building, keepsOwners)];
      const perObject = objects.flatMap(({ hash, id, owner, values }) => {
        const entries = building.map((index, at) => ({ index, value: values[at] ?? "" }));
        return [hash, id, ...setValues(entries, keepsOwners ? owner : undefined)];
      });
      const fields = built === undefined ? "" : JSON.stringify(built);
      const args = [token, version, cursor, fields, objects.length, ...perObject];
      return runStep(addEntries, own, args);
    },
    addOwners({ keys, token, version, indexes, objects, isLast }) {
      const objectKeys = objects.flatMap(({ id, owner }) => [keys.objectKey(id), keys.owned(owner)]);
      const own = [keys.indexSet, keys.buildLock, ...objectKeys, ...indexes.map(({ slot }) => keys.ownIndex(slot))];
      const perObject = objects.flatMap(({ member, hash, id, owner, values }) => [member, hash, id, owner, ...values]);
      return runStep(addOwners, own, [token, version, isLast ? 1 : 0, objects.length, ...perObject]);
    },
    dropOwners({ keys, token, version, owners, cursor }) {
      const own = [keys.indexSet, keys.buildLock, ...owners.map(keys.owned)];
      return runStep(dropOwners, own, [token, version, cursor ?? ""]);
    },
  };
}

function progressOf(script: Script, reply: unknown): BuildProgress {
  const found = scriptReply(reply).code;
  switch (found) {
    case code.done:
      return "done";
    case code.more:
      return "more";
    case code.stale_index_set:
      return "stale";
    case code.busy:
      return "busy";
    default:
      throw unexpectedCode(script.name, found);
  }
}

const maxCollections = 10_000;
/** Each repetition means that somebody declared indexes in between. */
const maxAttempts = 25;

export interface IndexSetCache {
  /** The cached set; loads it when there is none. */
  get(keys: CollectionKeys): Promise<IndexSet>;
  reload(keys: CollectionKeys): Promise<IndexSet>;
  /** The next use loads it again. */
  forget(keys: CollectionKeys): void;
  /**
   * Calls `attempt` with the cached set, and with a fresh one as long as it answers `stale`. A
   * script that was refused had no effect. Throws WriteConflict when that never ends.
   */
  retryWhileStale<T>(keys: CollectionKeys, attempt: (set: IndexSet) => Promise<T | "stale">): Promise<T>;
}

export function createIndexSetCache(scripts: Pick<IndexScripts, "load">): IndexSetCache {
  // Promises, so that calls that need the same set at once load it once.
  const sets = recentlyUsed<Promise<IndexSet>>(maxCollections);

  const load = (keys: CollectionKeys): Promise<IndexSet> => {
    const loading = scripts.load(keys);
    sets.set(keys.tag, loading);
    loading.catch(() => drop(keys, loading));
    return loading;
  };

  const drop = (keys: CollectionKeys, set: Promise<IndexSet>) => {
    if (sets.peek(keys.tag) === set) sets.delete(keys.tag);
  };

  return {
    get: (keys) => sets.get(keys.tag) ?? load(keys),
    reload: load,
    forget(keys) {
      sets.delete(keys.tag);
    },
    async retryWhileStale(keys, attempt) {
      for (let made = 0; made < maxAttempts; made += 1) {
        const loading = sets.get(keys.tag) ?? load(keys);
        const result = await attempt(await loading);
        if (result !== "stale") return result;
        drop(keys, loading);
      }
      throw new WriteConflict(`The indexes of ${keys.tag} change faster than they can be read`);
    },
  };
}
