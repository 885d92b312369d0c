// What Redis holds of owners: entries where a declaration asks for them and nothing of them where
// it doesn't, also after a change of mind in the middle.

import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WriteConflict } from "../../core/errors/store-errors.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { buildAll } from "../support/store/build-all.ts";
import { books, fields, fill, objectAt, owners, plenty, range } from "../support/store/owned-books.ts";
import { idOf, idsIn, objectOf } from "../support/store/stored-objects.ts";

const keys = collectionKeys(books);

let redis: TestRedis;
let client: Redis;
let store: Store;
beforeAll(async () => {
  redis = await startRedis();
  client = new Redis({ port: redis.port, host: redis.host });
  store = await openRedisStore({ url: redis.url });
});
beforeEach(() => client.flushall());
afterAll(async () => {
  client.disconnect();
  await store.close();
  await redis.stop();
});

/** Sorted sets that are there, with how many members each has. */
async function sortedSets(): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const key of (await client.keys("*")).toSorted()) {
    if ((await client.type(key)) === "zset") found[key.slice(key.indexOf("}:") + 2)] = await client.zcard(key);
  }
  return found;
}

const ofOwners = async (): Promise<readonly string[]> =>
  Object.keys(await sortedSets()).filter((name) => name.startsWith("own"));

const everybodys = (count: number) => ({ ids: count, "index:1": count, "index:2": count });

const u1sOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => n)
    .filter((n) => n % 3 === 1)
    .map(idOf);

/** Commands that a call has scripts send to sorted sets. */
async function zCommands(call: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  await client.config("RESETSTAT");
  await call();
  const stats = await client.info("commandstats");
  const calls = [...stats.matchAll(/^cmdstat_(zadd|zrem):calls=(\d+)/gm)];
  return Object.fromEntries(calls.map(([, name, times]) => [name, Number(times)]));
}

describe("a resource whose lists show all objects", () => {
  beforeEach(() => store.declareIndexes(books, fields, 1, "left out"));

  it("has an id and one entry per index of each object, and writes no more than those", async () => {
    expect(await zCommands(() => store.create(books, objectAt(1), plenty))).toEqual({ zadd: 3 });
    expect(await sortedSets()).toEqual(everybodys(1));
    expect(await zCommands(() => store.replace(books, objectAt(1, "100"), objectAt(1)))).toEqual({ zadd: 1, zrem: 1 });
    await fill(store, 16, 2);
    expect(await sortedSets()).toEqual(everybodys(17));
    for (let n = 1; n < 18; n += 1) expect(await store.remove(books, idOf(n), {})).toBe(true);
    expect(await sortedSets()).toEqual({});
  });

  it("has twice as many where they show one's own", async () => {
    await store.declareIndexes(books, fields, 2, "kept");
    expect(await zCommands(() => store.create(books, objectAt(1), plenty))).toEqual({ zadd: 6 });
    expect(await sortedSets()).toEqual({ ...everybodys(1), "own-index:1": 1, "own-index:2": 1, "owned:user:u1": 1 });
    expect(await zCommands(() => store.replace(books, objectAt(1, "100"), objectAt(1)))).toEqual({ zadd: 2, zrem: 2 });
  });

  it("is not read by owners' entries, whatever stands under their names", async () => {
    await fill(store, 9);
    await client.zadd(keys.owned("user:u0"), 0, idOf(0), 0, "0199b1c0-0000-7000-8000-00000000ffff");
    expect(await store.pageByCreation(books, { owner: "user:u0" }, range)).toEqual({ outcome: "not_ready" });
    const walk = { ...range, counted: true };
    expect(await store.pageAfter(books, { owner: "user:u0" }, undefined, walk)).toEqual({ outcome: "not_ready" });
    const byA = { index: "a" };
    expect(await store.pageByField(books, { owner: "user:u0" }, byA, range)).toEqual({ outcome: "not_ready" });
    expect(await store.candidates(books, { owner: "user:u0" }, [byA], 10)).toEqual({ outcome: "not_ready" });
    expect(await store.count(books, { owner: "user:u0" })).toBe(9);
  });

  it("gets all of them once its lists show one's own, and until then none is trusted", async () => {
    await fill(store, 250);
    expect(await store.declareIndexes(books, fields, 2, "kept")).toMatchObject([
      ...[
        { field: { name: "a" }, state: "ready" },
        { field: { name: "b" }, state: "ready" },
      ],
      { field: { name: "_metadata.creator" }, state: "building" },
    ]);
    expect(await store.buildIndexes(books)).toBe("more");
    expect(await sortedSets()).toMatchObject({
      "own-index:1": expect.any(Number),
      "owned:user:u1": expect.any(Number),
    });
    expect(await store.pageByCreation(books, { owner: "user:u1" }, range)).toEqual({ outcome: "not_ready" });
    await buildAll(store, books);
    expect(await store.indexes(books)).toHaveLength(2);
    await expectIndexesExact(store, books, owners);
  });

  it("gets them and a new index, both to the end, where one declaration asks for both", async () => {
    await fill(store, 50);
    await store.declareIndexes(books, [...fields, { name: "c", path: ["c"] }], 2, "kept");
    await buildAll(store, books);
    expect((await store.indexes(books)).map(({ state }) => state)).toEqual(["ready", "ready", "ready"]);
    await expectIndexesExact(store, books, owners);
  });

  it.each([
    ["come to be trusted", "left out", "kept"],
    ["are no longer trusted", "kept", "left out"],
  ] as const)("is scanned on behind the same object when its owners' entries %s in between", async (_, first, then) => {
    await store.declareIndexes(books, fields, 2, first);
    await fill(store, 800);
    const texts: string[] = [];
    for await (const batch of store.scan(books, { owner: "user:u1" })) {
      if (texts.length === 0) await store.declareIndexes(books, fields, 3, then);
      if (texts.length === 0) await buildAll(store, books);
      texts.push(...batch);
    }
    expect(idsIn(texts)).toEqual(u1sOf(800));
  });

  it("is not scanned on over more than the bound when its owners' entries are dropped in between", async () => {
    await store.declareIndexes(books, fields, 1, "kept");
    await fill(store, 800);
    let revision = 1;
    const scanWhileDropped = async (max: number): Promise<void> => {
      revision += 2;
      await store.declareIndexes(books, fields, revision, "kept");
      await buildAll(store, books);
      for await (const _ of store.scan(books, { owner: "user:u1" }, { max })) {
        await store.declareIndexes(books, fields, revision + 1, "left out");
      }
    };
    await expect(scanWhileDropped(799)).rejects.toThrow(WriteConflict);
    await expect(scanWhileDropped(800)).resolves.toBeUndefined();
  });
});

