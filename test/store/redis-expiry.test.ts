// Objects that expire in Redis: in a project that no replica has in memory, in full memory, and
// while Redis refuses the writes that would remove them.

import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { sweepExpired } from "../../dataplane/expiry/sweep.ts";
import { createCollectionPreparer } from "../../dataplane/objects/prepare-collection.ts";
import { expiryIndex } from "../../dataplane/store/expiry.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { project, withResource } from "../support/http/projects.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { fillCollection, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const expiry = { field: { name: "until", path: ["until"] } } as const;
const carts = { project: { namespace: "default", name: "shop" }, resource: "carts", expiry };
const shop = project("shop", withResource("carts", { expiry }));

let redis: TestRedis;
let redisClient: RedisClient;
let store: Store;
const closing: (() => unknown)[] = [];

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  store = await openRedisStore({ url: redis.url });
  closing.push(() => store.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const range = { offset: 0, limit: 10, descending: false };

/** One object stays, the other has a second left. */
async function fill(collection: CollectionRef = carts): Promise<void> {
  await store.declareIndexes(collection, [expiryIndex(expiry)], 1);
  await store.noteExpiring(collection, 0);
  const until = JSON.stringify(new Date(Date.now() + 1_000).toISOString());
  await store.create(collection, objectOf(1, { until }), 10);
  await store.create(collection, objectOf(2, {}), 10);
}

it("are removed from a project that no replica has in memory", async () => {
  await (await begunPublisher({ redisClient, keyring })).publish(shop);
  const followed = { url: redis.url, keyring: unchangingKeyring(keyring), clock: systemClock, replica: "r1" };
  const config = await openRedisDirectory(followed);
  closing.push(() => config.close());
  const { directory } = config;
  await fill();
  const preparer = createCollectionPreparer(store, () => undefined);
  const failures: unknown[] = [];
  const sweep = sweepExpired({ store, directory, preparer, onFailed: (failure) => failures.push(failure) });
  closing.push(preparer.close, sweep.stop);
  expect(directory.loaded()).toEqual([]);
  await eventually(async () => expect((await store.collectionSize(carts)).objects).toBe(1));
  expect([directory.loaded().length, failures]).toEqual([1, []]);
});

it("are removed by several replicas that mostly read different ones", async () => {
  await store.declareIndexes(carts, [expiryIndex(expiry)], 1);
  // A writer that knows of no expiry may store what has expired already.
  const { expiry: _expiry, ...unaware } = carts;
  const until = JSON.stringify(new Date(Date.now() - 1_000).toISOString());
  await fillCollection(store, unaware, 2_000, (at) => objectOf(at, { until }));
  const stores = await Promise.all([1, 2, 3].map(() => openRedisStore({ url: redis.url })));
  closing.push(...stores.map((each) => each.close));
  await redisClient.write("", "CONFIG", "RESETSTAT");
  await Promise.all(
    stores.map(async (each) => {
      while ((await each.removeExpired(carts, "others")).next !== undefined);
    }),
  );
  const reads = /cmdstat_json.get:calls=(\d+)/i.exec(String(await redisClient.read("", "INFO", "commandstats")));
  // Each is read twice, and six times where all do the same.
  expect(Number(reads?.[1])).toBeLessThan(2_000 * 4);
});

it("give memory back while it is used up, although the log of changes grows by each", async () => {
  const logged = { ...carts, changes: { retentionSeconds: 3_600, maxEntries: 1_000 } };
  await fill(logged);
  const begun = await store.newestChange(logged);
  await refusedWrites.OOM.enter(redis);
  closing.push(() => refusedWrites.OOM.leave(redis));
  await new Promise((resume) => setTimeout(resume, 1_001));
  expect(await store.count(logged, {})).toBe(1);
  await store.removeExpired(logged);
  expect((await store.collectionSize(logged)).objects).toBe(1);
  expect(await store.changesAfter(logged, begun, 10)).toMatchObject({ changes: [{ kind: "delete" }] });
});

it("are in no answer while Redis refuses the writes that would remove them", async () => {
  await fill();
  await redisClient.write("", "CONFIG", "SET", "min-replicas-to-write", "1");
  closing.push(() => redisClient.write("", "CONFIG", "SET", "min-replicas-to-write", "0"));
  await new Promise((resume) => setTimeout(resume, 1_001));
  const texts = [objectOf(2, {}).text];
  expect(await store.pageByCreation(carts, {}, range)).toEqual({ outcome: "page", count: 1, texts });
  const scanned: string[] = [];
  for await (const some of store.scan(carts, {})) scanned.push(...some);
  expect(scanned).toEqual(texts);
  expect(await store.read(carts, objectOf(1, {}).id, {})).toBeUndefined();
});

it("have lists that read many of them take turns, in which equal ones are read once", async () => {
  await store.declareIndexes(carts, [expiryIndex(expiry)], 1);
  const until = JSON.stringify(new Date(Date.now() - 1_000).toISOString());
  const { expiry: _expiry, ...unaware } = carts;
  await fillCollection(store, unaware, 2_100, (at) => objectOf(at, at < 2_050 ? { until } : {}));
  const limits = [1, 2, 2, 2, 3, 3];
  const ask = (limit: number) => store.pageByCreation(carts, {}, { ...range, limit });
  const sent = await commandsSent(redis.port, async () => {
    const pages = await Promise.all(limits.map(ask));
    expect(pages.map((page) => page.outcome === "page" && [page.count, page.texts.length])).toEqual(
      limits.map((limit) => [50, limit]),
    );
  });
  // Each list counts what has expired, and again in its turn.
  expect(sent.zlexcount).toBe(limits.length + 3);
});

it("cost a list nothing where nothing expires, and one script more where nothing has", async () => {
  const { expiry: _expiry, ...plain } = carts;
  const list = async () => expect(await store.pageByCreation(plain, {}, range)).toMatchObject({ count: 2 });
  await fill();
  await list();
  expect(await commandsSent(redis.port, list)).toEqual({ evalsha: 1, zcard: 1, zrange: 1, "json.mget": 1 });
  const expiringList = async () => expect(await store.pageByCreation(carts, {}, range)).toMatchObject({ count: 2 });
  await expiringList();
  expect(await commandsSent(redis.port, expiringList)).toEqual({
    ...{ evalsha: 2, zcard: 2, zrange: 2, "json.mget": 1 },
    ...{ hget: 1, zlexcount: 1, time: 2 },
  });
});
