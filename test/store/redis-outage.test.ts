// What callers of the Redis store get, and what is stored, when connections end at a bad
// moment, the server goes away, stands still or refuses.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { Store, StoreObservation } from "../../dataplane/store/port.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { documentOf, textAt } from "./contract/document-steps.ts";
import { freshCollection, freshDocument, freshProject } from "./contract/fixture.ts";

const plenty = 1_000_000;
const roomy = { maxBytes: plenty };
/** Of stores that are not to wait for a Redis that stands still. */
const commandTimeoutMs = 2_000;

let redis: TestRedis;
let admin: Redis;
beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  admin = new Redis({ port: redis.port, host: redis.host });
  admin.on("error", () => undefined);
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
});

describe("a connection that ends between a write and its answer", () => {
  let proxy: TcpProxy;
  let store: Store;
  let direct: Store;
  const seen: StoreObservation[] = [];
  beforeEach(async () => {
    proxy = await startTcpProxy(redis.port);
    const observe = (observation: StoreObservation) => seen.push(observation);
    store = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}`, observe });
    direct = await openRedisStore({ url: redis.url });
    seen.length = 0;
  });
  afterEach(async () => {
    await Promise.all([store.close(), direct.close()]);
    await proxy.stop();
  });

  /**
   * Loses what passes in one direction, then the connection; resolves with what the caller was
   * told.
   */
  async function lose<T>(direction: "requests" | "replies", call: () => Promise<T>): Promise<unknown> {
    proxy.drop(direction);
    const result = call().catch((error: unknown) => error);
    await proxy.dropped();
    proxy.cut();
    return result;
  }

  async function isBack(): Promise<void> {
    await eventually(() => expect(store.health()).toMatchObject({ reachable: true }));
  }

  it("leaves an insert applied once when the answer was lost, and the caller is told that nobody knows", async () => {
    const document = await documentOf(direct, '{"l":[]}');
    for (let n = 0; n < 5; n += 1) {
      const result = await lose("replies", () => store.insertAt(document, ["l", "-"], String(n), roomy));
      expect(result).toBeInstanceOf(OutcomeUnknown);
      await isBack();
      await sleep(20);
      expect(await textAt(direct, document)).toBe(`{"l":[${Array.from({ length: n + 1 }, (_, at) => at).join(",")}]}`);
    }
    expect(seen.filter(({ outcome }) => outcome === "unknown")).toHaveLength(5);
  });

  it("leaves nothing when the write itself was lost, and the caller is told that nobody knows", async () => {
    const document = await documentOf(direct, '{"l":[]}');
    expect(await lose("requests", () => store.insertAt(document, ["l", "-"], "1", roomy))).toBeInstanceOf(
      OutcomeUnknown,
    );
    await isBack();
    await sleep(20);
    expect(await textAt(direct, document)).toBe('{"l":[]}');
  });

  const project = freshProject();
  const collection = { project, resource: "books" };
  const session = {
    id: "lost",
    username: "alice",
    projectUid: "p",
    credentialRevision: "1",
    created: 1,
    lastRefresh: 1,
    expires: 4_000_000_000,
  };
  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    "a create": () => store.create(collection, objectOf(1, { a: "1" }), plenty),
    "a replace": () => store.replace(collection, objectOf(1, { a: "2" }), objectOf(1, { a: "1" })),
    "a session": () => store.putSession(project, session, { maxPerUser: 100, maxPerProject: 1_000 }),
    "a spending": () => store.spend([{ name: "login:lost/shop:1", limit: 5, windowSeconds: 60 }]),
    "a purge of a document": () => store.purgeDocument({ project, rootKey: "flags" }, "its name"),
  };
  for (const [what, write] of Object.entries(writes)) {
    it(`answers ${what} with OutcomeUnknown`, async () => {
      await direct.create(collection, objectOf(9, {}), plenty).catch(() => undefined);
      // So that the write is the next thing sent: what the store knows of indexes is loaded before.
      await store.create({ project: freshProject(), resource: "warm" }, objectOf(1, {}), plenty);
      await store.indexes(collection);
      expect(await lose("replies", write)).toBeInstanceOf(OutcomeUnknown);
      await isBack();
    });
  }

  it("answers reads with StoreUnavailable, because nothing can have happened", async () => {
    const document = await documentOf(direct, '{"a":1,"0":2}');
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.readAt(document, ["a"]),
      () => store.readAt(document, ["0"]),
      () => store.read(freshCollection(), "none", { owner: "user:alice" }),
      () => store.count(freshCollection(), {}),
      () => store.pageByCreation(freshCollection(), {}, { offset: 0, limit: 10, descending: false }),
      () => store.session(project, "none"),
    ];
    for (const read of reads) {
      expect(await lose("replies", read)).toBeInstanceOf(StoreUnavailable);
      await isBack();
    }
  });

  it("answers every call under way, and none twice, when hundreds are", async () => {
    const document = await documentOf(direct, '{"l":[]}');
    const calls = Array.from({ length: 300 }, (_, n) =>
      store.insertAt(document, ["l", "-"], String(n), roomy).then(
        ({ outcome }) => ({ n, outcome: outcome as string }),
        (error: unknown) => ({ n, outcome: error instanceof Error ? error.name : "" }),
      ),
    );
    await sleep(1);
    proxy.cut();
    const answers = await Promise.all(calls);
    await isBack();
    const stored = JSON.parse(await textAt(direct, document, ["l"])) as number[];
    expect(new Set(stored).size).toBe(stored.length);
    for (const { n, outcome } of answers) {
      expect(["created", "OutcomeUnknown", "StoreUnavailable"]).toContain(outcome);
      if (outcome === "created") expect(stored).toContain(n);
      if (outcome === "StoreUnavailable") expect(stored).not.toContain(n);
    }
  });
});

describe("a Redis that goes away", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openRedisStore({ url: redis.url });
  });
  afterEach(async () => {
    await store.close();
  });

  it("makes reads and writes fail at once with StoreUnavailable, and is served again when it is back", async () => {
    const document = await documentOf(store, '{"a":1}');
    const collection = freshCollection();
    await store.declareIndexes(collection, [{ name: "a", path: ["a"] }], 1);
    await store.create(collection, objectOf(1, { a: "1" }), plenty);
    await redis.kill("SIGKILL");
    await eventually(() => expect(store.health()).toMatchObject({ reachable: false }));
    await expect(store.readAt(document, ["a"])).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.insertAt(document, ["b"], "1", roomy)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.create(collection, objectOf(2, {}), plenty)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.count(collection, {})).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(store.scan(collection, {})[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(StoreUnavailable);
    await redis.restart();
    await eventually(() => expect(store.health()).toMatchObject({ reachable: true }));
    expect(await textAt(store, document)).toBe('{"a":1}');
    expect((await store.create(collection, objectOf(2, { a: "0" }), plenty)).outcome).toBe("created");
    await expectIndexesExact(store, collection, ["user:alice"]);
  });

  it("refuses to open a store on a server that isn't there, without waiting for it", async () => {
    const proxy = await startTcpProxy(redis.port);
    await proxy.stop();
    const opening = openRedisStore({ url: `redis://127.0.0.1:${proxy.port}` });
    await expect(opening).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it("that stands still makes a write unknown, later calls unavailable, and is served again when it goes on", async () => {
    const document = await documentOf(store, '{"l":[]}');
    const quick = await openRedisStore({ url: redis.url, commandTimeoutMs });
    await redis.kill("SIGSTOP");
    try {
      await expect(quick.insertAt(document, ["l", "-"], "1", roomy)).rejects.toBeInstanceOf(OutcomeUnknown);
      await expect(quick.readAt(document, [])).rejects.toBeInstanceOf(StoreUnavailable);
      await eventually(async () => {
        const late = quick.insertAt(document, ["l", "-"], "2", roomy);
        await expect(late).rejects.toBeInstanceOf(StoreUnavailable);
      });
    } finally {
      await redis.kill("SIGCONT");
    }
    await eventually(() => expect(quick.health()).toMatchObject({ reachable: true }));
    await quick.close();
    const stored = JSON.parse(await textAt(store, document, ["l"])) as number[];
    expect(stored.filter((value) => value === 1)).toHaveLength(1);
    expect(new Set(stored).size).toBe(stored.length);
  });
});

describe("a Redis that refuses", () => {
  let store: Store;
  beforeAll(async () => {
    store = await openRedisStore({ url: redis.url });
  });
  afterAll(() => store.close());

  const noMemory = "has no memory left";
  const states: Readonly<
    Record<string, { readonly enter: () => Promise<unknown>; readonly leave: () => Promise<unknown> }>
  > = {
    "is a replica": {
      enter: () => admin.replicaof("127.0.0.1", 1),
      leave: () => admin.replicaof("NO", "ONE"),
    },
    [noMemory]: {
      enter: () => admin.config("SET", "maxmemory", "1"),
      leave: () => admin.config("SET", "maxmemory", "0"),
    },
    "wants more replicas than it has": {
      enter: () => admin.config("SET", "min-replicas-to-write", "1"),
      leave: () => admin.config("SET", "min-replicas-to-write", "0"),
    },
  };
  for (const [what, { enter, leave }] of Object.entries(states)) {
    it(`because it ${what} answers writes with StoreUnavailable and leaves nothing of them, and reads go on`, async () => {
      const collection = freshCollection();
      const fields = [{ name: "a", path: ["a"] }];
      await store.declareIndexes(collection, fields, 1);
      await store.create(collection, objectOf(1, { a: "1" }), plenty);
      const document = await documentOf(store, '{"a":1}');
      const { project } = collection;
      const session = {
        id: "s",
        projectUid: "p",
        username: "u",
        credentialRevision: "r",
        created: 1,
        lastRefresh: 1,
        expires: 4e9,
      };
      await enter();
      try {
        for (const write of [
          () => store.create(collection, objectOf(2, { a: "2" }), plenty),
          () => store.replace(collection, objectOf(1, { a: "3" }), objectOf(1, { a: "1" })),
          () => store.insertAt(document, ["b"], "1", roomy),
          () => store.putAt(document, ["a"], "2", { ...roomy, mayCreate: false }),
          () => store.initialise(freshDocument(), "{}"),
          // A purge begins by dropping indexes, which frees memory.
          ...(what === noMemory ? [] : [() => store.declareIndexes(collection, [], 2)]),
          () => store.putSession(project, session, { maxPerUser: 100, maxPerProject: 1_000 }),
          () => store.spend([{ name: `login:${project.namespace}/shop:1`, limit: 5, windowSeconds: 60 }]),
        ]) {
          await eventually(async () => expect(store.health().reachable).toBe(true));
          await expect(write()).rejects.toBeInstanceOf(StoreUnavailable);
        }
        await eventually(async () => expect(await store.count(collection, {})).toBe(1));
        expect(await textAt(store, document)).toBe('{"a":1}');
        if (what === noMemory) expect(await store.declareIndexes(collection, [], 2)).toEqual([]);
      } finally {
        await leave();
      }
      await eventually(async () => {
        expect((await store.create(collection, objectOf(2, { a: "2" }), plenty)).outcome).toBe("created");
      });
      await expectIndexesExact(store, collection, ["user:alice"]);
      expect(await store.session(project, "s")).toBeUndefined();
      expect(await store.sessions(project, { limit: 5 })).toEqual([]);
    });
  }

  it("because a script of somebody else runs for too long answers with StoreUnavailable", async () => {
    const document = await documentOf(store, '{"a":1}');
    await admin.config("SET", "busy-reply-threshold", "50");
    const other = new Redis({ port: redis.port, host: redis.host });
    const endless = other.eval("while true do end", 0).catch(() => undefined);
    try {
      await eventually(async () => {
        const write = store.putAt(document, ["a"], "2", { ...roomy, mayCreate: false });
        await expect(write).rejects.toBeInstanceOf(StoreUnavailable);
      });
    } finally {
      await admin.script("KILL");
      await endless;
      other.disconnect();
    }
    await eventually(async () => expect(await textAt(store, document)).toMatch(/^\{"a":[12]\}$/));
  });

  it("forgets all scripts between two calls without a caller noticing", async () => {
    const document = await documentOf(store, '{"l":[]}');
    for (let n = 0; n < 3; n += 1) {
      await admin.script("FLUSH");
      const inserts = Array.from({ length: 20 }, () => store.insertAt(document, ["l", "-"], "1", roomy));
      expect((await Promise.all(inserts)).every(({ outcome }) => outcome === "created")).toBe(true);
    }
    expect(JSON.parse(await textAt(store, document, ["l"]))).toHaveLength(60);
  });
});

describe("a Redis that the store can't use", () => {
  it("is refused with a clear word when it has no JSON module", async () => {
    const bare = await startRedis({ json: false });
    try {
      const opening = openRedisStore({ url: bare.url });
      await expect(opening).rejects.toMatchObject({ name: "RedisFault", code: "NOJSON" });
    } finally {
      await bare.stop();
    }
  });

  it("is refused when the password is wrong", async () => {
    await admin.acl("SETUSER", "locked", "on", ">secret", "~*", "+@all");
    const opening = openRedisStore({ url: `redis://locked:wrong@127.0.0.1:${redis.port}` });
    await expect(opening).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
