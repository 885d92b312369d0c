// What becomes of the other purges when one of them fails, as on a node of a Cluster that is away,
// and of those that a newer version orders.

import { afterAll, beforeAll, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import type { PurgeOrder } from "../../core/config/purge-order.ts";
import { writePurgeOrder } from "../../core/config/purge-order.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import type { OrderFailure } from "../../dataplane/config/carry-out-orders.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { purgingReplica } from "../support/store/purging-replica.ts";
import { objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const tenants = ["one", "two", "three"];
let redis: TestRedis;
let redisClient: RedisClient;
let store: Store;

beforeAll(async () => {
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  store = await openRedisStore({ url: redis.url });
});
afterAll(async () => {
  await store.close();
  redisClient.disconnect();
  await redis.stop();
});

const booksOf = (namespace: string) => ({ project: { namespace, name: "shop" }, resource: "books" });

it("a purge that fails holds up no other, and is carried out once it can be", async () => {
  for (const namespace of tenants) {
    await store.create(booksOf(namespace), objectOf(1, {}), 10);
    const order = writePurgeOrder({ what: "resource", project: booksOf(namespace).project, name: "books" });
    await redisClient.write(configKeys.orders, "HSET", configKeys.orders, namespace, order);
  }
  let fails = true;
  let first: string | undefined;
  const given: Store = {
    ...store,
    async purge(collection, ...others) {
      // Whichever of them comes first.
      first ??= collection.project.namespace;
      if (fails && collection.project.namespace === first) throw new Error("The node is away");
      return store.purge(collection, ...others);
    },
  };
  const done = async () => [
    ...fieldsOf(await redisClient.read(configKeys.results, "HGETALL", configKeys.results)).keys(),
  ];
  const counts = async () => {
    const all = { offset: 0, limit: 1, descending: false };
    const pages = await Promise.all(tenants.map((namespace) => pageByCreation(store, booksOf(namespace), {}, all)));
    return pages.map(({ count }) => count).sort();
  };
  const failures: unknown[] = [];
  const carrying = purgingReplica({
    redisClient,
    store: given,
    onFailed: (error) => failures.push(error),
  });
  try {
    await eventually(async () => expect(await done()).toHaveLength(2));
    expect(await done()).not.toContain(first);
    await eventually(() => expect(failures).not.toEqual([]));
    expect(await counts()).toEqual([0, 0, 1]);
    fails = false;
    await eventually(async () => expect(await done()).toHaveLength(3));
    expect(await counts()).toEqual([0, 0, 0]);
  } finally {
    await carrying.stop();
  }
});

it("every purge that fails is reported", async () => {
  for (const namespace of tenants) {
    const order = writePurgeOrder({ what: "resource", project: booksOf(namespace).project, name: "books" });
    await redisClient.write(configKeys.orders, "HSET", configKeys.orders, `${namespace} again`, order);
  }
  const given: Store = { ...store, collectionIdentity: () => Promise.reject(new Error("The node is away")) };
  const told: unknown[] = [];
  const onFailed = (failures: readonly unknown[]) => void told.push(...failures);
  const carrying = purgingReplica({ redisClient, store: given, onFailed });
  try {
    const namespaces = () => (told as OrderFailure<PurgeOrder>[]).map(({ order }) => order.project.namespace);
    await eventually(() => expect(new Set(namespaces())).toEqual(new Set(tenants)), { withinMs: 15_000 });
  } finally {
    await carrying.stop();
  }
});

it("a purge that a newer version has ordered waits for a replica that can read it", async () => {
  const { meta, orders, results } = configKeys;
  await redisClient.write(meta, "HSET", meta, "format", 2);
  await store.create(booksOf("four"), objectOf(1, {}), 10);
  const order = writePurgeOrder({ what: "resource", project: booksOf("four").project, name: "books" });
  await redisClient.write(orders, "HSET", orders, "four", order);
  let looks = 0;
  const counting: RedisClient = {
    ...redisClient,
    read(key, ...command) {
      if (key === orders) looks += 1;
      return redisClient.read(key, ...command);
    },
  };
  const onFailed = (failures: readonly unknown[]) => expect.unreachable(String(failures));
  const carrying = purgingReplica({ redisClient: counting, store, onFailed });
  const isDone = async () => fieldsOf(await redisClient.read(results, "HGETALL", results)).has("four");
  try {
    await eventually(() => expect(looks).toBeGreaterThan(2));
    expect(await isDone()).toBe(false);
    await redisClient.write(meta, "HSET", meta, "format", 1);
    await eventually(async () => expect(await isDone()).toBe(true));
  } finally {
    await carrying.stop();
  }
});
