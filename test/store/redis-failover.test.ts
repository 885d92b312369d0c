// A store behind Sentinels when the primary changes, and one on a Cluster when slots move and nodes
// go away.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  NoReplica,
  NotReplicated,
  OutcomeUnknown,
  StoreUnavailable,
  WritesRefused,
} from "../../core/errors/store-errors.ts";
import { connect } from "../../core/redis/connect.ts";
import { isErrorReply } from "../../core/redis/failure.ts";
import { createRedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { DocumentRef } from "../../dataplane/store/ports/refs.ts";
import { collectionKeys, documentKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { moveSlot, slotOf } from "../support/redis/move-slot.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis } from "../support/redis/redis.ts";
import { startRedisCluster, startReplicaOf, type TestRedisCluster } from "../support/redis/redis-cluster.ts";
import { startRedisSentinel, type TestSentinel } from "../support/redis/redis-sentinel.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { fillCollection, idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { documentOf, textAt } from "./contract/document-steps.ts";
import { freshCollection, freshDocument } from "./contract/fixture.ts";

const roomy = { maxBytes: 1_000_000 };

interface Written {
  readonly created: readonly number[];
  readonly unknown: readonly number[];
}

/**
 * Inserts numbers one after the other until `isOver`; what is refused without effect is not tried
 * again.
 */
async function insertUntil(store: Store, document: DocumentRef, isOver: () => boolean): Promise<Written> {
  const created: number[] = [];
  const unknown: number[] = [];
  for (let n = 0; !isOver(); n += 1) {
    try {
      await store.insertAt(document, ["l", "-"], String(n), roomy);
      created.push(n);
    } catch (error) {
      if (error instanceof OutcomeUnknown) unknown.push(n);
      else if (!(error instanceof StoreUnavailable)) throw error;
    }
    // Not as many as can be, which would take a processor of its own.
    await sleep(3);
  }
  return { created, unknown };
}

async function storedIn(store: Store, document: DocumentRef): Promise<readonly number[]> {
  return JSON.parse(await textAt(store, document, ["l"])) as readonly number[];
}

/** Every acknowledged number once, and next to them at most those of which nobody knows. */
function expectOnce(stored: readonly number[], { created, unknown }: Written): void {
  expect(new Set(stored).size).toBe(stored.length);
  const storedSet = new Set(stored);
  expect(created.filter((n) => !storedSet.has(n))).toEqual([]);
  const explained = new Set([...created, ...unknown]);
  expect(stored.filter((n) => !explained.has(n))).toEqual([]);
}

describe("a store behind a Sentinel", () => {
  let sentinel: TestSentinel;
  let store: Store;
  beforeAll(async () => {
    sentinel = await startRedisSentinel({ downAfterMs: 60_000 });
    store = await openRedisStore({ url: sentinel.url, commandTimeoutMs: 4_000 });
  });
  afterAll(async () => {
    await store.close();
    await sentinel.stop();
  });

  it("goes on with the new primary after a failover, which has every write that waited for it", async () => {
    const document = await documentOf(store, '{"l":[]}');
    // Replication is asynchronous: a document that the new primary has never seen would be lost, as
    // is documented.
    await eventually(async () => {
      expect(await askRedis(sentinel.replica.port, `EXISTS ${documentKeys(document).value}`)).toContain(":1");
    });
    const replicated = { ...(await documentOf(store, '{"l":[]}')), durability: "Replicated" as const };
    let isOver = false;
    const writing = insertUntil(store, document, () => isOver);
    const waiting = insertUntil(store, replicated, () => isOver);
    // Refused until the Sentinel knows all of the replica.
    await eventually(async () => {
      expect(await askRedis(sentinel.port, "SENTINEL FAILOVER main")).toContain("+OK");
    });
    await eventually(
      async () => {
        expect(await askRedis(sentinel.replica.port, "INFO replication")).toContain("role:master");
        expect(await askRedis(sentinel.primary.port, "INFO replication")).toContain("role:slave");
        for (const each of [document, replicated]) {
          const write = await store.insertAt(each, ["l", "-"], "-1", roomy);
          expect(write.outcome).toBe("created");
        }
      },
      { withinMs: 60_000, everyMs: 100 },
    );
    isOver = true;
    const { created } = await writing;
    expect(created.length).toBeGreaterThan(10);
    const direct = await openRedisStore({ url: sentinel.replica.url });
    const stored = await storedIn(direct, document);
    // Replication is asynchronous: what the old primary acknowledged last may be lost, and that is
    // documented. Nothing is twice.
    const numbers = stored.filter((n) => n >= 0);
    expect(new Set(numbers).size).toBe(numbers.length);
    // What has waited for the Redis replica is there.
    const waited = await waiting;
    expect(waited.created.length).toBeGreaterThan(0);
    const replicatedNumbers = await storedIn(direct, replicated);
    expectOnce(
      replicatedNumbers.filter((n) => n >= 0),
      waited,
    );
    await direct.close();
  });
});

describe("a store behind one address", () => {
  it("goes on reading from what answers READONLY, and with the primary as soon as the address leads there", async () => {
    const [old, next] = [await startRedis(), await startRedis()];
    const proxy = await startTcpProxy(old.port);
    const store = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}` });
    try {
      const document = await documentOf(store, '{"l":[]}');
      await askRedis(old.port, "REPLICAOF 127.0.0.1 1");
      for (let n = 0; n < 60; n += 1) {
        await expect(store.insertAt(document, ["l", "-"], "1", roomy)).rejects.toBeInstanceOf(WritesRefused);
        expect(await textAt(store, document)).toBe('{"l":[]}');
        // Longer in all than the rest between two looks for a primary.
        await sleep(10);
      }
      proxy.lead(next.port);
      await eventually(async () => {
        await store.initialise(document, '{"l":[2]}');
        expect(await textAt(store, document)).toBe('{"l":[2]}');
      });
    } finally {
      await store.close();
      await proxy.stop();
      await Promise.all([old.stop(), next.stop()]);
    }
  });
});

describe("a store on a Cluster", () => {
  let cluster: TestRedisCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    url = cluster.url;
  });
  afterAll(() => cluster.stop());

  it("answers all of many calls at once right after it was opened", async () => {
    for (let n = 0; n < 5; n += 1) {
      const store = await openRedisStore({ url });
      const calls = Array.from({ length: 200 }, () => store.create(freshCollection(), objectOf(1, {}), 10));
      const answers = await Promise.all(calls);
      expect(answers.every(({ outcome }) => outcome === "created")).toBe(true);
      await store.close();
    }
  });

  it("applies each write once while its slot moves to another node and back", async () => {
    const store = await openRedisStore({ url });
    const document = await documentOf(store, '{"l":[]}');
    let isOver = false;
    const writing = Array.from({ length: 8 }, () => insertUntil(store, document, () => isOver));
    const keys = documentKeys(document);
    for (let n = 0; n < 6; n += 1) await moveSlot(cluster, slotOf(keys.value));
    // Its keys are apart for longer than a write is tried again: refused, which leaves no doubt.
    await moveSlot(cluster, slotOf(keys.value), { pauseMs: 500 });
    isOver = true;
    const lanes = await Promise.all(writing);
    // The lanes write the same numbers.
    const stored = [...(await storedIn(store, document))].sort((a, b) => a - b);
    const created = lanes.flatMap((lane) => lane.created).sort((a, b) => a - b);
    expect(lanes.flatMap((lane) => lane.unknown)).toEqual([]);
    expect(stored).toEqual(created);
    expect(created.length).toBeGreaterThan(100);
    await store.close();
  });

  it("reads every object of many at once as it is, while the slot moves object by object", async () => {
    const store = await openRedisStore({ url });
    const collection = freshCollection();
    const ids = Array.from({ length: 40 }, (_, n) => idOf(n));
    await fillCollection(store, collection, ids.length, (n) => objectOf(n, { a: String(n) }));
    const gone = idOf(ids.length);
    const read = () => Promise.all([...ids, gone].map((id) => store.read(collection, id, {})));
    const stored = await read();
    expect(stored.map((object, n) => object?.text === objectOf(n, { a: String(n) }).text)).toEqual([
      ...ids.map(() => true),
      false,
    ]);
    let times = 0;
    // Both while half of them are on either node, and while the client doesn't know yet that all of
    // them have moved.
    const between = async (): Promise<void> => {
      times += 1;
      for (let n = 0; n < 3; n += 1) expect(await read()).toEqual(stored);
    };
    const { objectKey, ids: set } = collectionKeys(collection);
    const half = new Set(ids.filter((_, n) => n % 2 === 0).map((id) => objectKey(id)));
    await moveSlot(cluster, slotOf(set), { pauseMs: 1, first: (key) => half.has(key), between });
    await between();
    expect(times).toBeGreaterThan(1);
    await store.close();
  });

  it("is told where keys that it reads together are, at once, and follows each of them alone", async () => {
    const client = await connect({ target: parseRedisUrl(url), name: "test", commandTimeout: 20_000 });
    const redisClient = createRedisClient(client);
    const keys = Array.from({ length: 4 }, (_, n) => `{together}:${n}`);
    for (const key of keys) await redisClient.write(key, "SET", key, key);
    const together = () => redisClient.readMany(keys, "MGET", ...keys);
    expect(await together()).toEqual(keys);
    const expectRefused = async (code: string): Promise<void> => {
      const failure = await together().catch((error: unknown) => error);
      expect([failure, isErrorReply(failure), (failure as Error).message]).toEqual([
        expect.any(StoreUnavailable),
        true,
        `Redis refused MGET: ${code}`,
      ]);
    };
    let times = 0;
    const between = async (): Promise<void> => {
      times += 1;
      await expectRefused(times === 1 ? "TRYAGAIN" : "ASK");
      expect(await Promise.all(keys.map((key) => redisClient.read(key, "GET", key)))).toEqual(keys);
    };
    await moveSlot(cluster, slotOf("{together}:0"), { first: (key) => key.endsWith("1"), between });
    await expectRefused("MOVED");
    expect(await redisClient.read("{together}:0", "GET", "{together}:0")).toBe("{together}:0");
    expect(await together()).toEqual(keys);
    redisClient.disconnect();
  });

  for (const [what, first] of [
    ["their documents", (key: string) => key.includes(":doc:")],
    ["their sets", (key: string) => !key.includes(":doc:")],
  ] as const) {
    it(`lists all objects or refuses, and builds indexes over all of them, while the slot moves and ${what} go first`, async () => {
      const store = await openRedisStore({ url });
      const collection = freshCollection();
      const total = 150;
      await fillCollection(store, collection, total, (n) => objectOf(n, { a: String(n) }));
      // The first of two steps; the builder's lock then moves with the rest.
      await store.declareIndexes(collection, [{ name: "a", path: ["a"] }], 1);
      expect(await store.buildIndexes(collection)).toBe("more");
      let isOver = false;
      const counts: number[] = [];
      const faults: unknown[] = [];
      const read = async (): Promise<void> => {
        const range = { offset: 0, limit: total, descending: false };
        const single = { offset: total - 1, limit: 1, descending: false };
        counts.push((await pageByCreation(store, collection, {}, range)).texts.length);
        counts.push((await pageByCreation(store, collection, {}, single)).texts.length + total - 1);
        let scanned = 0;
        for await (const batch of store.scan(collection, {})) scanned += batch.length;
        counts.push(scanned);
      };
      const reading = (async () => {
        while (!isOver) await read().catch((error) => void (error instanceof StoreUnavailable || faults.push(error)));
      })();
      const between = async (): Promise<void> => {
        for (let n = 0; n < 5; n += 1) await store.buildIndexes(collection).catch(() => undefined);
      };
      await moveSlot(cluster, slotOf(collectionKeys(collection).ids), { pauseMs: 5, first, between });
      isOver = true;
      await reading;
      await read();
      expect(faults).toEqual([]);
      expect(new Set(counts)).toEqual(new Set([total]));
      await eventually(async () => expect(await store.buildIndexes(collection)).toBe("done"));
      await expectIndexesExact(store, collection, []);
      await store.close();
    });
  }

  it("refuses while a node is away, loses nothing that was acknowledged, and is served again when it is back", async () => {
    const patient = await openRedisStore({ url });
    const documents = await onEveryNode(patient, cluster);
    const store = await openRedisStore({ url, commandTimeoutMs: 2_000 });
    let isOver = false;
    const writing = documents.map((document) => insertUntil(store, document, () => isOver));
    const [, node] = cluster.nodes;
    if (node === undefined) throw new Error("A cluster has three nodes");
    // Stopped and continued: what it holds in memory stays, as nothing is persisted here.
    await node.kill("SIGSTOP");
    await expect(untilRefused(store, documents[1])).resolves.toBeInstanceOf(StoreUnavailable);
    await node.kill("SIGCONT");
    await eventually(
      async () => {
        for (const document of documents) await store.putAt(document, ["back"], "1", { ...roomy, mayCreate: true });
      },
      { withinMs: 60_000, everyMs: 100 },
    );
    isOver = true;
    for (const [at, written] of (await Promise.all(writing)).entries()) {
      const document = documents[at];
      if (document !== undefined) expectOnce(await storedIn(patient, document), written);
    }
    await Promise.all([store.close(), patient.close()]);
  });

  it("refuses writes that wait for a Redis replica where one is lost alone, reads everywhere, and goes on once it is back", async () => {
    const [primary, other] = cluster.nodes;
    if (primary === undefined || other === undefined) throw new Error("A cluster has three nodes");
    const replicas = [await startReplicaOf(primary), await startReplicaOf(other)];
    // A quarter of it is how long a write waits for a replica.
    const store = await openRedisStore({ url, commandTimeoutMs: 4_000 });
    const documents = await onEveryNode(store, cluster);
    const [bereft, whole] = documents.map((document) => ({ ...document, durability: "Replicated" as const }));
    if (bereft === undefined || whole === undefined) throw new Error("There is one on each node");
    const insert = (document: DocumentRef, value: string) => store.insertAt(document, ["l", "-"], value, roomy);
    const created = { outcome: "created" };
    expect(await Promise.all([insert(bereft, "1"), insert(whole, "1")])).toMatchObject([created, created]);
    await replicas[0]?.kill();
    // The first one finds that it is lost.
    await expect(insert(bereft, "2")).rejects.toBeInstanceOf(NotReplicated);
    const refused = expect(insert(bereft, "3")).rejects.toBeInstanceOf(NoReplica);
    expect(await insert(whole, "2")).toMatchObject(created);
    await refused;
    expect(await Promise.all([storedIn(store, bereft), storedIn(store, whole)])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await replicas[0]?.restart();
    const write = () => store.putAt(bereft, ["back"], "1", { ...roomy, mayCreate: true });
    await eventually(write, { withinMs: 60_000 });
    expect(await storedIn(store, bereft)).toEqual([1, 2]);
    await Promise.all([store.close(), ...replicas.map((replica) => replica.stop())]);
  });
});

async function untilRefused(store: Store, document: DocumentRef | undefined): Promise<unknown> {
  if (document === undefined) throw new Error("No such document");
  for (;;) {
    const failure = await store.putAt(document, ["x"], "1", { ...roomy, mayCreate: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure !== undefined && !(failure instanceof OutcomeUnknown)) return failure;
  }
}

/** One document on each node, in the nodes' order. */
async function onEveryNode(store: Store, { nodes }: TestRedisCluster): Promise<readonly DocumentRef[]> {
  const found = new Map<number, DocumentRef>();
  while (found.size < nodes.length) {
    const document = freshDocument();
    const slot = slotOf(documentKeys(document).value);
    const owner = nodes.findIndex((_, at) => slot < Math.floor(((at + 1) * 16_384) / nodes.length));
    if (found.has(owner)) continue;
    await store.initialise(document, '{"l":[]}');
    found.set(owner, document);
  }
  return nodes.map((_, at) => found.get(at) ?? freshDocument());
}
