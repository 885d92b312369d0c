// Typed wrappers of the scripts that declare and build a collection's indexes: the only place that knows the positions of their keys and
// arguments.

import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { textOf, textsOf } from "../../../core/redis/reply.ts";
import {
  allReady,
  type Declaration,
  type IndexSet,
  indexSetFields,
  indexSetOf,
  type StoredIndex,
  storedIndexesOf,
} from "./index-set.ts";
import type { CollectionKeys } from "./keys.ts";
import { indexKeys } from "./object-scripts.ts";
import { code, freeingScript, scriptReply, storeScript, unexpectedCode } from "./store-script.ts";

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
    };

export interface BuiltObject {
  /** SHA-1 of the text that the values come from. */
  readonly hash: string;
  readonly id: string;
  readonly owner: string;
  /** Encoded, one per building index. */
  readonly values: readonly string[];
}

export interface AddEntries {
  readonly keys: CollectionKeys;
  readonly token: string;
  readonly version: string;
  /** Indexes that are building. */
  readonly building: readonly StoredIndex[];
  readonly objects: readonly BuiltObject[];
  readonly cursor: string;
  /** All indexes, ready, when this was the last batch. */
  readonly built: readonly StoredIndex[] | undefined;
}

export interface IndexScripts {
  load(keys: CollectionKeys): Promise<IndexSet>;
  /** The fields now in force, or `stale` when the set is no longer the one that the declaration follows. */
  declare(call: DeclareIndexes): Promise<readonly StoredIndex[] | "stale">;
  beginBuild(call: BeginBuild): Promise<BuildBatch>;
  addEntries(call: AddEntries): Promise<"done" | "more" | "stale" | "busy">;
}

export function createIndexScripts(redisClient: RedisClient): IndexScripts {
  // As small as what is published of the resource, and a purge begins by dropping the indexes.
  const declare = freeingScript("declare-indexes-n");
  const beginBuild = storeScript("begin-build-3", "write");
  const addEntries = storeScript("add-entries-n", "write");

  return {
    async load(keys) {
      return indexSetOf(await redisClient.read(keys.indexSet, "HMGET", keys.indexSet, ...indexSetFields));
    },
    async declare({ keys, version, newVersion, revision, declaration }) {
      const { nextIndexNumber, indexes, dropped, cursor } = declaration;
      const own = [
        keys.indexSet,
        keys.ids,
        ...indexKeys(
          keys,
          dropped.map((index) => ({ index })),
        ),
      ];
      const fields = [JSON.stringify(allReady(indexes)), JSON.stringify(indexes)];
      const args = [version, newVersion, revision, nextIndexNumber, ...fields, cursor ?? "-"];
      const reply = scriptReply(await redisClient.run(declare, own, args));
      return reply.code === code.stale_index_set ? "stale" : storedIndexesOf(textOf(reply.rest[0]));
    },
    async beginBuild({ keys, token, lockMilliseconds, maxObjects, maxBytes }) {
      const own = [keys.indexSet, keys.buildLock, keys.ids];
      const args = [token, lockMilliseconds, keys.objectKeyPrefix, maxObjects, maxBytes];
      const reply = scriptReply(await redisClient.run(beginBuild, own, args));
      if (reply.code === code.done) return { outcome: "done" };
      if (reply.code === code.busy) return { outcome: "busy" };
      const [version, fields, members, texts, isLast] = reply.rest;
      const found = textsOf(texts);
      return {
        outcome: "more",
        version: textOf(version),
        indexes: storedIndexesOf(textOf(fields)),
        objects: textsOf(members).map((member, at) => ({ member, text: found[at] ?? "" })),
        isLast: isLast === "1",
      };
    },
    async addEntries({ keys, token, version, building, objects, cursor, built }) {
      const objectKeys = objects.map(({ id }) => keys.objectKey(id));
      const own = [
        keys.indexSet,
        keys.buildLock,
        ...objectKeys,
        ...indexKeys(
          keys,
          building.map((index) => ({ index })),
        ),
      ];
      const perObject = objects.flatMap(({ hash, id, owner, values }) => [hash, id, owner, ...values]);
      const fields = built === undefined ? "" : JSON.stringify(built);
      const args = [token, version, cursor, fields, objects.length, ...perObject];
      const reply = scriptReply(await redisClient.run(addEntries, own, args));
      switch (reply.code) {
        case code.done:
          return "done";
        case code.more:
          return "more";
        case code.stale_index_set:
          return "stale";
        case code.busy:
          return "busy";
        default:
          throw unexpectedCode(addEntries.name, reply.code);
      }
    },
  };
}
