// Objects and documents that are read in one turn of the event loop are one command, and each
// caller gets what is true of its own key.

import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { connect } from "../../core/redis/connect.ts";
import type { RedisFault } from "../../core/redis/failure.ts";
import { createRedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { CollectionRef, DocumentRef } from "../../dataplane/store/ports/refs.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { createBatchedReads, keyHash } from "../../dataplane/store/redis/objects/batched-reads.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { fillCollection, idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const project = { namespace: "default", name: "shop" };
const books: CollectionRef = { project, resource: "books" };
const films: CollectionRef = { project, resource: "films" };
const flags: DocumentRef = { project, rootKey: "flags" };
const kibibytes = (count: number): string => JSON.stringify("x".repeat(count * 1024));
const total = 70;

let redis: TestRedis;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await startRedis();
  return () => redis.stop();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A store that has not read anything yet, on books, films and flags that are as they were. */
async function freshStore(url = redis.url): Promise<Store> {
  await askRedis(redis.port, "FLUSHALL");
  const filling = await openRedisStore({ url: redis.url });
  for (const collection of [books, films]) {
    await fillCollection(filling, collection, total, (n) => objectOf(n, { n: String(n) }));
  }
  await filling.initialise(flags, '{"a":{"b":1},"c":[1]}');
  await filling.close();
  const store = await openRedisStore({ url });
  closing.push(() => store.close());
  return store;
}

function read(store: Store, ids: readonly number[], collection = books): Promise<unknown[]> {
  return Promise.all(ids.map((n) => store.read(collection, idOf(n), {})));
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const textsOf = (ids: readonly number[]): unknown[] => ids.map((n) => ({ text: objectOf(n, { n: String(n) }).text }));

describe("objects and documents that are read in one turn", () => {
  it("are one command once they are known to be small, and one each before", async () => {
    const store = await freshStore();
    const ids = upTo(10);
    const sent = () => commandsSent(redis.port, async () => expect(await read(store, ids)).toEqual(textsOf(ids)));
    expect(await sent()).toEqual({ "json.get": 10 });
    expect(await sent()).toEqual({ "json.mget": 1 });
    expect(await sent()).toEqual({ "json.mget": 1 });
  });

  it.each([
    [1, { "json.get": 1 }],
    [2, { "json.mget": 1 }],
    [32, { "json.mget": 1 }],
    [33, { "json.mget": 1, "json.get": 1 }],
    [70, { "json.mget": 3 }],
  ])("are at most 32 to a command: %i", async (count, commands) => {
    const store = await freshStore();
    const ids = upTo(count);
    await read(store, ids);
    const reading = async () => expect(await read(store, ids)).toEqual(textsOf(ids));
    expect(await commandsSent(redis.port, reading)).toEqual(commands);
  });

  it("are a command for each collection, because a Cluster may have them on two nodes", async () => {
    const store = await freshStore();
    const reading = () => Promise.all([read(store, [1, 2, 3]), read(store, [4, 5], films), read(store, [6, 7])]);
    await reading();
    const sent = await commandsSent(redis.port, async () =>
      expect(await reading()).toEqual([textsOf([1, 2, 3]), textsOf([4, 5]), textsOf([6, 7])]),
    );
    expect(sent).toEqual({ "json.mget": 2 });
  });

  it("are a command for each root key, whose documents a Cluster may have on as many nodes", async () => {
    const store = await freshStore();
    const roots = upTo(3).map((n): DocumentRef => ({ project, rootKey: `root-${n}` }));
    for (const [n, root] of roots.entries()) await store.initialise(root, `{"n":${n}}`);
    const found = upTo(3).map((n) => ({ outcome: "found", text: `{"n":${n}}` }));
    const reading = async () => expect(await Promise.all(roots.map((root) => store.readAt(root, [])))).toEqual(found);
    await reading();
    expect(await commandsSent(redis.port, reading)).toEqual({ "json.get": 3 });
  });

  it("are a command for each turn", async () => {
    const store = await freshStore();
    await read(store, upTo(6));
    const sent = await commandsSent(redis.port, async () => {
      const first = read(store, [1, 2]);
      await new Promise(setImmediate);
      expect(await Promise.all([first, read(store, [3, 4])])).toEqual([textsOf([1, 2]), textsOf([3, 4])]);
    });
    expect(sent).toEqual({ "json.mget": 2 });
  });

  it("are read once when the same one is asked for more than once, however large and wherever in it", async () => {
    const store = await freshStore();
    await store.putAt(flags, ["large"], kibibytes(100), { maxBytes: 1_000_000, mayCreate: true });
    const reading = () =>
      Promise.all([
        read(store, [1, 1, 1]),
        ...upTo(4).map(() => store.readAt(flags, [])),
        ...upTo(4).map(() => store.readAt(flags, ["a", "b"])),
      ]);
    const [objects, ...values] = await reading();
    expect(objects).toEqual(textsOf([1, 1, 1]));
    expect(new Set(values.map((value) => JSON.stringify(value).length)).size).toBe(2);
    expect(await commandsSent(redis.port, reading)).toEqual({ "json.get": 3 });
  });

  it("are read alone where they were over 16 KiB the last time, and together again once they were small", async () => {
    const store = await freshStore();
    const { text } = objectOf(100, { value: '""' });
    const atLimit = (id: number, bytes: number) =>
      objectOf(id, { value: JSON.stringify("é".repeat((16 * 1024 - text.length) / 2) + "x".repeat(bytes)) });
    const rest = (16 * 1024 - text.length) % 2;
    await store.create(books, atLimit(100, rest), 1_000);
    await store.create(books, atLimit(101, rest + 1), 1_000);
    const ids = [1, 100, 101, 2];
    await read(store, ids);
    expect(await commandsSent(redis.port, () => read(store, ids))).toEqual({ "json.mget": 1, "json.get": 1 });
    // Another replica makes one of them large, and small again.
    const large = objectOf(1, { value: kibibytes(20) });
    const other = await openRedisStore({ url: redis.url });
    closing.push(() => other.close());
    await other.replace(books, large, objectOf(1, { n: "1" }));
    expect(await commandsSent(redis.port, () => read(store, ids))).toEqual({ "json.mget": 1, "json.get": 1 });
    expect(await commandsSent(redis.port, () => read(store, ids))).toEqual({ "json.mget": 1, "json.get": 2 });
    await other.replace(books, objectOf(1, { n: "1" }), large);
    await read(store, [1]);
    expect(await commandsSent(redis.port, () => read(store, ids))).toEqual({ "json.mget": 1, "json.get": 1 });
    await other.replace(books, large, objectOf(1, { n: "1" }));
    await read(store, [1]);
    expect(await commandsSent(redis.port, () => read(store, ids))).toEqual({ "json.mget": 1, "json.get": 2 });
  });

  it("are known by what was written to them, too", async () => {
    const store = await freshStore();
    const [one, two, large] = [objectOf(100, {}), objectOf(101, {}), objectOf(101, { value: kibibytes(20) })];
    for (const object of [one, two]) await store.create(books, object, 1_000);
    expect(await commandsSent(redis.port, () => read(store, [100, 101]))).toEqual({ "json.mget": 1 });
    await store.replace(books, large, two);
    expect(await commandsSent(redis.port, () => read(store, [100, 101]))).toEqual({ "json.get": 2 });
    await store.replace(books, two, large);
    expect(await commandsSent(redis.port, () => read(store, [100, 101]))).toEqual({ "json.mget": 1 });
  });
});

describe("of objects that are read together", () => {
  it("one that has gone is not found, and the others are", async () => {
    const store = await freshStore();
    const ids = [1, 2, 3];
    await read(store, ids);
    await store.remove(books, idOf(2), {});
    const reading = async () => expect(await read(store, ids)).toEqual([...textsOf([1]), undefined, ...textsOf([3])]);
    expect(await commandsSent(redis.port, reading)).toEqual({ "json.mget": 1, "json.get": 1 });
    // What is not there is not asked for together with others again.
    expect(await commandsSent(redis.port, reading)).toEqual({ "json.mget": 1, "json.get": 1 });
    expect(await commandsSent(redis.port, () => read(store, [2]))).toEqual({ "json.get": 1 });
  });

  it("one in whose place something else is stored fails alone", async () => {
    const store = await freshStore();
    await read(store, [1, 2, 3]);
    const key = collectionKeys(books).objectKey(idOf(2));
    await askRedis(redis.port, `SET ${key} x`);
    const [first, second, third] = await Promise.allSettled([1, 2, 3].map((n) => store.read(books, idOf(n), {})));
    expect([first, third]).toEqual(textsOf([1, 3]).map((value) => ({ status: "fulfilled", value })));
    expect(second).toMatchObject({ status: "rejected", reason: { name: "RedisFault" } });
    const alone = await store.read(books, idOf(2), {}).catch((error: unknown) => error);
    expect(second).toMatchObject({ reason: { message: (alone as RedisFault).message } });
  });

  it("each is read alone where Redis refuses to read them together", async () => {
    await askRedis(redis.port, "ACL SETUSER single on nopass ~* +@all -json.mget");
    const store = await freshStore(redis.url.replace("//", "//single:any@"));
    const ids = upTo(5);
    await read(store, ids);
    const reading = async () => expect(await read(store, ids)).toEqual(textsOf(ids));
    expect(await commandsSent(redis.port, reading)).toEqual({ "json.get": 5 });
  });

  it("each is unavailable when the connection ends before the answer, and read again over the next one", async () => {
    const proxy = await startTcpProxy(redis.port);
    closing.push(() => proxy.stop());
    const store = await freshStore(`redis://127.0.0.1:${proxy.port}`);
    const ids = upTo(40);
    await read(store, ids);
    proxy.dropRepliesTo(/JSON\.MGET/);
    const sent = await commandsSent(redis.port, async () => {
      const outcomes = Promise.allSettled(ids.map((n) => store.read(books, idOf(n), {})));
      await proxy.dropped();
      proxy.cut();
      for (const each of await outcomes) {
        expect(each).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
      }
    });
    expect(sent).toEqual({ "json.mget": 2 });
    await eventually(async () => expect(await read(store, ids)).toEqual(textsOf(ids)));
  });

  it("leave when there are enough for a command, before the turn has ended", async () => {
    await (await freshStore()).close();
    const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
    closing.push(async () => client.disconnect());
    const redisClient = createRedisClient(client);
    const sent: string[] = [];
    const { read: readOne, rememberSize } = createBatchedReads({
      ...redisClient,
      readMany(keys, ...command) {
        sent.push(`${keys.length} keys`);
        return redisClient.readMany(keys, ...command);
      },
      sendNow() {
        sent.push("now");
        redisClient.sendNow();
      },
    });
    const keys = upTo(40).map((n) => collectionKeys(books).objectKey(idOf(n)));
    for (const key of keys) rememberSize(key, "{}");
    const reading = Promise.all(keys.map((key) => readOne(key)));
    expect(sent).toEqual(["32 keys", "now"]);
    expect(await reading).toEqual(upTo(40).map((n) => objectOf(n, { n: String(n) }).text));
    expect(sent).toEqual(["32 keys", "now", "8 keys"]);
    // Of each collection: what is read of another one fills no command.
    const others = upTo(20).map((n) => collectionKeys(films).objectKey(idOf(n)));
    for (const key of others) rememberSize(key, "{}");
    sent.length = 0;
    const both = Promise.all([...keys.slice(0, 20), ...others].map((key) => readOne(key)));
    expect(sent).toEqual([]);
    await both;
    expect(sent).toEqual(["20 keys", "20 keys"]);
  });

  it("are each their own where two keys have the same hash", async () => {
    const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
    closing.push(async () => client.disconnect());
    const { read: readOne } = createBatchedReads(createRedisClient(client));
    const keys = ["costarring", "liquid"] as const;
    expect(keyHash(keys[0])).toBe(keyHash(keys[1]));
    for (const key of keys) await client.call("JSON.SET", key, ".", JSON.stringify(key));
    const both = () => Promise.all([...keys, ...keys].map((key) => readOne(key)));
    expect(await both()).toEqual(['"costarring"', '"liquid"', '"costarring"', '"liquid"']);
  });

  it("each is unavailable, and nothing is sent, when Redis goes away in the very turn", async () => {
    await (await freshStore()).close();
    const client = await connect({ target: parseRedisUrl(redis.url), name: "test", commandTimeout: 20_000 });
    const { read: readOne } = createBatchedReads(createRedisClient(client));
    const keys = upTo(5).map((n) => collectionKeys(books).objectKey(idOf(n)));
    await Promise.all(keys.map((key) => readOne(key)));
    const sent = await commandsSent(redis.port, async () => {
      const outcomes = Promise.allSettled(keys.map((key) => readOne(key)));
      client.disconnect();
      for (const each of await outcomes) {
        expect(each).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
      }
    });
    expect(sent).toEqual({});
  });
});
