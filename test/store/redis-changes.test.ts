// Logs of changes in Redis, where others have a hand in it: connections that end, memory that is
// used up, rights that are missing, a log that lost its end, replicas that keep none.

import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StoreFull } from "../../core/errors/store-errors.ts";
import { purgeCollection, purgeDocument } from "../../dataplane/config/purge-steps.ts";
import { loggedBytes } from "../../dataplane/store/change-entries.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { LoggedRef } from "../../dataplane/store/ports/changes.ts";
import { collectionKeys, documentKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { startRedisSentinel } from "../support/redis/redis-sentinel.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { sharedRedisCluster } from "../support/redis/shared-redis.ts";
import { fillCollection, idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { entriesAfter, loggedCollection, loggedDocument, unlogged } from "./contract/logged-refs.ts";

const plenty = 1_000_000;
const limits = { maxBytes: plenty, mayCreate: true };
const noObject = ["put", "", ""];

let redis: TestRedis;
let admin: Redis;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await startRedis();
  admin = new Redis({ port: redis.port, host: redis.host });
});
beforeEach(() => admin.flushall());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
});

async function opened(url = redis.url, commandTimeoutMs = 20_000): Promise<Store> {
  const store = await openRedisStore({ url, commandTimeoutMs });
  closing.push(() => store.close());
  return store;
}

async function outcomeAt(store: Store, of: LoggedRef, position: string): Promise<string> {
  return (await store.changesAfter(of, position, 10)).outcome;
}

/** The connections for subscriptions that stores have to this server. */
async function subscribers(server: Redis): Promise<readonly string[]> {
  const clients = String(await server.client("LIST")).split("\n");
  const ours = clients.filter((line) => line.includes(" name=jsonplane-changes "));
  return ours.map((line) => /\bid=(\d+)/.exec(line)?.[1] ?? "");
}

/** Returns how many there were. */
async function killSubscriber(server: Redis): Promise<number> {
  const ids = await subscribers(server);
  for (const id of ids) await server.client("KILL", "ID", id);
  return ids.length;
}

/** Follows a collection that another store writes to, and counts. */
async function followed(url: string, store?: Store) {
  const [following, other] = [store ?? (await opened(url)), await opened(url)];
  const collection = loggedCollection();
  await other.newestChange(collection);
  const calls = { count: 0 };
  let n = 0;
  const end = following.onChanges(collection, () => (calls.count += 1));
  const callsBackAfterWrite = async () => {
    const before = calls.count;
    await other.create(collection, objectOf(++n, {}), plenty);
    await eventually(() => expect(calls.count).toBeGreaterThan(before));
  };
  // By then it listens: the first call may be the one that says so.
  await eventually(() => expect(calls.count).toBeGreaterThan(0));
  await callsBackAfterWrite();
  return { calls, end, callsBackAfterWrite, store: following };
}

describe("a subscription to changes", () => {
  it("whose connection was killed is made again, and calls back for what it may have missed", async () => {
    const { calls, callsBackAfterWrite } = await followed(redis.url);
    const before = calls.count;
    expect(await killSubscriber(admin)).toBe(1);
    await eventually(() => expect(calls.count).toBeGreaterThan(before));
    await callsBackAfterWrite();
  });

  it("whose connection was killed in a Cluster is made again", async () => {
    const { url, nodes } = await sharedRedisCluster();
    const { calls, callsBackAfterWrite } = await followed(url);
    const before = calls.count;
    let killed = 0;
    for (const { port, host } of nodes) {
      const node = new Redis({ port, host });
      killed += await killSubscriber(node);
      node.disconnect();
    }
    expect(killed).toBeGreaterThan(0);
    await eventually(() => expect(calls.count).toBeGreaterThan(before));
    await callsBackAfterWrite();
  });

  it("whose connection went silent is made again", async () => {
    const proxy = await startTcpProxy(redis.port);
    closing.push(() => proxy.stop());
    const store = await opened(`redis://127.0.0.1:${proxy.port}`, 1_000);
    const { calls, callsBackAfterWrite } = await followed(redis.url, store);
    const before = calls.count;
    proxy.abandon();
    await eventually(() => expect(calls.count).toBeGreaterThan(before));
    await callsBackAfterWrite();
  });

  it("goes to the server that Sentinels name", async () => {
    const sentinel = await startRedisSentinel();
    closing.push(() => sentinel.stop());
    await followed(sentinel.url);
  });

  it("shares one connection with all others, and ends with the store", async () => {
    const { store, end } = await followed(redis.url);
    const second = loggedCollection();
    const calls = { count: 0 };
    store.onChanges(second, () => (calls.count += 1));
    end();
    await eventually(() => expect(calls.count).toBeGreaterThan(0));
    const channels = () => admin.pubsub("CHANNELS") as Promise<string[]>;
    await eventually(async () => expect(await channels()).toEqual([collectionKeys(second).log]));
    expect(await subscribers(admin)).toHaveLength(1);
    await store.close();
    await eventually(async () => expect(await subscribers(admin)).toEqual([]));
  });

  it("is made again once Redis is back", async () => {
    const own = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
    closing.push(() => own.stop());
    const { calls, callsBackAfterWrite } = await followed(own.url);
    await own.kill();
    const before = calls.count;
    await own.restart();
    await eventually(() => expect(calls.count).toBeGreaterThan(before));
    await eventually(callsBackAfterWrite);
  });
});

