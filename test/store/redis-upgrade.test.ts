// Replicas of this version and of an earlier one over one Redis, as during an update and after a rollback. The earlier one keeps the entries of
// owners always, and reads them unasked.

import { symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type EarlierTree, earlierTree } from "../../tools/earlier-tree.ts";
import { writeBeside } from "../support/killed-writer/write-beside.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { buildAll } from "../support/store/build-all.ts";
import { books, fields, fill, objectAt, owners, plenty, range } from "../support/store/owned-books.ts";
import { idOf, idsIn } from "../support/store/stored-objects.ts";

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

/** The last one that knew no other way. */
const earlierVersion = "0ec6a54de333f9cabb3474001228a90a47256a6e";

describe("beside a replica of an earlier version", () => {
  let tree: EarlierTree | undefined;
  let earlier: Store;
  beforeAll(async () => {
    tree = await earlierTree(earlierVersion);
    earlier = await openEarlier();
  });
  afterAll(async () => {
    await earlier.close();
    await tree?.remove();
  });

  /** Where this clone has no history, this version beside itself. */
  async function openEarlier(): Promise<Store> {
    if (tree === undefined) return openRedisStore({ url: redis.url });
    await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), `${tree.path}/node_modules`);
    const { createRedisStore } = await import(/* @vite-ignore */ `${tree.path}/dataplane/store/redis/redis-store.ts`);
    return createRedisStore({ url: redis.url, clock: systemClock, commandTimeoutMs: 20_000 });
  }

  it("both read what both wrote of a collection that it declared, and after a rollback", async () => {
    await earlier.declareIndexes(books, fields, 1);
    await fill(earlier, 60);
    // The same revision decides nothing anew: an update of the program is no change of the resource.
    await store.declareIndexes(books, fields, 1, "left out");
    await fill(store, 60, 60);
    await Promise.all([write(store, 1_000, 120, 40), write(earlier, 2_000, 120, 40)]);
    await expectIndexesExact(store, books, owners);
    await store.declareIndexes(books, fields, 2, "kept");
    await store.create(books, objectAt(3_000), plenty);
    await expectIndexesExact(store, books, owners);
    expect(idsIn(await earlierOwn("user:u0"))).toContain(idOf(3_000));
  });

  it("entries are added in spite of it: it writes, builds and declares meanwhile", async () => {
    await store.declareIndexes(books, fields, 1, "left out");
    await fill(store, 300);
    await fill(earlier, 300, 300);
    await earlier.declareIndexes(books, [...fields, { name: "c", path: ["c"] }], 2);
    // It declared the fields of revision 2 first.
    await store.declareIndexes(books, [...fields, { name: "c", path: ["c"] }], 2, "kept");
    const writing = [write(store, 1_000, 600, 100), write(earlier, 2_000, 600, 100)];
    await Promise.all([buildAll(store, books), buildAll(earlier, books), ...writing]);
    await buildAll(store, books);
    await expectIndexesExact(store, books, owners);
    await Promise.all([write(store, 5_000, 600, 50), write(earlier, 6_000, 600, 50)]);
    await expectIndexesExact(store, books, owners);
    expect(idsIn(await earlierOwn("user:u1"))).toEqual(await scanned("user:u1"));
  });

  async function write(by: Store, first: number, existing: number, creates: number): Promise<void> {
    let asked = 0;
    const isOver = () => {
      asked += 1;
      return asked > creates;
    };
    await writeBeside(by, books, { first, existing, isOver });
  }

  /** As that version answers: without an outcome. */
  async function earlierOwn(owner: string): Promise<readonly string[]> {
    const page = (await earlier.pageByCreation(books, { owner }, range)) as unknown as {
      readonly texts: readonly string[];
    };
    return page.texts;
  }

  async function scanned(owner: string): Promise<readonly string[]> {
    const texts: string[] = [];
    for await (const batch of store.scan(books, { owner })) texts.push(...batch);
    return idsIn(texts);
  }
});
