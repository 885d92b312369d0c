// Typed wrappers of the scripts that name and remove what a collection or a root key holds: the only place that knows the positions of
// their keys and arguments.

import { randomBytes } from "node:crypto";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { textOf } from "../../../core/redis/reply.ts";
import type { CollectionKeys, DocumentKeys } from "./keys.ts";
import { code, freeingScript, scriptReply } from "./store-script.ts";

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
  const identifyCollection = freeingScript("identify-collection-2");
  const purgeObjects = freeingScript("purge-objects-n");
  const identifyDocument = freeingScript("identify-document-2");
  const purgeDocument = freeingScript("purge-document-3");

  return {
    async identifyCollection({ indexSet, ids }) {
      const reply = scriptReply(await redisClient.run(identifyCollection, [indexSet, ids], [newName()]));
      return reply.code === code.not_found ? undefined : textOf(reply.rest[0]);
    },
    async purgeObjects(keys, identity, objects) {
      const perObject = objects.flatMap(({ id, owner }) => [keys.objectKey(id), keys.owned(owner)]);
      const own = [keys.indexSet, keys.buildLock, keys.ids, ...perObject];
      const reply = scriptReply(
        await redisClient.run(purgeObjects, own, [identity, ...objects.map(({ member }) => member)]),
      );
      if (reply.code === code.not_found) return "gone";
      return reply.code === code.done ? "done" : "more";
    },
    async identifyDocument({ value, identity }) {
      const reply = scriptReply(await redisClient.run(identifyDocument, [value, identity], [newName()]));
      return reply.code === code.missing_document ? undefined : textOf(reply.rest[0]);
    },
    async purgeDocument({ value, size, identity: name }, identity) {
      const reply = scriptReply(await redisClient.run(purgeDocument, [value, size, name], [identity]));
      return reply.code === code.done ? "done" : "gone";
    },
  };
}

/** Random, so that it never comes back. */
function newName(): string {
  return randomBytes(8).toString("hex");
}
