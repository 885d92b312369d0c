// The copy of one Project's data into another on real Redis: ordered by an operator, carried out by
// replicas of which one may end in the middle, and known to the operator.

import { beforeEach, expect, it } from "vitest";
import { configKeys, copyingLockKey, copyProgressKey } from "../../core/config/config-keys.ts";
import { type CopyOrder, type CopyResult, copies } from "../../core/config/copy-order.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import type { LiveProject } from "../../dataplane/config/directory.ts";
import { followOrders } from "../../dataplane/config/follow-orders.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createCollectionPreparer } from "../../dataplane/objects/prepare-collection.ts";
import { createQuotas } from "../../dataplane/quotas/quotas.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { carryOutCopies } from "../../dataplane/transfer/carry-out-copies.ts";
import { type CopyOrders, createReplicaOrders } from "../../operator/publish/replica-orders.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher } from "../support/fleet/publishing.ts";
import { changed, project, withConfig, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const count = 400;
const from = { namespace: "default", name: "shop" };
const into = { namespace: "default", name: "preview" };
const users = (of: typeof from) => ({ project: of, resource: "users" });
const schema = {
  type: "object",
  properties: { name: { type: "string" }, email: { type: "string" }, address: { type: "object" }, age: { minimum: 0 } },
} as const;

let redisClient: RedisClient;
let store: Store;
let orders: CopyOrders;
let directory: MemoryDirectory;
let shop: CompiledProject;
let preview: CompiledProject;

useEmptiedRedis(async (opened) => {
  ({ redisClient } = opened);
  store = await openRedisStore({ url: opened.redis.url });
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(newKeyringText()) });
  orders = createReplicaOrders(redisClient, publisher, copies);
  directory = createMemoryDirectory(manualClock());
  const parts = [withResource("users", { schema }), withRootKey("settings", { initialValue: "{}" })];
  shop = project("shop", withConfig(from), ...parts);
  preview = project("preview", withConfig(into), ...parts);
  directory.replace([shop, preview]);
});

beforeEach(async () => {
  const create = (n: number, members: Record<string, string>) =>
    store.create(users(from), objectOf(n, members, `user:u${n % 7}`), 10_000);
  for (let n = 1; n <= count; n += 1)
    await create(n, { name: `"n${n}"`, email: `"${n}@example.org"`, age: n === 9 ? "-1" : "1.5" });
  await store.initialise({ project: from, rootKey: "settings" }, '{"open":1.0}');
  return () => store.close();
});

const order = (more: Partial<CopyOrder> = {}): CopyOrder => ({
  project: into,
  uid: preview.project.uid,
  source: { name: "shop", uid: shop.project.uid },
  resources: ["users"],
  rootKeys: ["settings"],
  omit: [{ resource: "users", path: ["email"] }],
  ...more,
});
const stateOf = async (id: string) => (await orders.statesOf([id])).get(id);
const idsIn = async () => {
  const ids: string[] = [];
  for await (const texts of store.scan(users(into), {})) ids.push(...texts.map((text) => text.slice(7, 43)));
  return ids;
};

/** A replica that carries out orders, and writes by `given`. */
function replica(given: Store = store) {
  const done: CopyResult[] = [];
  const failed: unknown[] = [];
  const quotas = createQuotas({
    store: given,
    clock: manualClock(),
    directory: directory.directory,
    onFailed: () => undefined,
  });
  const preparer = createCollectionPreparer(store, () => undefined);
  const looking = followOrders({
    redisClient,
    onOpen: (open) => copying.carryOut(open),
    onFailed: (error) => void failed.push(error),
  });
  const copying = carryOutCopies({
    redisClient,
    store: given,
    directory: directory.directory,
    preparer,
    storeFor: quotas.storeFor,
    onDone: (_order, result) => void done.push(result),
    onFailed: (failures) => void failed.push(...failures),
    keepEveryMs: 0,
  });
  const abandon = async () => {
    await looking.stop();
    await quotas.close();
    await preparer.close();
  };
  const stop = async () => {
    await copying.stop();
    await abandon();
  };
  /** As a client does. */
  const remove = async (id: string) => {
    const [live] = directory.directory.loaded().filter(({ config }) => config.name === into.name);
    await quotas.storeFor(live as LiveProject).remove(users(into), id, {});
  };
  return { done, failed, stop, abandon, remove, carryOut: copying.carryOut };
}

