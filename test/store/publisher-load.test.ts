// What a publisher finds in Redis, writes there and leaves alone, on one Redis and on a Cluster.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys, credentialsKey, projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { DataEntry } from "../../operator/model/data-inventory.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import {
  begunPublisher,
  entry,
  inventoryWith,
  newPublisher,
  openRedisClient,
  storedFields,
  storedInventory,
  writesOf,
} from "../support/fleet/publishing.ts";
import {
  changed,
  project,
  withHosts,
  withKey,
  withoutKey,
  withoutUser,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster, type TestRedisCluster } from "../support/redis/redis-cluster.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project(
  "shop",
  withUser("ann"),
  withKey("ci"),
  withHosts("a.test", "b.test"),
  withResource("books", { indexes: ["title"], schema: { type: "object", properties: { title: { type: "string" } } } }),
  withRootKey("flags", { initialValue: '{"beta":1.0}' }),
);
const inventory = inventoryWith(entry("books"), entry("flags", { what: "rootkey", policy: "Retain" }));

interface OpenedRedis {
  readonly redisClient: RedisClient;
  readonly ports: readonly number[];
}

function describePublisher(name: string, open: () => Promise<OpenedRedis>): void {
  describe(`a publisher on ${name}`, () => {
    let redisClient: RedisClient;
    let ports: readonly number[];
    let publisher: Publisher;

    beforeAll(async () => {
      ({ redisClient, ports } = await open());
    });
    afterAll(() => redisClient.disconnect());
    beforeEach(async () => {
      for (const port of ports) await askRedis(port, "FLUSHALL");
      publisher = await begunPublisher({ redisClient, keyring });
    });

    const successor = () => begunPublisher({ redisClient, keyring });
    const stored = () => storedInventory(redisClient, "default/shop");

    it("begins where an inventory of data can't be read: that project is refused, and the others are known", async () => {
      await publisher.publish(shop, inventory);
      await redisClient.write(configKeys.data, "HSET", configKeys.data, "default/broken", "nonsense");
      const next = await successor();
      expect([...next.dataInventories().keys()]).toEqual(["default/shop"]);
      expect(await next.load(ref)).toMatchObject({ data: inventory });
      await expect(next.load({ namespace: "default", name: "broken" })).rejects.toThrow("remove it with HDEL");
    });

    it("gives back what another one published, every kind of field, with the inventory and the revision", async () => {
      expect(await publisher.load(ref)).toEqual({ revision: 0 });
      const { revision } = await publisher.publish(shop, inventory);
      const after = await successor();
      expect(await after.load(ref)).toEqual({ revision, config: shop, data: inventory });
      expect(await publisher.published()).toEqual([{ ...ref, hosts: ["a.test", "b.test"], revision }]);
    });

    it("leaves a field out that can't be opened, and writes it anew, whatever its hash says", async () => {
      await publisher.publish(shop);
      const key = credentialsKey(ref);
      const user = (await storedFields(redisClient, ref)).find((field) => field.startsWith("user:")) ?? "";
      const text = String(await redisClient.read(key, "HGET", key, user));
      await redisClient.write(key, "HSET", key, user, `${text.slice(0, -6)}AAAAAA`);
      await redisClient.write(key, "HSET", key, "key:junk", "junk");
      const after = await successor();
      const { config } = await after.load(ref);
      expect(config).toEqual({ ...shop, users: new Map() });
      expect(await after.publish(shop)).toMatchObject({ changed: 2 });
      expect((await (await successor()).load(ref)).config).toEqual(shop);
    });

    it("finds no configuration where the project's own field can't be opened, and writes it anew", async () => {
      await publisher.publish(shop);
      const key = projectConfigKey(ref);
      await redisClient.write(key, "HSET", key, "project", "junk");
      const after = await successor();
      expect((await after.load(ref)).config).toBeUndefined();
      expect(await after.reseal(ref)).toBe(0);
      expect(await after.publish(shop)).toMatchObject({ changed: 1 });
    });

    it("sends nothing but the taking of the epoch when nothing changed", async () => {
      const { revision } = await publisher.publish(shop, inventory);
      await publisher.complete();
      const idle = async () => (await Promise.all(ports.map((port) => writesOnPort(port)))).toString();
      const before = await idle();
      expect(await publisher.publish(shop, inventory)).toEqual({ changed: 0, revision, data: inventory });
      await publisher.writeData(ref, inventory);
      await publisher.writeData(ref, { ...inventory, entries: inventory.entries.map(withMembersReversed) });
      expect(await publisher.reseal(ref)).toBe(0);
      expect(await publisher.verify()).toBe("writer");
      expect(await idle()).toBe(before);
      const after = newPublisher({ redisClient, keyring });
      const epoch = async () => String(await redisClient.read(configKeys.meta, "HGET", configKeys.meta, "epoch"));
      const epochBefore = await epoch();
      const metaBefore = await meta();
      await after.begin();
      expect(await epoch()).not.toBe(epochBefore);
      expect({ ...(await meta()), epoch: "" }).toEqual({ ...metaBefore, epoch: "" });
      const begun = await idle();
      expect(await after.publish(shop, inventory)).toEqual({ changed: 0, revision, data: inventory });
      expect(await idle()).toBe(begun);
    });

    it("puts a project back into the index that lost it", async () => {
      await publisher.publish(shop);
      const { projects } = configKeys;
      await redisClient.write(projects, "HDEL", projects, "default/shop");
      const after = await successor();
      const { changed, revision } = await after.publish(shop);
      expect(changed).toBe(0);
      expect(await after.published()).toEqual([{ ...ref, hosts: ["a.test", "b.test"], revision }]);
    });

    it("withdraws a project of which only the index knows", async () => {
      await publisher.publish(shop);
      for (const key of [projectConfigKey(ref), credentialsKey(ref)]) await redisClient.write(key, "DEL", key);
      const after = await successor();
      await after.withdraw(ref);
      expect(await after.published()).toEqual([]);
    });

    it("answers with the revision of a removal, and remembers it over its own end", async () => {
      const first = await publisher.publish(shop);
      const second = await publisher.publish(changed(shop, withoutKey("ci"), withoutUser("ann")));
      expect(second.changed).toBe(2);
      expect(second.revision).toBeGreaterThan(first.revision);
      expect((await (await successor()).load(ref)).revision).toBe(second.revision);
    });

    it("changes the inventory with a publish, with a withdrawal and alone, and lets it disappear", async () => {
      await publisher.publish(shop, inventory);
      expect(await stored()).toEqual(inventory);
      const more = inventoryWith(entry("books"), entry("films"));
      await publisher.publish(changed(shop, withResource("films")), more);
      expect(await stored()).toEqual(more);
      const alone = inventoryWith(entry("books", { retained: true }));
      await publisher.publish(changed(shop, withResource("films")), alone);
      expect(await stored()).toEqual(alone);
      await publisher.withdraw(ref, more);
      expect([await stored(), await storedFields(redisClient, ref)]).toEqual([more, []]);
      expect(await publisher.load(ref)).toEqual({ revision: 0, data: more });
      expect([...publisher.dataInventories()]).toEqual([["default/shop", more]]);
      await publisher.writeData(ref, alone);
      expect(await stored()).toEqual(alone);
      expect([...(await successor()).dataInventories()]).toEqual([["default/shop", alone]]);
      await expect(publisher.writeData(ref, undefined)).rejects.toThrow("Another publisher");
      publisher = await successor();
      await publisher.writeData(ref, undefined);
      expect([await stored(), publisher.dataInventories().size]).toEqual([undefined, 0]);
      await publisher.publish(shop, inventory);
      await publisher.withdraw(ref);
      expect([await stored(), await publisher.published()]).toEqual([undefined, []]);
    });

    it("gives entries to purge the revision from which on nobody serves them", async () => {
      await publisher.publish(shop, inventory);
      const pending = (name: string, purgeFromRevision: number) => entry(name, { purgeFromRevision, purgeCause: "p" });
      const without = { ...shop, resources: new Map() };
      const done = await publisher.publish(without, inventoryWith(pending("books", 0), pending("old", 7)));
      expect(done.data).toEqual(inventoryWith(pending("books", done.revision), pending("old", 7)));
      expect(await stored()).toEqual(done.data);
      // Not served before its purge was decided: all that was ever published is older.
      const later = await publisher.publish(without, inventoryWith(pending("films", 0)));
      expect(later).toMatchObject({ changed: 0, data: inventoryWith(pending("films", publisher.newest())) });
      const gone = await publisher.withdraw(ref, inventoryWith(pending("books", 0)));
      expect(gone.data).toEqual(inventoryWith(pending("books", gone.revision)));
      expect(gone.revision).toBeGreaterThan(later.revision);
      expect(
        (await publisher.withdraw(ref, inventoryWith(pending("more", 0)))).data?.entries[0]?.purgeFromRevision,
      ).toBe(gone.revision);
    });

    function withMembersReversed(of: DataEntry): DataEntry {
      return Object.fromEntries(Object.entries(of).reverse()) as unknown as DataEntry;
    }

    async function meta(): Promise<Record<string, unknown>> {
      const found = (await redisClient.read(configKeys.meta, "HGETALL", configKeys.meta)) as readonly string[];
      return Object.fromEntries(found.flatMap((name, at) => (at % 2 === 0 ? [[name, found[at + 1]]] : [])));
    }
  });
}