describe("while memory is used up", () => {
  afterEach(() => refusedWrites.OOM.leave(redis));

  it("removals leave their entries, refused writes none", async () => {
    const store = await opened();
    const [collection, document] = [loggedCollection(), loggedDocument()];
    for (const n of [1, 2]) await store.create(collection, objectOf(n, {}), plenty);
    await store.initialise(document, '{"a":1,"l":[1],"b\\"":2}');
    const before = [await store.newestChange(collection), await store.newestChange(document)] as const;
    await refusedWrites.OOM.enter(redis);
    await expect(store.create(collection, objectOf(3, {}), plenty)).rejects.toBeInstanceOf(StoreFull);
    await expect(store.replace(collection, objectOf(2, { a: "1" }), objectOf(2, {}))).rejects.toBeInstanceOf(StoreFull);
    expect(await store.remove(collection, idOf(1), {})).toBe(true);
    await expect(store.putAt(document, ["a"], "2", limits)).rejects.toBeInstanceOf(StoreFull);
    for (const path of [["a"], ["l", "0"], ['b"']]) {
      expect(await store.removeAt(document, path)).toEqual({ outcome: "removed" });
    }
    expect(await entriesAfter(store, collection, before[0])).toEqual([["delete", idOf(1), "user:alice"]]);
    expect(await entriesAfter(store, document, before[1])).toEqual([noObject, noObject, noObject]);
  });

  it("a log begins, and is deleted", async () => {
    const store = await opened();
    const [collection, document] = [loggedCollection(), loggedDocument()];
    await store.create(collection, objectOf(1, {}), plenty);
    await store.initialise(document, '{"a":1}');
    await refusedWrites.OOM.enter(redis);
    const position = await store.newestChange(collection);
    await store.newestChange(document);
    expect(await store.remove(unlogged(collection), idOf(1), {})).toBe(true);
    expect(await outcomeAt(store, collection, position)).toBe("lost");
    await purgeCollection(store, collection);
  });
});

describe("a position", () => {
  it("is lost when an entry of its id has another content, as after a failover", async () => {
    const store = await opened();
    const collection = loggedCollection();
    const begin = await store.newestChange(collection);
    await store.create(collection, objectOf(1, {}), plenty);
    const position = await store.newestChange(collection);
    const { log } = collectionKeys(collection);
    const [id = ""] = position.split(".");
    const entries = await admin.xrange(log, "-", "+");
    await admin.del(log);
    for (const [known, fields] of entries) {
      await admin.xadd(log, known, ...(known === id ? ["kind", "put", "id", idOf(2), "owner", "user:alice"] : fields));
    }
    expect(await outcomeAt(store, collection, position)).toBe("lost");
    expect(await entriesAfter(store, collection, begin)).toEqual([["put", idOf(2), "user:alice"]]);
  });

  it("in the end that a failover lost is lost, others are not", async () => {
    const store = await opened();
    const document = loggedDocument();
    const before = await store.newestChange(document);
    await store.initialise(document, "{}");
    const position = await store.newestChange(document);
    await admin.xdel(documentKeys(document).log, position.split(".")[0] ?? "");
    expect(await outcomeAt(store, document, position)).toBe("lost");
    await store.putAt(document, [], "[]", limits);
    expect(await outcomeAt(store, document, position)).toBe("lost");
    expect(await entriesAfter(store, document, before)).toEqual([noObject]);
  });

  it("is lost with the mark that there is a log, without which no write leaves entries", async () => {
    const store = await opened();
    const [collection, document] = [loggedCollection(), loggedDocument()];
    const positions = [await store.newestChange(collection), await store.newestChange(document)] as const;
    await admin.hdel(collectionKeys(collection).indexSet, "changes");
    await admin.del(documentKeys(document).size);
    await store.create(collection, objectOf(1, {}), plenty);
    await store.initialise(document, "{}");
    expect(await outcomeAt(store, collection, positions[0])).toBe("lost");
    expect(await outcomeAt(store, document, positions[1])).toBe("lost");
  });
});