it("copies objects and values once, as they are: masked, with ids and owners; what breaks the schema is told", async () => {
  const replicas = [replica(), replica()];
  await orders.order("copy:1", order());
  await eventually(async () => expect(await stateOf("copy:1")).toMatchObject({ state: "done" }));
  for (const each of replicas) await each.stop();
  expect(replicas.flatMap(({ done, failed }) => [...done, ...failed])).toEqual([
    {
      copied: count,
      refused: 1,
      examples: [{ resource: "users", id: idOf(9), pointer: "/age", reason: "minimum" }],
      endedAt: expect.any(Number),
    },
  ]);
  expect((await store.read(users(into), idOf(8), { owner: "user:u1" }))?.text).toBe(
    objectOf(8, { name: '"n8"', age: "1.5" }, "user:u1").text,
  );
  expect(await store.readAt({ project: into, rootKey: "settings" }, [])).toEqual({
    outcome: "found",
    text: '{"open":1.0}',
  });
  expect((await idsIn()).length).toBe(count - 1);
  expect(fieldsOf(await redisClient.read(copyProgressKey, "HGETALL", copyProgressKey)).size).toBe(0);
});

it("goes on where a replica was killed; what clients changed stays, and what they deleted before stays away", async () => {
  // It never comes back from a write behind the first batch, as a process that is killed there.
  let creates = 0;
  const killed = replica({
    ...store,
    create: (...words) => (++creates > 249 ? new Promise<never>(() => undefined) : store.create(...words)),
  });
  await orders.order("copy:2", order());
  await eventually(async () =>
    expect(await stateOf("copy:2")).toMatchObject({ state: "open", figures: { copied: 249, refused: 1, at: 0 } }),
  );
  await killed.abandon();
  await store.remove(users(into), idOf(3), {});
  const mine = objectOf(300, { name: '"mine"' });
  await store.create(users(into), mine, 10_000);
  await redisClient.write(copyingLockKey, "DEL", copyingLockKey);
  const next = replica();
  await eventually(() => expect(next.done).toMatchObject([{ copied: count, refused: 1 }]));
  await next.stop();
  expect(killed.done).toEqual([]);
  expect((await store.read(users(into), idOf(300), {}))?.text).toBe(mine.text);
  const ids = await idsIn();
  expect([ids.length, ids.includes(idOf(3))]).toEqual([count - 2, false]);
});

it("goes on where an earlier order had come to, and not while it is held", async () => {
  const progress = { at: 0, after: idOf(count - 1), copied: 7, refused: 0, examples: [] };
  const copying = replica();
  await orders.order("copy:1", order({ progress, isHeld: true }));
  await orders.order("copy:2", order({ progress }));
  await eventually(() => expect(copying.done).toMatchObject([{ copied: 9 }]));
  await copying.stop();
  expect([await stateOf("copy:1"), await idsIn()]).toEqual([{ state: "open", figures: undefined }, [idOf(count)]]);
});

it("a long copy keeps no other waiting, and one that is done is not begun again by a replica that stood still", async () => {
  let creates = 0;
  const endless: Store = {
    ...store,
    async *scan(collection, ...words) {
      if (collection.project.name !== "endless") return yield* store.scan(collection, ...words);
      for (let n = 1; ; n += 1) yield [objectOf(count + n, { name: '"n"' }).text];
    },
    create(...words) {
      creates += 1;
      return store.create(...words);
    },
  };
  const long = project("endless", withConfig({ ...from, name: "endless" }), withResource("users", { schema }));
  directory.replace([shop, preview, long]);
  const copying = replica(endless);
  const given = order({ source: { name: "endless", uid: long.project.uid }, rootKeys: [] });
  await orders.order("copy:1", given);
  await eventually(() => expect(creates).toBeGreaterThan(0));
  await orders.order("copy:2", order());
  await eventually(() => expect(copying.done).toMatchObject([{ copied: count }]));
  await orders.forget("copy:1");
  await store.remove(users(into), idOf(3), {});
  copying.carryOut(new Map([["copy:2", copies.write(order())]]));
  await orders.order("copy:3", order({ resources: [] }));
  await eventually(() => expect(copying.done).toMatchObject([{ copied: count }, { copied: 1 }]));
  await copying.stop();
  expect([copying.failed, (await idsIn()).includes(idOf(3))]).toEqual([[], false]);
});

