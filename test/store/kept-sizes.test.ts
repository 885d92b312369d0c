// How much is kept without being served, on real Redis: ordered by the operator, which can't reach
// data, and measured by a replica.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { carryOutPurges, measureKept } from "../../dataplane/config/carry-out-purges.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createPurges, type Purges } from "../../operator/publish/purges.ts";
import { newPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { idOf, servedText } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const project = { namespace: "default", name: "shop" };
const order = { what: "size", of: "resource", project, name: "books" } as const;
let redis: TestRedis;
let redisClient: RedisClient;
let store: Store;
let purges: Purges;
const carriedOut: string[] = [];

beforeAll(async () => {
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  store = await openRedisStore({ url: redis.url });
});
afterAll(async () => {
  await store.close();
  redisClient.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  await redisClient.write("x", "FLUSHALL");
  const publisher = newPublisher({ redisClient, keyring: parseKeyring(newKeyringText()) });
  await publisher.begin();
  purges = createPurges(redisClient, publisher);
  carriedOut.length = 0;
});

const textOf = (at: number) => servedText(idOf(at), [], "user:a");

async function write(count: number): Promise<void> {
  for (let at = 1; at <= count; at += 1) {
    await store.create({ project, resource: "books" }, { id: idOf(at), owner: "user:a", text: textOf(at) }, 1_000);
  }
}

async function withReplica<T>(work: () => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  const onDone = (id: string) => void carriedOut.push(id);
  const carrying = carryOutPurges({ redisClient, store, onDone, onFailed: (error) => failures.push(error) });
  try {
    return await work();
  } finally {
    await carrying.stop();
    expect(failures).toEqual([]);
  }
}

describe("an order to measure", () => {
  it("finds every object and byte of a collection whose bytes nobody counted before, and what a root key holds", async () => {
    await write(450);
    await store.initialise({ project, rootKey: "flags" }, '{"beta":true}');
    await purges.order("size-1", order);
    await purges.order("size-2", { ...order, of: "rootkey", name: "flags" });
    const bytes = Array.from({ length: 450 }, (_, at) => textOf(at + 1).length).reduce((sum, each) => sum + each, 0);
    await withReplica(() =>
      eventually(async () =>
        expect(await purges.sizes()).toEqual(
          new Map([
            ["size-1", { objects: 450, bytes }],
            ["size-2", { objects: 0, bytes: '{"beta":true}'.length }],
          ]),
        ),
      ),
    );
    // Nothing was removed, and nobody is notified of a purge.
    expect((await store.collectionSize({ project, resource: "books" })).objects).toBe(450);
    expect(carriedOut).toEqual([]);
    for (const id of ["size-1", "size-2"]) await purges.forget(id);
    expect(await purges.sizes()).toEqual(new Map());
    expect(await redisClient.read(configKeys.purged, "HLEN", configKeys.purged)).toBe(0);
  });

  it("waits behind purges: whoever deletes something waits for them", async () => {
    await write(1);
    await store.initialise({ project, rootKey: "flags" }, "{}");
    await purges.order("size-1", order);
    await purges.order("purge-1", { what: "resource", project, name: "books" });
    await withReplica(() =>
      eventually(async () => expect(await purges.sizes()).toEqual(new Map([["size-1", { objects: 0, bytes: 0 }]]))),
    );
    expect(carriedOut).toEqual(["purge-1"]);
    // Counting what is gone would have left a key.
    expect(await redisClient.read("x", "KEYS", "jp:*books*")).toEqual([]);
  });

  it("ends when it is taken back", async () => {
    await write(3);
    expect(await measureKept(store, order, async () => false)).toBeUndefined();
  });
});
