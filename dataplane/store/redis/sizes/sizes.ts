// How much collections and documents store. A collection's bytes are counted where a quota needs
// them: existing objects in bounded steps, and from then on in the step of every write.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf } from "../../../../core/redis/reply.ts";
import { loggedBytes } from "../../change-entries.ts";
import type { ByteCounts, Sizes } from "../../ports/sizes.ts";
import { collectionKeys, documentKeys } from "../keys.ts";
import { code, scriptReply, storeScript } from "../store-script.ts";

/** Bounds of one step of counting, which holds Redis for some two milliseconds. */
const objectsPerStep = 200;
const bytesPerStep = 256 * 1024;

export function createSizes(redisClient: RedisClient): Sizes & ByteCounts {
  const collectionSize = storeScript("sizes/collection-size-3", "read");
  const documentSize = storeScript("sizes/document-size-3", "read");
  const countBytes = storeScript("sizes/count-bytes-2", "write");
  return {
    async collectionSize(collection) {
      const { indexSet, ids, log } = collectionKeys(collection);
      const reply = scriptReply(await redisClient.run(collectionSize, [indexSet, ids, log], [loggedBytes.object]));
      const [objects, bytes, isCounted] = reply.rest;
      return { objects: numberOf(objects), bytes: numberOf(bytes), isCounted: isCounted === "1" };
    },
    async countBytes(collection) {
      const { indexSet, ids, objectKeyPrefix } = collectionKeys(collection);
      const args = [objectKeyPrefix, objectsPerStep, bytesPerStep];
      const reply = scriptReply(await redisClient.run(countBytes, [indexSet, ids], args));
      return reply.code === code.done ? "done" : "more";
    },
    async documentSize(document) {
      const { value, size, log } = documentKeys(document);
      const reply = scriptReply(await redisClient.run(documentSize, [value, size, log], [loggedBytes.document]));
      const [bytes, members] = reply.rest;
      return { bytes: numberOf(bytes), members: numberOf(members) };
    },
  };
}
