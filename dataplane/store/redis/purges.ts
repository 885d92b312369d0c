// Removes what a collection or a root key holds, in steps that take only what was named before: a step that comes late, after others have
// purged it and something new was stored, does nothing.

import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { textsOf } from "../../../core/redis/reply.ts";
import type { CollectionPurges, DocumentPurges, PurgeStep } from "../ports/purges.ts";
import type { IndexScripts } from "./index-scripts.ts";
import type { IndexSetCache } from "./index-set-cache.ts";
import { idAndOwner, replaceIndexSet } from "./indexes.ts";
import { type CollectionKeys, collectionKeys, documentKeys } from "./keys.ts";
import type { PurgeScripts } from "./purge-scripts.ts";
import { laterStep } from "./store-script.ts";

const objectsPerCall = 100;

export interface PurgeDeps {
  readonly redisClient: RedisClient;
  readonly indexScripts: IndexScripts;
  readonly purgeScripts: PurgeScripts;
  readonly indexSetCache: IndexSetCache;
}

export function createPurges(deps: PurgeDeps): CollectionPurges & DocumentPurges {
  const { purgeScripts } = deps;
  return {
    collectionIdentity: (collection) => purgeScripts.identifyCollection(collectionKeys(collection)),
    purge: (collection, identity, batch) => purge(deps, collectionKeys(collection), identity, batch),
    documentIdentity: (document) => purgeScripts.identifyDocument(documentKeys(document)),
    purgeDocument: (document, identity) => purgeScripts.purgeDocument(documentKeys(document), identity),
  };
}

/** Drops the indexes first, which spares taking every entry out of them. */
async function purge(deps: PurgeDeps, keys: CollectionKeys, identity: string, batch: number): Promise<PurgeStep> {
  const { redisClient, purgeScripts, indexSetCache } = deps;
  if ((await dropIndexes(deps, keys, identity)) === "gone") return "gone";
  const step = async (max: number) => {
    const members = textsOf(await redisClient.read(keys.ids, "ZRANGE", keys.ids, 0, max - 1));
    const objects = members.map((member) => ({ member, ...idAndOwner(member) }));
    return purgeScripts.purgeObjects(keys, identity, objects);
  };
  try {
    for (let left = batch; left > 0; left -= objectsPerCall) {
      const result = await laterStep(step(Math.min(left, objectsPerCall)));
      if (result !== "more") return result;
    }
    return "more";
  } finally {
    indexSetCache.forget(keys);
  }
}

/** The version that the script compares is random: one of the named collection is never that of another. */
async function dropIndexes(
  { indexScripts, indexSetCache }: PurgeDeps,
  keys: CollectionKeys,
  identity: string,
): Promise<"dropped" | "gone"> {
  await indexSetCache.reload(keys);
  return indexSetCache.retryWhileStale(keys, async (set) => {
    if (set.id !== identity) return "gone";
    if (set.indexes.length === 0) return "dropped";
    // Of the first revision again: what is made anew under the name may begin to count at any.
    const indexes = await replaceIndexSet(indexScripts, keys, set, { fields: [], revision: 0 });
    return indexes === "stale" ? "stale" : "dropped";
  });
}
