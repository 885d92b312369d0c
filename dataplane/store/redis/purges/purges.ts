// Removes what a collection or a root key has, in steps that take only what was named before: a
// late step, after others have purged it and something new was stored, does nothing.

import { randomBytes } from "node:crypto";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { textOf, textsOf } from "../../../../core/redis/reply.ts";
import type { CollectionPurges, DocumentPurges, PurgeStep } from "../../ports/purges.ts";
import type { IndexScripts, IndexSetCache } from "../indexes/index-scripts.ts";
import { idAndOwner, replaceIndexSet } from "../indexes/indexes.ts";
import { type CollectionKeys, collectionKeys, type DocumentKeys, documentKeys } from "../keys.ts";
import { code, freeingScript, laterStep, scriptReply } from "../store-script.ts";

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

/** The version that the script compares is random: no two collections share one. */
async function dropIndexes(
  { indexScripts, indexSetCache }: PurgeDeps,
  keys: CollectionKeys,
  identity: string,
): Promise<"dropped" | "gone"> {
  await indexSetCache.reload(keys);
  return indexSetCache.retryWhileStale(keys, async (set) => {
    if (set.id !== identity) return "gone";
    if (set.indexes.length === 0) return "dropped";
    // Revision 0, because a collection that is created again under the name may start at any
    // revision.
    const indexes = await replaceIndexSet(indexScripts, keys, set, { fields: [], revision: 0 });
    return indexes === "stale" ? "stale" : "dropped";
  });
}

export interface PurgedObject {
  readonly member: string;
  readonly id: string;
  readonly owner: string;
}

export interface PurgeScripts {
  /** Undefined when the collection holds nothing. */
  identifyCollection(keys: CollectionKeys): Promise<string | undefined>;
  purgeObjects(
    keys: CollectionKeys,
    identity: string,
    objects: readonly PurgedObject[],
  ): Promise<"done" | "more" | "gone">;
  /** Undefined when nothing is stored. */
  identifyDocument(keys: DocumentKeys): Promise<string | undefined>;
  purgeDocument(keys: DocumentKeys, identity: string): Promise<"done" | "gone">;
}

export function createPurgeScripts(redisClient: RedisClient): PurgeScripts {
  const identifyCollection = freeingScript("purges/identify-collection-2");
  const purgeObjects = freeingScript("purges/purge-objects-n");
  const identifyDocument = freeingScript("purges/identify-document-3");
  const purgeDocument = freeingScript("purges/purge-document-4");

  return {
    async identifyCollection({ indexSet, ids }) {
      const reply = scriptReply(await redisClient.run(identifyCollection, [indexSet, ids], [newName()]));
      return reply.code === code.not_found ? undefined : textOf(reply.rest[0]);
    },
    async purgeObjects(keys, identity, objects) {
      const perObject = objects.flatMap(({ id, owner }) => [keys.objectKey(id), keys.owned(owner)]);
      const own = [keys.indexSet, keys.buildLock, keys.ids, keys.log, ...perObject];
      const reply = scriptReply(
        await redisClient.run(purgeObjects, own, [identity, ...objects.map(({ member }) => member)]),
      );
      if (reply.code === code.not_found) return "gone";
      return reply.code === code.done ? "done" : "more";
    },
    async identifyDocument({ value, identity, log }) {
      const reply = scriptReply(await redisClient.run(identifyDocument, [value, identity, log], [newName()]));
      return reply.code === code.missing_document ? undefined : textOf(reply.rest[0]);
    },
    async purgeDocument({ value, size, identity: name, log }, identity) {
      const reply = scriptReply(await redisClient.run(purgeDocument, [value, size, name, log], [identity]));
      return reply.code === code.done ? "done" : "gone";
    },
  };
}

/** Random, so that it never comes back. */
function newName(): string {
  return randomBytes(8).toString("hex");
}
