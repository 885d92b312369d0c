// A Redis of a test's own with our client to call scripts by and a plain one to look behind them.

import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { connect } from "../../../core/redis/connect.ts";
import { createRedisClient, type RedisClient } from "../../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../../core/redis/redis-url.ts";
import { createConnectedEngine } from "../../../dataplane/store/redis/engine.ts";
import { startRedis, type TestRedis } from "./redis.ts";

export interface ScriptBench {
  readonly redisClient: RedisClient;
  readonly client: Redis;
  /** Everything that is stored, in a form to compare. */
  contents(): Promise<Record<string, string>>;
}

/** Empties the server before each test of the calling `describe`. */
export function useScriptBench(): ScriptBench {
  let redis: TestRedis;
  let client: Redis;
  let redisClient: RedisClient;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis({ port: redis.port, host: redis.host });
    const plain = createRedisClient(
      await connect({ target: parseRedisUrl(redis.url), commandTimeout: 5_000, name: "test" }),
    );
    const engine = createConnectedEngine();
    await engine.identify(plain.read);
    redisClient = engine.adapt(plain);
  });
  beforeEach(async () => {
    await client.flushall();
    // Every test begins with scripts that the server doesn't know.
    await client.script("FLUSH");
  });
  afterAll(async () => {
    redisClient.disconnect();
    client.disconnect();
    await redis.stop();
  });
  return {
    get redisClient() {
      return redisClient;
    },
    get client() {
      return client;
    },
    async contents() {
      const keys = (await client.keys("*")).sort();
      return Object.fromEntries(
        await Promise.all(keys.map(async (key) => [key, await contentOf(client, key)] as const)),
      );
    },
  };
}

async function contentOf(client: Redis, key: string): Promise<string> {
  const type = await client.type(key);
  if (type === "ReJSON-RL") return String(await client.call("JSON.GET", key));
  if (type === "zset") return (await client.zrange(key, "0", "-1")).join(" | ").replaceAll("\0", "␀");
  if (type === "hash") return JSON.stringify(Object.entries(await client.hgetall(key)).sort());
  if (type === "stream") return JSON.stringify((await client.xrange(key, "-", "+")).map(([, fields]) => fields));
  return (await client.get(key)) ?? "";
}