async function writesOnPort(port: number): Promise<number> {
  const own = await openRedisClient(`redis://127.0.0.1:${port}`);
  const writes = await writesOf(own);
  own.disconnect();
  return writes;
}

describe("configuration", () => {
  let redis: TestRedis;
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    [redis, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
  });
  afterAll(async () => {
    await Promise.all([redis.stop(), cluster.stop()]);
  });

  describePublisher("one Redis", async () => ({ redisClient: await openRedisClient(redis.url), ports: [redis.port] }));
  describePublisher("a Cluster of three", async () => {
    const ports = cluster.nodes.map(({ port }) => port);
    return { redisClient: await openRedisClient(cluster.url), ports };
  });

  it("costs less than 10 KiB and one field when one user of 5,000 changes", async () => {
    const redisClient = await openRedisClient(redis.url);
    const publisher = await begunPublisher({ redisClient, keyring });
    const [user] = shop.users.values();
    if (user === undefined) throw new Error("It has one");
    const all = new Map(
      Array.from({ length: 5_000 }, (_, at) => [`user-${at}`, { ...user, username: `user-${at}` }] as const),
    );
    const fleet = { ...shop, users: all };
    await publisher.publish(fleet, inventory);
    const received = async (): Promise<number> => {
      const info = String(await redisClient.read(configKeys.meta, "INFO", "stats"));
      return Number(/total_net_input_bytes:(\d+)/.exec(info)?.[1]);
    };
    const changedUser = new Map(all).set("user-7", { ...user, username: "user-7", access: "Read" });
    const before = await received();
    expect((await publisher.publish({ ...fleet, users: changedUser }, inventory)).changed).toBe(1);
    expect((await received()) - before).toBeLessThan(10_240);
    redisClient.disconnect();
  });
});
