// Adds indexes, or entries by owner, to a large collection while two replicas write to it and
// build; one of them is killed midway. Builds an index anew that was damaged from outside, or made
// by another version.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StoredByOtherVersion } from "../../core/errors/store-errors.ts";
import { asProblem } from "../../core/http/problem-response.ts";
import { expiryIndex } from "../../dataplane/store/expiry.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { writeBeside } from "../support/killed-writer/write-beside.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { sharedRedis } from "../support/redis/shared-redis.ts";
import { buildAll } from "../support/store/build-all.ts";
import { fillCollection, objectOf } from "../support/store/stored-objects.ts";
import { countForTier } from "../support/time/test-tier.ts";
import { freshCollection } from "./contract/fixture.ts";

const objects = countForTier(10_000, 100_000);
/** A step adds a hundred objects to all indexes, or the entries of some eighty. */
const steps = objects / 100;
const program = fileURLToPath(new URL("../support/killed-writer/redis-builder.ts", import.meta.url));
const fields = ["a", "b"].map((name) => ({ name, path: [name] }));

/** What is declared before the objects come, what afterwards, and the states until it is built. */
const added = {
  indexes: {
    before: { fields: [], entries: "kept" },
    after: { fields, entries: "kept" },
    states: ["building", "building"],
  },
  "entries by owner": {
    before: { fields, entries: "left out" },
    after: { fields, entries: "kept" },
    states: ["ready", "ready", "building"],
  },
} as const;

describe.each(Object.entries(added))(`%s that are added to ${objects} objects`, (_, { before, after, states }) => {
  let redis: TestRedis;
  let store: Store;
  beforeAll(async () => {
    redis = await startRedis();
    store = await openRedisStore({ url: redis.url });
  });
  afterAll(async () => {
    await store.close();
    await redis.stop();
  });

  it("end complete and exact though two replicas write meanwhile and the first builder is killed", async () => {
    const collection = freshCollection();
    const objectAt = (n: number) => objectOf(n, { a: String(n % 1_013), b: `"${n % 17}"` }, `user:u${n % 3}`);
    await store.declareIndexes(collection, before.fields, 1, before.entries);
    await fillCollection(store, collection, objects, objectAt);
    const declared = await store.declareIndexes(collection, after.fields, 2, after.entries);
    expect(declared.map(({ state }) => state)).toEqual(states);
    const other = spawn(process.execPath, [program, redis.url, JSON.stringify(collection), "200000", String(objects)]);
    const gone = new Promise((resolve) => other.once("exit", resolve));
    let isOver = false;
    const writing = writeBeside(store, collection, { first: 300_000, existing: objects, isOver: () => isOver });

    const seen = await stepsUntil(other.stdout, steps / 5);
    expect(new Set(seen)).toEqual(new Set(["more"]));
    expect(await store.buildIndexes(collection)).toBe("busy");
    other.kill("SIGKILL");
    await gone;
    expect((await store.indexes(collection)).map(({ state }) => state)).toEqual(states);

    const progress = await buildToTheEnd();
    isOver = true;
    expect(await writing).toBeGreaterThan(100);
    expect(progress.more).toBeGreaterThan(steps / 2);
    expect((await store.indexes(collection)).map(({ state }) => state)).toEqual(["ready", "ready"]);
    await expectIndexesExact(store, collection, ["user:u1"]);

    async function buildToTheEnd() {
      const counts = { more: 0, busy: 0 };
      for (;;) {
        const progress = await store.buildIndexes(collection);
        if (progress === "done") return counts;
        counts[progress] += 1;
        if (progress === "busy") await new Promise((resume) => setTimeout(resume, 100));
      }
    }
  });
});

it("an index whose sorted sets were deleted is exact again after its field was undeclared and declared", async () => {
  const { url } = sharedRedis();
  const store = await openRedisStore({ url });
  const client = new Redis(url);
  const collection = freshCollection();
  await store.declareIndexes(collection, fields, 1);
  await fillCollection(store, collection, 20, (n) => objectOf(n, { a: String(n), b: '"x"' }, "user:u1"));
  const keys = collectionKeys(collection);
  expect(await client.del(keys.index(1), keys.ownIndex(1))).toBe(2);
  await expect(expectIndexesExact(store, collection, [])).rejects.toThrow();
  await store.declareIndexes(collection, fields.slice(1), 2);
  await store.declareIndexes(collection, fields, 3);
  await buildAll(store, collection);
  await expectIndexesExact(store, collection, ["user:u1"]);
  client.disconnect();
  await store.close();
});