describe("a resource whose lists no longer show one's own", () => {
  beforeEach(async () => {
    await store.declareIndexes(books, fields, 1, "kept");
    await fill(store, 250);
  });

  it("loses the entries of indexes at once, and the ids of owners in steps, to the last", async () => {
    await store.declareIndexes(books, fields, 2, "left out");
    expect(await ofOwners()).toEqual(owners.map((owner) => `owned:${owner}`));
    // An owner whose last object goes before its turn leaves nothing either.
    await store.create(books, objectOf(999, { a: "1" }, "user:late"), plenty);
    for (let n = 0; n < 250; n += 3) await store.remove(books, idOf(n), {});
    expect(await ofOwners()).toEqual(["owned:user:u1", "owned:user:u2"]);
    expect(await store.buildIndexes(books)).toBe("more");
    await buildAll(store, books);
    expect(await ofOwners()).toEqual([]);
    expect(await store.indexes(books)).toHaveLength(2);
  });

  it("is no longer read by them by another replica, which read them before and heard of nothing", async () => {
    const other = await openRedisStore({ url: redis.url });
    const own = () => other.pageByCreation(books, { owner: "user:u1" }, range);
    expect(await own()).toMatchObject({ outcome: "page", count: 83 });
    await store.declareIndexes(books, fields, 2, "left out");
    await buildAll(store, books);
    expect(await own()).toEqual({ outcome: "not_ready" });
    await store.declareIndexes(books, fields, 3, "kept");
    await buildAll(store, books);
    expect(await own()).toMatchObject({ outcome: "page", count: 83 });
    await other.close();
  });

  it("is purged with what is left of them", async () => {
    await store.declareIndexes(books, fields, 2, "left out");
    const identity = (await store.collectionIdentity(books)) ?? "";
    while ((await store.purge(books, identity, 100)) === "more");
    expect(await client.keys("*")).toEqual([]);
  });

  it("keeps them where an earlier declaration says so too late", async () => {
    await store.declareIndexes(books, fields, 3, "kept");
    await store.declareIndexes(books, fields, 2, "left out");
    expect((await ofOwners()).length).toBe(5);
    await expectIndexesExact(store, books, owners);
  });
});

it("a replica that has not heard that entries are no longer kept counts all objects, and not what is left of its own", async () => {
  await store.declareIndexes(books, fields, 1, "kept");
  await fill(store, 9);
  const other = await openRedisStore({ url: redis.url });
  expect(await store.count(books, { owner: "user:u1" })).toBe(3);
  await other.declareIndexes(books, fields, 2, "left out");
  await buildAll(other, books);
  expect(await store.count(books, { owner: "user:u1" })).toBe(9);
  await other.close();
});

it("entries that are no longer kept are removed although the memory is used up", async () => {
  await store.declareIndexes(books, [], 1, "kept");
  await fill(store, 250);
  await client.config("SET", "maxmemory", "1mb");
  try {
    await expect(store.create(books, objectAt(300), plenty)).rejects.toThrow();
    await store.declareIndexes(books, [], 2, "left out");
    await buildAll(store, books);
    expect(await sortedSets()).toEqual({ ids: 250 });
  } finally {
    await client.config("SET", "maxmemory", "0");
  }
});

it("a resource that is made anew while its data are being purged has the entries that it asks for, whatever its revision", async () => {
  await store.declareIndexes(books, fields, 7, "left out");
  await fill(store, 250);
  const identity = (await store.collectionIdentity(books)) ?? "";
  expect(await store.purge(books, identity, 100)).toBe("more");
  await store.declareIndexes(books, fields, 3, "kept");
  await buildAll(store, books);
  expect(await store.pageByCreation(books, { owner: "user:u1" }, range)).toMatchObject({ outcome: "page" });
});
