// A Redis of a test file's own that is empty when a test begins, with a gateway to it.

import { afterAll, beforeAll, beforeEach } from "vitest";
import { configKeys } from "../../../core/config/config-keys.ts";
import type { Gateway } from "../../../core/redis/redis-client.ts";
import { type RedisOptions, startRedis, type TestRedis } from "../redis/redis.ts";
import { openGateway } from "./publishing.ts";

export interface EmptiedRedis {
  readonly redis: TestRedis;
  readonly gateway: Gateway;
}

/** Starts it before the first test and stops it after the last one; `begin` is called before each test, once Redis is empty. */
export function useEmptiedRedis(begin: (opened: EmptiedRedis) => unknown, options: RedisOptions = {}): void {
  let redis: TestRedis;
  let gateway: Gateway;
  beforeAll(async () => {
    redis = await startRedis(options);
    gateway = await openGateway(redis.url);
  });
  afterAll(async () => {
    gateway.disconnect();
    await redis.stop();
  });
  beforeEach(async () => {
    await gateway.write(configKeys.meta, "FLUSHALL");
    await begin({ redis, gateway });
  });
}
