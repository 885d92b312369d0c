// How many objects each project stores, on real Redis with the rights that docs/reference/redis.md
// names: counted by replicas, read by the operator.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { countingLockKey, projectConfigKey, storedObjectsKey } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { RedisFault } from "../../core/redis/failure.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import {
  type CountingFailure,
  type CountStoredObjectsDeps,
  countStoredObjects,
} from "../../dataplane/config/count-stored-objects.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { readStoredObjects } from "../../operator/publish/stored-objects.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { idOf, servedText } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = { namespace: "default", name: "shop" };
const other = { namespace: "default", name: "other" };

let redis: TestRedis;
let everything: RedisClient;
let dataplane: RedisClient;
let operator: RedisClient;
let store: Store;
let projects: ProjectRef[];
const failures: CountingFailure[] = [];
const replicas: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  redis = await startRedis();
  await allowAsDocumented(redis);
  everything = await openRedisClient(redis.url);
  dataplane = await openRedisClient(documentedUrl(redis, "jsonplane-dataplane"));
  operator = await openRedisClient(documentedUrl(redis, "jsonplane-operator"));
  store = await openRedisStore({ url: documentedUrl(redis, "jsonplane-dataplane") });
});
afterAll(async () => {
  await store.close();
  for (const redisClient of [everything, dataplane, operator]) redisClient.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  await everything.write("x", "FLUSHALL");
  projects = [shop, other];
  failures.length = 0;
});
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.stop();
});

function counting(given: Partial<CountStoredObjectsDeps> = {}): void {
  const directory = { projects: () => projects, synced: () => true };
  const onFailed = (failure: CountingFailure) => void failures.push(failure);
  replicas.push(countStoredObjects({ redisClient: dataplane, store, directory, onFailed, restMs: 40, ...given }));
}

/** Fields as the operator publishes them; only their names count. */
async function publish(project: ProjectRef, ...resources: readonly string[]): Promise<void> {
  const key = projectConfigKey(project);
  const fields = ["project", "signing", "rootkey:flags", ...resources.map((name) => `resource:${name}`)];
  await everything.write(key, "HSET", key, ...fields.flatMap((field) => [field, "sealed"]));
}

async function create(project: ProjectRef, resource: string, ...ids: readonly number[]): Promise<void> {
  for (const at of ids) {
    const id = idOf(at);
    await store.create({ project, resource }, { id, owner: "user:a", text: servedText(id, [], "user:a") }, 1_000);
  }
}

const counts = async () => Object.fromEntries((await readStoredObjects(operator)).counts);
const counted = (expected: Readonly<Record<string, number>>) =>
  eventually(async () => expect(await counts()).toEqual(expected));

