// New connections are checked before they are used.

import { afterEach, expect, it } from "vitest";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { connect } from "../../core/redis/connect.ts";
import { type CheckServer, createGuardedRedisClient } from "../../core/redis/connection-gate.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { startRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Looks are answered by the test, each with whether it succeeds. */
async function opened() {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const checks: ((succeeds: boolean) => void)[] = [];
  const check: CheckServer = async (read) => {
    await read("k", "GET", "k");
    const { promise, resolve } = Promise.withResolvers<boolean>();
    checks.push(resolve);
    if (!(await promise)) throw new Error("not answered");
  };
  const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
  closing.push(() => client.disconnect());
  const opening = createGuardedRedisClient(client, check);
  await eventually(() => expect(checks).toHaveLength(1));
  return { redis, checks, opening, client };
}

const answered = (redisClient: RedisClient): Promise<unknown> => redisClient.read("k", "GET", "k");

async function isAway(redisClient: RedisClient): Promise<void> {
  expect(redisClient.ready()).toBe(false);
  await expect(answered(redisClient)).rejects.toThrow(StoreUnavailable);
}

it("sends nothing before the first connection was checked, and opens with it", async () => {
  const { checks, opening } = await opened();
  let isOpen = false;
  void opening.then(() => {
    isOpen = true;
  });
  await new Promise(setImmediate);
  expect(isOpen).toBe(false);
  checks[0]?.(true);
  const redisClient = await opening;
  expect([redisClient.ready(), await answered(redisClient)]).toEqual([true, null]);
});

it("does not open when the first check fails", async () => {
  const { checks, opening } = await opened();
  checks[0]?.(false);
  await expect(opening).rejects.toThrow("not answered");
});

it("is away after each reconnection until a check has succeeded, however many fail", async () => {
  const { redis, checks, opening, client } = await opened();
  checks[0]?.(true);
  const redisClient = await opening;
  for (let times = 0; times < 2; times += 1) {
    const before = checks.length;
    await redis.restart();
    await eventually(() => expect([client.status, checks.length]).toEqual(["ready", before + 1]));
    await isAway(redisClient);
    checks.at(-1)?.(false);
    await eventually(() => expect(checks).toHaveLength(before + 2));
    await isAway(redisClient);
    checks.at(-1)?.(true);
    await eventually(() => expect(redisClient.ready()).toBe(true));
    expect(await answered(redisClient)).toBeNull();
  }
});

it("is not opened for a connection by a check at the one before", async () => {
  const { redis, checks, opening, client } = await opened();
  checks[0]?.(true);
  const redisClient = await opening;
  await redis.restart();
  await eventually(() => expect([client.status, checks.length]).toEqual(["ready", 2]));
  await redis.restart();
  await eventually(() => expect([client.status, checks.length]).toEqual(["ready", 3]));
  checks[1]?.(true);
  await new Promise(setImmediate);
  await isAway(redisClient);
  checks[2]?.(true);
  await eventually(() => expect(redisClient.ready()).toBe(true));
});
