// Refuses a Redis without the JSON module with one clear word at the start; later each request would fail in another way.

import { isForbidden, RedisFault } from "./failure.ts";
import type { RedisClient } from "./redis-client.ts";

/** Never written. */
const key = "jp:{probe}:json";

/**
 * Throws RedisFault with the code NOJSON. Who may not use the module learns as much: Redis looks for a command before it looks for rights.
 */
export async function requireJson(redisClient: RedisClient): Promise<void> {
  try {
    await redisClient.read(key, "JSON.TYPE", key);
  } catch (cause) {
    if (isForbidden(cause)) return;
    if (!(cause instanceof RedisFault)) throw cause;
    throw new RedisFault("This Redis has no JSON module: load RedisJSON, or use a Redis that includes it", {
      code: "NOJSON",
      cause,
    });
  }
}