describe("stored objects", () => {
  it("are counted over all resources of each project, follow what is stored, and go with the project", async () => {
    await publish(shop, "books", "films");
    await publish(other, "books");
    await create(shop, "books", 1, 2);
    await create(shop, "films", 3);
    counting();
    await counted({ "default/shop": 3, "default/other": 0 });
    await create(other, "books", 4);
    await store.remove({ project: shop, resource: "books" }, idOf(1), {});
    await counted({ "default/shop": 2, "default/other": 1 });
    projects = [other];
    await counted({ "default/other": 1 });
    expect(failures).toEqual([]);
  });

  it("are written only where they changed", async () => {
    const written: string[] = [];
    const noting: RedisClient = {
      ...dataplane,
      run(script, keys, args) {
        if (keys[0] === storedObjectsKey && args.length > 2) written.push(args.slice(2).join(" "));
        return dataplane.run(script, keys, args);
      },
    };
    let passes = 0;
    const directory = {
      projects() {
        passes += 1;
        return projects;
      },
      synced: () => true,
    };
    await publish(shop, "books");
    counting({ redisClient: noting, directory });
    await counted({ "default/shop": 0, "default/other": 0 });
    await create(shop, "books", 1);
    await counted({ "default/shop": 1, "default/other": 0 });
    const until = passes + 3;
    await eventually(() => expect(passes).toBeGreaterThan(until));
    expect(written).toEqual(["default/shop 0 default/other 0", "default/shop 1"]);
  });

  it("are counted by one replica at a time: not while another one counts, or has just done so", async () => {
    await publish(shop, "books");
    await everything.write(countingLockKey, "SET", countingLockKey, "another");
    let asked = 0;
    const noting: RedisClient = {
      ...dataplane,
      write(key, ...command) {
        if (command[0] === "SET") asked += 1;
        return dataplane.write(key, ...command);
      },
    };
    counting({ redisClient: noting });
    await eventually(() => expect(asked).toBeGreaterThan(3));
    expect(await counts()).toEqual({});
    await everything.write(countingLockKey, "DEL", countingLockKey);
    await counted({ "default/shop": 0, "default/other": 0 });
  });

  it("are not counted by a replica that does not know all projects: the others would look as if they were gone", async () => {
    await publish(shop, "books");
    counting();
    await counted({ "default/shop": 0, "default/other": 0 });
    for (const replica of replicas.splice(0)) await replica.stop();
    projects = [];
    let asked = 0;
    const synced = (): boolean => {
      asked += 1;
      return false;
    };
    counting({ directory: { projects: () => projects, synced } });
    await eventually(() => expect(asked).toBeGreaterThan(3));
    expect(await counts()).toEqual({ "default/shop": 0, "default/other": 0 });
  });

  it("keep the former count where a project can't be counted, which is reported; others are counted", async () => {
    await publish(shop, "books");
    await publish(other, "books");
    await create(shop, "books", 1);
    counting();
    await counted({ "default/shop": 1, "default/other": 0 });
    await everything.write("x", "SET", "jp:{default/shop/books}:ids", "no sorted set");
    await create(other, "books", 2);
    await counted({ "default/shop": 1, "default/other": 1 });
    await eventually(() => expect(failures).toContainEqual({ projects: 1, error: expect.any(RedisFault) }));
  });

  it("are counted of 50 projects at once, however many there are", async () => {
    projects = Array.from({ length: 120 }, (_, at) => ({ namespace: "default", name: `shop-${at}` }));
    for (const project of projects) await publish(project, "books");
    let [begun, underWay, most] = [0, 0, 0];
    let group = Promise.withResolvers<void>();
    // In the first pass each waits for all of its group, however Redis's replies arrive.
    const collectionSize: Store["collectionSize"] = async (collection) => {
      begun += 1;
      underWay += 1;
      most = Math.max(most, underWay);
      const { promise, resolve } = group;
      if (begun % 50 === 0 || begun === projects.length) {
        resolve();
        group = Promise.withResolvers();
      }
      if (begun <= projects.length) await promise;
      return await store.collectionSize(collection).finally(() => {
        underWay -= 1;
      });
    };
    counting({ store: { collectionSize } });
    try {
      await eventually(async () => expect(Object.keys(await counts())).toHaveLength(120));
    } finally {
      group.resolve();
    }
    expect(most).toBe(50);
  });

  it("expire when no replica counts any more", async () => {
    await publish(shop, "books");
    counting();
    await counted({ "default/shop": 0, "default/other": 0 });
    const seconds = Number(await everything.read(storedObjectsKey, "TTL", storedObjectsKey));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(600);
  });

  it("are none for an operator whose replicas do not count yet; a figure that can't be read is named", async () => {
    expect(await readStoredObjects(operator)).toEqual({ counts: new Map(), unreadable: [] });
    await everything.write(storedObjectsKey, "HSET", storedObjectsKey, "default/shop", "5", "default/other", "many");
    const expected = { counts: new Map([["default/shop", 5]]), unreadable: ["default/other"] };
    expect(await readStoredObjects(operator)).toEqual(expected);
  });
});
