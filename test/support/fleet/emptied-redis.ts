// A Redis of a test file's own that is empty when a test begins, with a client.

import { afterAll, beforeAll, beforeEach } from "vitest";
import { configKeys } from "../../../core/config/config-keys.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { type RedisOptions, startRedis, type TestRedis } from "../redis/redis.ts";
import { openRedisClient } from "./publishing.ts";

export interface EmptiedRedis {
  readonly redis: TestRedis;
  readonly redisClient: RedisClient;
}

/**
 * Starts it before the first test and stops it after the last one; `begin` is called before each
 * test, once Redis is empty.
 */
export function useEmptiedRedis(begin: (opened: EmptiedRedis) => unknown, options: RedisOptions = {}): void {
  let redis: TestRedis;
  let redisClient: RedisClient;
  beforeAll(async () => {
    redis = await startRedis(options);
    redisClient = await openRedisClient(redis.url);
  });
  afterAll(async () => {
    redisClient.disconnect();
    await redis.stop();
  });
  beforeEach(async () => {
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await begin({ redis, redisClient });
  });
}
