// Objects that are created in one turn of the event loop are stored by one script, and each caller
// gets what is true of its own object.

import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreFull, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { connect } from "../../core/redis/connect.ts";
import { createRedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { NewObject } from "../../dataplane/store/ports/objects.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { createBatchedCreates } from "../../dataplane/store/redis/objects/batched-creates.ts";
import { createObjectScripts } from "../../dataplane/store/redis/objects/object-scripts.ts";
import { code } from "../../dataplane/store/redis/store-script.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";

const project = { namespace: "default", name: "shop" };
const books: CollectionRef = { project, resource: "books" };
const films: CollectionRef = { project, resource: "films" };
const filmsOfAnother: CollectionRef = { project: { namespace: "other", name: "shop" }, resource: "films" };
const plenty = 1_000;
const byN = { name: "n", path: ["n"] };

let redis: TestRedis;
let store: Store;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await startRedis();
  return () => redis.stop();
});
beforeEach(async () => {
  await askRedis(redis.port, "FLUSHALL");
  store = await openedStore();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** One that knows the indexes of books, which has one, and of both films. */
async function openedStore(url = redis.url): Promise<Store> {
  const opened = await openRedisStore({ url });
  closing.push(() => opened.close());
  await opened.declareIndexes(books, [byN], 1);
  for (const collection of [books, films, filmsOfAnother]) {
    await opened.create(collection, objectOf(999, {}), plenty);
    await opened.remove(collection, idOf(999), {});
  }
  return opened;
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const numbered = (n: number, owner?: string): NewObject => objectOf(n, { n: String(-n) }, owner);

function create(ids: readonly number[], collection = books, maxObjects = plenty): Promise<readonly string[]> {
  const created = ids.map((n) => store.create(collection, numbered(n), maxObjects));
  return Promise.all(created.map(async (each) => (await each).outcome));
}

/** Scripts that were run, each of which stores one object or several. */
async function scriptsSent(during: () => Promise<unknown>): Promise<number> {
  const { eval: whole = 0, evalsha = 0 } = await commandsSent(redis.port, during);
  return whole + evalsha;
}

describe("objects that are created in one turn", () => {
  it.each([
    [1, 1],
    [2, 1],
    [16, 1],
    [17, 2],
    [40, 3],
  ])("are at most 16 to a script: %i", async (count, scripts) => {
    const ids = upTo(count);
    expect(await scriptsSent(() => create(ids))).toBe(scripts);
    expect(await Promise.all(ids.map((n) => store.read(books, idOf(n), {})))).toEqual(
      ids.map((n) => ({ text: numbered(n).text })),
    );
    await expectIndexesExact(store, books, ["user:alice"]);
  });

  it("leave when there are enough for a script, before the turn has ended", async () => {
    const sent: string[] = [];
    const codes = (calls: readonly unknown[]) => calls.map(() => code.done);
    const batched = createBatchedCreates(
      { atEndOfTurn: (call) => void setImmediate(call), sendNow: () => void sent.push("now") },
      {
        create: async () => code.done,
        async createTogether(calls) {
          sent.push(`${calls.length} objects`);
          return codes(calls);
        },
      },
    );
    const keys = collectionKeys(books);
    const call = { keys, version: "1", maxObjects: 99, owner: "user:a", text: "{}", entries: [], keepsOwners: false };
    const creating = Promise.all(upTo(20).map((n) => batched.create({ ...call, id: idOf(n) })));
    expect(sent).toEqual(["16 objects", "now"]);
    expect(await creating).toEqual(codes(upTo(20)));
    expect(sent).toEqual(["16 objects", "now", "4 objects"]);
    // Of each collection: what is created in another one fills no script.
    sent.length = 0;
    const into = (collection: CollectionRef) =>
      upTo(10).map((n) => batched.create({ ...call, keys: collectionKeys(collection), id: idOf(n) }));
    const both = Promise.all([...into(books), ...into(films)]);
    expect(sent).toEqual([]);
    await both;
    expect(sent).toEqual(["10 objects", "10 objects"]);
  });

  it("are a script for each collection and each limit", async () => {
    const creating = () =>
      Promise.all([
        ...[create([1, 2, 3]), create([6, 7]), create([8], books, 99)],
        ...[create([4, 5], films), create([6], filmsOfAnother)],
      ]);
    expect(await scriptsSent(creating)).toBe(4);
    const counts = [books, films, filmsOfAnother].map((collection) => store.count(collection, {}));
    expect(await Promise.all(counts)).toEqual([6, 2, 1]);
  });

  it("are a script for each turn", async () => {
    const sent = await scriptsSent(async () => {
      const first = create([1, 2]);
      // The indexes are looked up first, so that the turn of the creates is the one after this.
      for (const _turn of [1, 2]) await new Promise(setImmediate);
      await Promise.all([first, create([3, 4])]);
    });
    expect(sent).toBe(2);
  });

  it("are stored alone where they have an idempotency record, or over 16 Ki characters", async () => {
    const large = objectOf(20, { n: JSON.stringify("x".repeat(16 * 1024)) });
    const record = { key: "k", text: "sent", seconds: 60 };
    const creating = () =>
      Promise.all([
        create([1, 2]),
        store.create(books, large, plenty),
        store.create(books, { ...numbered(21), record }, plenty),
        store.create(books, { ...numbered(22), record }, plenty),
      ]);
    expect(
      await scriptsSent(async () => expect((await creating()).at(-1)).toMatchObject({ outcome: "repeated" })),
    ).toBe(4);
    await expectIndexesExact(store, books, ["user:alice"]);
    expect(await store.count(books, {})).toBe(4);
  });

  it("belong each to its owner", async () => {
    const owners = ["user:alice", "user:bob", "user:alice", "apikey:worker"] as const;
    await Promise.all(owners.map((owner, n) => store.create(books, numbered(n, owner), plenty)));
    expect(
      await Promise.all(["user:alice", "user:bob", "user:carol"].map((owner) => store.count(books, { owner }))),
    ).toEqual([2, 1, 0]);
    await expectIndexesExact(store, books, ["user:alice", "user:bob", "apikey:worker"]);
  });

  it("are counted with their bytes where these are counted", async () => {
    await create(upTo(3));
    expect(await store.countBytes(books)).toBe("done");
    await create([10, 11, 12, 13]);
    const bytes = [0, 1, 2, 10, 11, 12, 13].reduce((sum, n) => sum + Buffer.byteLength(numbered(n).text), 0);
    expect(await store.collectionSize(books)).toEqual({ objects: 7, bytes, isCounted: true });
  });
});

describe("of objects that are created together", () => {
  it("as many are stored as the resource may have, the first ones", async () => {
    await create([0]);
    expect(await create(upTo(6).slice(1), books, 4)).toEqual([
      ...["created", "created", "created"],
      ...["quota_exceeded", "quota_exceeded"],
    ]);
    expect(await store.count(books, {})).toBe(4);
    await expectIndexesExact(store, books, ["user:alice"]);
  });

  it("one in whose place something else is stored fails alone, as it does when it comes alone", async () => {
    await askRedis(redis.port, `SET ${collectionKeys(books).objectKey(idOf(2))} x`);
    const outcomes = await Promise.allSettled([1, 2, 3].map((n) => store.create(books, numbered(n), plenty)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const alone = await store.create(books, numbered(2), plenty).catch((error: unknown) => error);
    expect(outcomes[1]).toMatchObject({ reason: { name: "RedisFault", message: (alone as Error).message } });
    expect(await store.count(books, {})).toBe(2);
    await askRedis(redis.port, `DEL ${collectionKeys(books).objectKey(idOf(2))}`);
    await expectIndexesExact(store, books, ["user:alice"]);
  });

  it("each has its entries in an index that another replica has just declared", async () => {
    const other = await openedStore();
    await other.declareIndexes(books, [byN, { name: "m", path: ["m"] }], 2);
    expect(await create(upTo(5))).toEqual(upTo(5).map(() => "created"));
    while ((await other.buildIndexes(books)) !== "done");
    await expectIndexesExact(other, books, ["user:alice"]);
  });

  it("each is refused as before when Redis has no memory left, and nothing is stored", async () => {
    await askRedis(redis.port, "CONFIG SET maxmemory 1");
    const outcomes = await Promise.allSettled(upTo(3).map((n) => store.create(books, numbered(n), plenty)));
    await askRedis(redis.port, "CONFIG SET maxmemory 0");
    const alone = { status: "rejected", reason: expect.any(StoreFull) };
    expect(outcomes).toMatchObject([alone, alone, alone]);
    expect(await store.count(books, {})).toBe(0);
    await expectIndexesExact(store, books, ["user:alice"]);
  });

  it("none is known to be stored when the connection ends before the answer, and each is", async () => {
    const proxy = await startTcpProxy(redis.port);
    closing.push(() => proxy.stop());
    store = await openedStore(`redis://127.0.0.1:${proxy.port}`);
    proxy.dropRepliesTo(/eval/i);
    const outcomes = Promise.allSettled(upTo(5).map((n) => store.create(books, numbered(n), plenty)));
    await proxy.dropped();
    proxy.cut();
    for (const each of await outcomes) expect(each).toMatchObject({ reason: expect.any(OutcomeUnknown) });
    const other = await openedStore();
    expect(await other.count(books, {})).toBe(5);
    await expectIndexesExact(other, books, ["user:alice"]);
  });

  it("each is unavailable, and nothing is sent, when Redis goes away in the very turn", async () => {
    const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
    const redisClient = createRedisClient(client);
    const batched = createBatchedCreates(redisClient, createObjectScripts(redisClient));
    const calls = upTo(5).map((n) => ({
      ...{ keys: collectionKeys(films), version: "", maxObjects: plenty, entries: [], keepsOwners: true },
      ...numbered(n),
    }));
    const sent = await commandsSent(redis.port, async () => {
      const outcomes = Promise.allSettled(calls.map((call) => batched.create(call)));
      client.disconnect();
      for (const each of await outcomes) expect(each).toMatchObject({ reason: expect.any(StoreUnavailable) });
    });
    expect(sent).toEqual({});
  });

  it("each has its entries where two callers know the indexes in another order, as after a declaration that changes it alone", async () => {
    const indexes = ["n", "m"].map((name, at) => ({
      ...{ name, path: [name] },
      slot: at + 1,
      encoding: 1,
      state: "ready" as const,
    }));
    const keys = collectionKeys(films);
    const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
    closing.push(async () => client.disconnect());
    const scripts = createObjectScripts(createRedisClient(client));
    const call = (n: number, order: typeof indexes) => ({
      ...{ keys, version: "", maxObjects: plenty, keepsOwners: true, ...numbered(n) },
      entries: order.map((index) => ({ index, value: `3${index.name}` })),
    });
    await scripts.createTogether([call(1, indexes), call(2, indexes.toReversed())]);
    for (const { slot, name } of indexes) {
      const members = await askRedis(redis.port, `ZRANGE ${keys.index(slot)} 0 -1`);
      expect([...members.matchAll(/3[nm]/g)].map(([value]) => value)).toEqual([`3${name}`, `3${name}`]);
    }
  });
});