it("carries out two copies at the same time", async () => {
  const begun = new Set<string>();
  const both = Promise.withResolvers<void>();
  const meeting: Store = {
    ...store,
    async *scan(collection, ...words) {
      begun.add(collection.project.name);
      if (begun.size === 2) both.resolve();
      await both.promise;
      yield* store.scan(collection, ...words);
    },
  };
  const other = project("other", withConfig({ ...from, name: "other" }), withResource("users", { schema }));
  directory.replace([shop, preview, other]);
  const copying = replica(meeting);
  try {
    await orders.order("copy:1", order());
    await orders.order("copy:2", order({ source: { name: "other", uid: other.project.uid }, rootKeys: [] }));
    await eventually(() => expect(copying.done).toHaveLength(2));
  } finally {
    both.resolve();
    await copying.stop();
  }
});

it("waits where a quota has no room, and goes on once it has, without what was deleted to make room", async () => {
  directory.replace([shop, changed(preview, withLimits({ quota: { objects: 200 } }))]);
  const copying = replica();
  await orders.order("copy:3", order());
  await eventually(async () =>
    expect(await stateOf("copy:3")).toMatchObject({ state: "open", figures: { isFull: true } }),
  );
  expect(await store.count(users(into), {})).toBe(200);
  await copying.remove(idOf(3));
  await eventually(async () => expect(await store.count(users(into), {})).toBe(200));
  expect(await idsIn()).not.toContain(idOf(3));
  directory.replace([shop, preview]);
  await eventually(() => expect(copying.done).toMatchObject([{ copied: count, refused: 1 }]));
  await copying.stop();
  expect(await idsIn()).not.toContain(idOf(3));
});

it("ends within a step where the order is taken back or the Project goes, and begins with no other Project of a name", async () => {
  let creates = 0;
  const slow: Store = {
    ...store,
    async create(...words) {
      if (++creates === 249) directory.replace([shop]);
      return await store.create(...words);
    },
  };
  const copying = replica(slow);
  await orders.order("copy:4", order({ source: { name: "shop", uid: "another" } }));
  await orders.order("copy:5", order());
  await eventually(async () => expect(await stateOf("copy:5")).toMatchObject({ figures: { copied: 249 } }));
  await orders.forget("copy:5");
  await eventually(async () => {
    const fields = fieldsOf(await redisClient.read(configKeys.orders, "HGETALL", configKeys.orders));
    expect([...fields.keys()]).toEqual(["copy:4"]);
  });
  await copying.stop();
  expect([creates, copying.done, copying.failed]).toEqual([249, [], []]);
});

it("copies nothing while a field that is left out has another name, in objects that are migrated too", async () => {
  const { email, ...others } = schema.properties;
  const nextSchema = { ...schema, properties: { ...others, mail: email } };
  const migrated = [withResource("users", { schema, nextSchema }), withResource("users", { schema: nextSchema })];
  for (const [at, each] of migrated.entries()) {
    directory.replace([changed(shop, each), preview]);
    const copying = replica();
    await orders.order(`copy:${at + 6}`, order());
    await eventually(async () => expect(await stateOf(`copy:${at + 6}`)).toMatchObject({ figures: { copied: 0 } }));
    await copying.stop();
    await orders.forget(`copy:${at + 6}`);
  }
  expect(await idsIn()).toEqual([]);
});
