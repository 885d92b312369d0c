// The check of stored objects on real Redis: ordered by an operator, carried out by replicas of
// which one may end in the middle, and known to the operator.

import { beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../../core/config/canonical.ts";
import { checkingLockKey, checkProgressKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { type CheckResult, objectChecks } from "../../core/config/object-check.ts";
import type { JsonObject, ResourceConfig } from "../../core/config/types.ts";
import { WriteConflict } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import { followOrders } from "../../dataplane/config/follow-orders.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { carryOutChecks } from "../../dataplane/objects/check/carry-out-checks.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type CheckOrders, createReplicaOrders } from "../../operator/publish/replica-orders.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher } from "../support/fleet/publishing.ts";
import { changed, project, withConfig, withResource } from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const schema: JsonObject = { type: "object", properties: { price: { type: "number" } } };
const ref = { namespace: "default", name: "shop" };
const books = { project: ref, resource: "books" };

let redisClient: RedisClient;
let store: Store;
let url: string;
let orders: CheckOrders;
let directory: MemoryDirectory;
let uid: string;

useEmptiedRedis(async (opened) => {
  ({ redisClient } = opened);
  ({ url } = opened.redis);
  store = await openRedisStore({ url });
  orders = createReplicaOrders(
    redisClient,
    await begunPublisher({ redisClient, keyring: parseKeyring(newKeyringText()) }),
    objectChecks,
  );
  directory = createMemoryDirectory(manualClock());
  const shop = project("shop", withConfig(ref), withResource("books", { schema }));
  uid = shop.resources.get("books")?.uid ?? "";
  directory.replace([shop]);
});

beforeEach(async () => {
  for (let n = 1; n <= 175; n += 1) {
    await store.create(books, objectOf(n, { price: n % 50 === 0 ? '"ten"' : "10" }), 1_000);
  }
  return () => store.close();
});

const order = (of: JsonObject) => ({ ...books, uid, schema: digestOf(of), stage: "live" as const, generation: 1 });
const give = (id: string, of = schema) => orders.order(id, order(of));
const stateOf = async (id: string) => (await orders.statesOf([id])).get(id);

/** A replica that carries out orders; `pages` = how often it read. */
function replica(given: Partial<Pick<Store, "pageAfter" | "replace">> = {}) {
  const done: CheckResult[] = [];
  const failed: unknown[] = [];
  let pages = 0;
  const own = { ...store, ...given };
  const counting: Store = {
    ...own,
    pageAfter(...words) {
      pages += 1;
      return own.pageAfter(...words);
    },
  };
  const looking = followOrders({
    redisClient,
    onOpen: (open) => checks.carryOut(open),
    onFailed: (error) => void failed.push(error),
  });
  const checks = carryOutChecks({
    redisClient,
    store: counting,
    directory: directory.directory,
    preparer: { prepare: () => undefined },
    storeFor: () => own,
    onDone: (_order, result) => void done.push(result),
    onFailed: (failures) => void failed.push(...failures),
    keepEveryMs: 0,
    settleMs: 0,
  });
  const stop = async () => {
    await checks.stop();
    await looking.stop();
  };
  return { done, failed, stop, abandon: looking.stop, pages: () => pages };
}

describe("an order to check stored objects", () => {
  it("keeps who has an older configuration than the one that is checked from writing", async () => {
    const { revision = 0 } = directory.directory.loaded()[0]?.resources.get("books") ?? {};
    const checking = replica();
    await give("check:14");
    await eventually(() => expect(checking.done).toHaveLength(1));
    const older = { ...books, revision: revision - 1 };
    await expect(store.create(older, objectOf(200, {}), 1_000)).rejects.toThrow(WriteConflict);
    expect(await store.create({ ...books, revision }, objectOf(200, {}), 1_000)).toMatchObject({ outcome: "created" });
    await checking.stop();
  });

  it("is carried out once by one of several replicas, in steps; ids and places say what is wrong, never values", async () => {
    const replicas = [replica(), replica()];
    await give("check:1");
    await eventually(async () => expect(await stateOf("check:1")).toMatchObject({ state: "done" }));
    const examples = [50, 100, 150].map((n) => ({ id: idOf(n), pointer: "/price", keyword: "type" }));
    expect(await stateOf("check:1")).toEqual({
      state: "done",
      result: { checked: 175, invalid: 3, examples, endedAt: expect.any(Number) },
    });
    for (const each of replicas) await each.stop();
    expect(replicas.flatMap(({ done }) => done)).toHaveLength(1);
    expect(replicas.map(({ pages }) => pages()).sort()).toEqual([0, 4]);
    expect(fieldsOf(await redisClient.read(checkProgressKey, "HGETALL", checkProgressKey)).size).toBe(0);
  });

  it("goes on where a replica was killed, and counts no object twice", async () => {
    // It never comes back from its third page, as a process that is killed there.
    let pages = 0;
    const killed = replica({
      pageAfter: (...words) => (++pages === 3 ? new Promise<never>(() => undefined) : store.pageAfter(...words)),
    });
    await give("check:2");
    await eventually(async () =>
      expect(await stateOf("check:2")).toMatchObject({ state: "open", figures: { checked: 100, invalid: 2 } }),
    );
    await killed.abandon();
    await redisClient.write(checkingLockKey, "DEL", checkingLockKey);
    const next = replica();
    await eventually(() => expect(next.done).toMatchObject([{ checked: 175, invalid: 3 }]));
    expect(next.pages()).toBe(2);
    expect(killed.done).toEqual([]);
    await next.stop();
  });

  it("waits until the replica serves the schema of the order, and is dropped once it is forgotten", async () => {
    const other: JsonObject = { type: "object" };
    const waiting = replica();
    await give("check:3", other);
    await give("check:4");
    await eventually(() => expect(waiting.done).toHaveLength(1));
    expect(await stateOf("check:3")).toEqual({ state: "open", figures: undefined });
    await orders.forget("check:3");
    await orders.forget("check:4");
    expect((await orders.all()).size).toBe(0);
    expect([await stateOf("check:3"), await stateOf("check:4")]).toEqual([{ state: "lost" }, { state: "lost" }]);
    await waiting.stop();
  });

  it("waits for no index of what expires, which only requests declare", async () => {
    const expiry = { field: { name: "until", path: ["until"] } };
    const shop = project("shop", withConfig(ref), withResource("books", { schema, expiry }));
    uid = shop.resources.get("books")?.uid ?? "";
    directory.replace([shop]);
    const { done, failed, stop } = replica();
    await give("check:5");
    await eventually(() => expect([done, failed]).toMatchObject([[{ checked: 175, invalid: 3 }], []]));
    await stop();
  });

  it("against a schema that is not live yet finds what breaks that one", async () => {
    const next: JsonObject = { type: "object", required: ["title"] };
    const checking = replica();
    await give("check:6", next);
    await orders.order("check:7", { ...order(next), stage: "look" });
    directory.replace([project("shop", withConfig(ref), withResource("books", { schema, nextSchema: next }))]);
    await eventually(() => expect(checking.done).toMatchObject([{ checked: 175, invalid: 175 }]));
    expect(await stateOf("check:6")).toMatchObject({ state: "open" });
    await checking.stop();
  });

  it("that is the last waits until the schema binds, and keeps who has an older configuration from writing", async () => {
    const next: JsonObject = { type: "object", required: ["title"] };
    const parts = project("shop", withConfig(ref), withResource("books", { schema, nextSchema: next }));
    const { nextSchemaBinds: _binds, ...looked } = parts.resources.get("books") as ResourceConfig;
    const served = (config: ResourceConfig) => {
      directory.replace([{ ...parts, resources: new Map([["books", config]]) }]);
      return { ...books, revision: directory.directory.loaded()[0]?.resources.get("books")?.revision ?? 0 };
    };
    const paused = served(looked);
    const other = await openRedisStore({ url });
    await other.create(paused, objectOf(200, {}), 1_000);
    const checking = replica();
    await orders.order("check:8", { ...order(next), stage: "final" });
    await orders.order("check:9", { ...order(next), stage: "look" });
    await eventually(async () => expect(await stateOf("check:9")).toMatchObject({ state: "done" }));
    expect(await stateOf("check:8")).toMatchObject({ state: "open" });

    const binding = served({ ...looked, nextSchemaBinds: true });
    await eventually(async () => expect(await stateOf("check:8")).toMatchObject({ state: "done" }));
    await expect(other.create(paused, objectOf(201, {}), 1_000)).rejects.toThrow(WriteConflict);
    expect(await other.create(binding, objectOf(201, {}), 1_000)).toMatchObject({ outcome: "created" });
    await checking.stop();
    await other.close();
  });

  it("is followed by their migration, which goes on where a replica was killed and replaces each object once", async () => {
    const next: JsonObject = { type: "object", required: ["cost"] };
    const migration: readonly JsonObject[] = [{ op: "move", from: "/price", path: "/cost" }];
    const held = withResource("books", { schema, nextSchema: next, migration });
    directory.replace([project("shop", withConfig(ref), held)]);
    const replaced: string[] = [];
    const writer = (until: number): Pick<Store, "replace"> => ({
      replace(collection, object, previous) {
        if (replaced.length >= until) return new Promise<never>(() => undefined);
        replaced.push(object.id);
        return store.replace(collection, object, previous);
      },
    });
    const killed = replica(writer(120));
    await orders.order("check:8", { ...order(next), migration: digestOf(migration), stage: "final" });
    await eventually(() => expect(replaced).toHaveLength(120));
    await killed.abandon();
    await redisClient.write(checkingLockKey, "DEL", checkingLockKey);
    const other = replica(writer(1_000));
    await eventually(() => expect(other.done).toMatchObject([{ checked: 175, invalid: 0 }]));
    expect([replaced.length, new Set(replaced).size]).toEqual([175, 175]);
    const kept = await store.read(books, idOf(50), {});
    expect(kept?.text).toContain('"cost":"ten"');
    await other.stop();
  });

  it("is followed by a pass that finds what a failover has lost of their migration", async () => {
    const next: JsonObject = { type: "object", required: ["cost"] };
    const migration: readonly JsonObject[] = [{ op: "move", from: "/price", path: "/cost" }];
    directory.replace([
      project("shop", withConfig(ref), withResource("books", { schema, nextSchema: next, migration })),
    ]);
    const lost = new Set([idOf(50), idOf(60)]);
    const migrating = replica({
      async replace(collection, object, previous) {
        // As one that has expired, and is still stored.
        if (object.id === idOf(70)) return { outcome: "not_found" };
        if (lost.delete(object.id)) return { outcome: "replaced", text: object.text };
        return await store.replace(collection, object, previous);
      },
    });
    await orders.order("check:15", { ...order(next), migration: digestOf(migration), stage: "final" });
    await eventually(() => expect(migrating.done).toMatchObject([{ checked: 175, invalid: 0, migrated: 176 }]));
    for (const n of [50, 60]) expect((await store.read(books, idOf(n), {}))?.text).toContain('"cost":');
    await migrating.stop();
  });

  it("is followed by none any more, not even of the objects that were read, once another schema is wanted", async () => {
    const next: JsonObject = { type: "object", required: ["cost"] };
    const migration: readonly JsonObject[] = [{ op: "move", from: "/price", path: "/cost" }];
    const shop = project("shop", withConfig(ref), withResource("books", { schema, nextSchema: next, migration }));
    directory.replace([shop]);
    let replaced = 0;
    const migrating = replica({
      replace(...written) {
        replaced += 1;
        if (replaced === 60) directory.replace([changed(shop, withResource("books", { schema }))]);
        return store.replace(...written);
      },
    });
    await orders.order("check:13", { ...order(next), migration: digestOf(migration), stage: "final" });
    await eventually(() => expect(migrating.failed).toHaveLength(1));
    expect(replaced).toBe(60);
    await migrating.stop();
  });

  it("with another patch than the replica knows of waits", async () => {
    const next: JsonObject = { type: "object", required: ["cost"] };
    const migration: readonly JsonObject[] = [{ op: "move", from: "/price", path: "/cost" }];
    directory.replace([
      project("shop", withConfig(ref), withResource("books", { schema, nextSchema: next, migration, binds: false })),
    ]);
    const waiting = replica();
    await orders.order("check:9", { ...order(next), stage: "look" });
    await orders.order("check:11", { ...order(next), migration: digestOf(migration), stage: "look" });
    await eventually(() => expect(waiting.done).toMatchObject([{ migrated: 175 }]));
    await give("check:12");
    await eventually(() => expect(waiting.done).toMatchObject([{ migrated: 175 }, { invalid: 3 }]));
    expect(await stateOf("check:9")).toEqual({ state: "open", figures: undefined });
    await waiting.stop();
  });

  it("that fails is tried again, from where it had come", async () => {
    let pages = 0;
    const failing = replica({
      pageAfter: (...words) => (++pages === 2 ? Promise.reject(new Error("away")) : store.pageAfter(...words)),
    });
    await give("check:5");
    await eventually(() => expect(failing.done).toMatchObject([{ checked: 175 }]));
    expect(failing.failed).toHaveLength(1);
    expect(failing.pages()).toBe(5);
    await failing.stop();
  });
});
