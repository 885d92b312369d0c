// New connections are looked at before they are used.

import { afterEach, expect, it } from "vitest";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { connect } from "../../core/redis/connect.ts";
import { createGuardedRedisClient, type LookAtServer } from "../../core/redis/connection-gate.ts";
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
  const looks: ((succeeds: boolean) => void)[] = [];
  const look: LookAtServer = async (read) => {
    await read("k", "GET", "k");
    const { promise, resolve } = Promise.withResolvers<boolean>();
    looks.push(resolve);
    if (!(await promise)) throw new Error("not answered");
  };
  const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
  closing.push(() => client.disconnect());
  const opening = createGuardedRedisClient(client, look);
  await eventually(() => expect(looks).toHaveLength(1));
  return { redis, looks, opening, client };
}

const answered = (redisClient: RedisClient): Promise<unknown> => redisClient.read("k", "GET", "k");

async function isAway(redisClient: RedisClient): Promise<void> {
  expect(redisClient.ready()).toBe(false);
  await expect(answered(redisClient)).rejects.toThrow(StoreUnavailable);
}

it("sends nothing before the first connection was looked at, and opens with it", async () => {
  const { looks, opening } = await opened();
  let isOpen = false;
  void opening.then(() => {
    isOpen = true;
  });
  await new Promise(setImmediate);
  expect(isOpen).toBe(false);
  looks[0]?.(true);
  const redisClient = await opening;
  expect([redisClient.ready(), await answered(redisClient)]).toEqual([true, null]);
});

it("does not open when the first look fails", async () => {
  const { looks, opening } = await opened();
  looks[0]?.(false);
  await expect(opening).rejects.toThrow("not answered");
});

it("is away after each reconnection until a look has succeeded, however many fail", async () => {
  const { redis, looks, opening, client } = await opened();
  looks[0]?.(true);
  const redisClient = await opening;
  for (let times = 0; times < 2; times += 1) {
    const before = looks.length;
    await redis.restart();
    await eventually(() => expect([client.status, looks.length]).toEqual(["ready", before + 1]));
    await isAway(redisClient);
    looks.at(-1)?.(false);
    await eventually(() => expect(looks).toHaveLength(before + 2));
    await isAway(redisClient);
    looks.at(-1)?.(true);
    await eventually(() => expect(redisClient.ready()).toBe(true));
    expect(await answered(redisClient)).toBeNull();
  }
});

it("is not opened for a connection by a look at the one before", async () => {
  const { redis, looks, opening, client } = await opened();
  looks[0]?.(true);
  const redisClient = await opening;
  await redis.restart();
  await eventually(() => expect([client.status, looks.length]).toEqual(["ready", 2]));
  await redis.restart();
  await eventually(() => expect([client.status, looks.length]).toEqual(["ready", 3]));
  looks[1]?.(true);
  await new Promise(setImmediate);
  await isAway(redisClient);
  looks[2]?.(true);
  await eventually(() => expect(redisClient.ready()).toBe(true));
});