describe("a log", () => {
  it("begins with an entry that differs from those of others, even if its id doesn't", async () => {
    const store = await opened();
    const begun = await Promise.all(
      [loggedCollection(), loggedCollection(), loggedDocument()].map(async (of) => {
        await store.newestChange(of);
        const { log } = "resource" in of ? collectionKeys(of) : documentKeys(of);
        return (await admin.xrange(log, "-", "+")).map(([, fields]) => fields.join()).join();
      }),
    );
    expect(new Set(begun).size).toBe(3);
  });

  it("of what has no object or value is removed by a purge", async () => {
    const store = await opened();
    const [collection, document] = [loggedCollection(), loggedDocument()];
    await store.newestChange(collection);
    await store.newestChange(document);
    await purgeCollection(store, collection);
    await purgeDocument(store, document);
    expect(await admin.keys("*")).toEqual([]);
  });
});

describe("without the rights that a log needs", () => {
  it.each(["&jp:*", "+publish", "+xtrim"])("as %s no log begins, and writes go on", async (right) => {
    const own = await startRedis();
    closing.push(() => own.stop());
    await allowAsDocumented(own, right);
    const store = await opened(documentedUrl(own, "jsonplane-dataplane"));
    const [collection, document] = [loggedCollection(), loggedDocument()];
    await store.initialise(document, "{}");
    for (const of of [collection, document]) {
      await expect(store.newestChange(of)).rejects.toMatchObject({ name: "RedisFault" });
    }
    expect(await store.create(collection, objectOf(1, {}), plenty)).toMatchObject({ outcome: "created" });
    expect(await store.putAt(document, [], "1", limits)).toMatchObject({ outcome: "replaced" });
    expect(await outcomeAt(store, collection, "1-0.00000000")).toBe("lost");
  });
});

describe("writes that declare no log", () => {
  it("send what they sent without logs, and leave no key for one", async () => {
    const store = await opened();
    const [collection, document] = [unlogged(loggedCollection()), unlogged(loggedDocument())];
    const first = objectOf(1, {});
    await store.create(collection, first, plenty);
    await store.initialise(document, "{}");
    const sent = async (during: () => Promise<unknown>) => {
      const { evalsha: _, eval: __, ...commands } = await commandsSent(redis.port, during);
      return commands;
    };
    const written = { "json.set": 1, hmget: 1 };
    expect(await sent(() => store.create(collection, objectOf(2, {}), plenty))).toEqual({
      ...{ ...written, zadd: 2, zcard: 1 },
    });
    expect(await sent(() => store.replace(collection, objectOf(1, { a: "1" }), first))).toEqual({
      ...{ ...written, "json.get": 1 },
    });
    expect(await sent(() => store.remove(collection, idOf(2), {}))).toEqual({
      ...{ hmget: 1, "json.get": 2, del: 1, zrange: 1, zrem: 2 },
    });
    expect(await sent(() => store.putAt(document, [], "[]", limits))).toEqual({
      "json.type": 1,
      "json.set": 1,
      set: 1,
    });
    expect(await sent(() => store.insertAt(document, ["-"], "1", limits))).toEqual({
      ...{ "json.arrappend": 1, get: 1, set: 1 },
    });
    const keys = await admin.keys("*");
    expect(keys.filter((key) => key.endsWith(":changes"))).toEqual([]);
    expect(await admin.get(documentKeys(document).size)).toBe("3");
    expect(await admin.exists(collectionKeys(collection).indexSet)).toBe(0);
  });
});

describe("the bytes that sizes count for an entry", () => {
  it.each([
    ["an object", loggedCollection(), loggedBytes.object],
    ["a document", loggedDocument(), loggedBytes.document],
  ] as const)("of %s are about those that it takes", async (_, of, bytes) => {
    const store = await opened();
    await store.newestChange(of);
    const count = 2_000;
    if ("resource" in of) await fillCollection(store, of, count, (n) => objectOf(n, {}, "user:somebody@example.com"));
    else {
      await store.initialise(of, "[]");
      for (let n = 0; n < count; n += 1) await store.insertAt(of, ["-"], "1", limits);
    }
    const { log } = "resource" in of ? collectionKeys(of) : documentKeys(of);
    const used = Number(await admin.call("MEMORY", "USAGE", log, "SAMPLES", "0")) / count;
    expect(used).toBeGreaterThan(bytes * 0.7);
    expect(used).toBeLessThan(bytes * 1.33);
  });
});