describe("an index that another version made", () => {
  const objectAt = (n: number) => objectOf(n, { a: String(n), b: '"x"' }, `user:u${n % 3}`);
  const all = { offset: 0, limit: 100, descending: false };
  let store: Store;
  let client: Redis;
  beforeAll(async () => {
    store = await openRedisStore({ url: sharedRedis().url });
    client = new Redis(sharedRedis().url);
  });
  afterAll(async () => {
    client.disconnect();
    await store.close();
  });

  /** A collection of 20 objects, as a version with this encoding would have left it. */
  async function storedWith(encoding: number) {
    const collection = freshCollection();
    const keys = collectionKeys(collection);
    const other = await openRedisStore({ url: sharedRedis().url });
    await other.declareIndexes(collection, fields, 1);
    await fillCollection(other, collection, 20, objectAt);
    await other.close();
    const found = JSON.parse((await client.hget(keys.indexSet, "fields")) ?? "[]") as readonly object[];
    const changed = JSON.stringify(found.map((each) => ({ ...each, encoding })));
    await client.hset(keys.indexSet, "fields", changed, "version", "of another version");
    await client.del(keys.index(1), keys.ownIndex(1));
    await client.zadd(keys.index(1), 0, "in another form");
    return { collection, index: keys.index(1) };
  }

  it("is neither read, written nor built while the version is newer, until a newer configuration declares it", async () => {
    const { collection, index } = await storedWith(1_000);
    const changes = [
      () => store.create(collection, objectAt(30), 100),
      () => store.replace(collection, objectOf(1, { a: "7" }, "user:u1"), objectAt(1)),
      () => store.remove(collection, objectAt(1).id, {}),
    ];
    for (const change of changes) {
      const message = expect.stringMatching("nothing was done. .+ update the data plane");
      expect(await change().catch(asProblem)).toMatchObject({ code: "store_unavailable", message });
    }
    expect(await store.pageByField(collection, {}, { index: "a" }, all)).toEqual({ outcome: "not_ready" });
    const declared = await store.declareIndexes(collection, fields, 1);
    expect(declared.map(({ state }) => state)).toEqual(["building", "building"]);
    expect(await store.buildIndexes(collection)).toBe("done");
    const { indexSet, buildLock } = collectionKeys(collection);
    await client.hset(indexSet, "cursor", "");
    expect(await store.buildIndexes(collection)).toBe("busy");
    expect(await client.exists(buildLock)).toBe(0);
    expect(await client.zrange(index, "0", "-1")).toEqual(["in another form"]);
    expect(await store.read(collection, objectAt(1).id, {})).toEqual({ text: objectAt(1).text });
    expect(await store.pageByCreation(collection, {}, all)).toMatchObject({ count: 20 });
    await store.declareIndexes(collection, fields, 2);
    await buildAll(store, collection);
    await expectIndexesExact(store, collection, ["user:u1"]);
  });

  it("of what expires removes no object and hides none while the version is newer", async () => {
    const expiry = { field: { name: "a", path: ["a"] } };
    const collection = { ...freshCollection(), expiry };
    const { indexSet, index } = collectionKeys(collection);
    const object = objectOf(1, { a: '"2100-01-01T00:00:00Z"' });
    await store.declareIndexes(collection, [expiryIndex(expiry)], 1);
    await store.create(collection, object, 100);
    const found = (await client.hget(indexSet, "fields")) ?? "";
    const changed = found.replace('"encoding":1', '"encoding":1000');
    await client.hset(indexSet, "fields", changed, "version", "of another version");
    await client.del(index(1));
    await client.zadd(index(1), 0, `${"0".repeat(15)}\0${object.id}`);
    expect(await store.removeExpired(collection)).toMatchObject({ next: undefined, removed: 0 });
    expect(await store.pageByCreation(collection, {}, all)).toEqual({ outcome: "not_ready" });
    expect(await Array.fromAsync(store.scan(collection, {}))).toEqual([[object.text]]);
  });

  it("is built again while objects are written where the version is older, without a newer configuration", async () => {
    const { collection } = await storedWith(0);
    await expect(store.create(collection, objectAt(30), 100)).rejects.toThrow(StoredByOtherVersion);
    const declared = await store.declareIndexes(collection, fields, 1);
    expect(declared.map(({ state }) => state)).toEqual(["building", "building"]);
    let isOver = false;
    const writing = writeBeside(store, collection, { first: 1_000, existing: 20, isOver: () => isOver });
    await buildAll(store, collection);
    isOver = true;
    expect(await writing).toBeGreaterThan(0);
    expect((await store.indexes(collection)).map(({ state }) => state)).toEqual(["ready", "ready"]);
    await expectIndexesExact(store, collection, ["user:u1"]);
  });
});

async function stepsUntil(output: NodeJS.ReadableStream, count: number): Promise<readonly string[]> {
  const steps: string[] = [];
  for await (const line of createInterface({ input: output })) {
    steps.push(line);
    if (steps.length === count) break;
  }
  return steps;
}
