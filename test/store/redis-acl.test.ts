// Operator and data plane at work on a real Redis with no more permissions than
// docs/reference/redis.md gives them, and what they are refused.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import {
  acknowledgementKey,
  configKeys,
  credentialsKey,
  projectConfigKey,
  purgingLockKey,
} from "../../core/config/config-keys.ts";
import { newKeyringText, newRingKey, parseKeyring } from "../../core/config/keyring.ts";
import { NoReplica } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { systemTimers } from "../../core/timers.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type Acknowledgements, createAcknowledgements } from "../../operator/publish/acknowledgements.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { createPurges } from "../../operator/publish/purges.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { begunPublisher, entry, inventoryWith, newPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import {
  changed,
  project,
  withKey,
  withoutUser,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, type DocumentedUser, documentedUrl } from "../support/redis/redis-acl.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { purgingReplica } from "../support/store/purging-replica.ts";
import { idOf, servedText } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const books = { project: ref, resource: "books" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"), withRootKey("flags"));
const object = { id: idOf(1), owner: "user:a", text: servedText(idOf(1), [], "user:a") };
const documentKey = `jp:{default/shop/books}:doc:${idOf(1)}`;

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
let acknowledgements: Acknowledgements;
let config: FollowedConfig;
let store: Store;

beforeAll(async () => {
  redis = await startRedis();
  await allowAsDocumented(redis);
  redisClient = await openRedisClient(documentedUrl(redis, "jsonplane-operator"));
  publisher = newPublisher({ redisClient, keyring });
  acknowledgements = createAcknowledgements({ redisClient, timers: systemTimers });
  const url = documentedUrl(redis, "jsonplane-dataplane");
  store = await openRedisStore({ url, commandTimeoutMs: 4_000 });
  config = await openRedisDirectory({ url, keyring: unchangingKeyring(keyring), clock: systemClock, replica: "r1" });
});
afterAll(async () => {
  acknowledgements.stop();
  await config.close();
  await store.close();
  redisClient.disconnect();
  await redis.stop();
});

describe("with the documented permissions", () => {
  it("the operator publishes, records, reseals, withdraws and learns what replicas have", async () => {
    await publisher.begin();
    await publisher.publish(shop, inventoryWith(entry("books")));
    await publisher.complete();
    await eventually(() => expect(config.directory.synced()).toBe(true));
    await eventually(async () => expect((await config.directory.project(ref)).outcome).toBe("found"));
    publisher.setKeyring({ ...keyring, keys: [newRingKey((size) => Buffer.alloc(size, 7)), ...keyring.keys] });
    expect(await publisher.reseal(ref)).toBe(6);
    publisher.setKeyring(keyring);
    expect(await publisher.reseal(ref)).toBe(6);
    await eventually(async () => expect(await liveReplicas(redisClient)).toHaveLength(1));
    const { revision } = await publisher.publish(changed(shop, withoutUser("ann")), inventoryWith(entry("films")));
    expect(await acknowledgements.awaitRollout(revision, 20_000)).toBe("programmed");
    expect(await publisher.verify()).toBe("writer");
    await publisher.withdraw(ref);
    expect(await publisher.published()).toEqual([]);
    const after = await begunPublisher({ redisClient, keyring });
    expect(await after.load(ref)).toEqual({ revision: 0 });
    publisher = after;
    await publisher.publish(shop, inventoryWith(entry("books")));
  });

  it("a replica stores, follows, carries out what the operator orders, and leaves the list when it stops", async () => {
    const purges = createPurges(redisClient, publisher);
    await store.create(books, object, 1_000);
    const waiting = store.create({ ...books, durability: "Replicated" }, object, 1_000);
    await expect(waiting).rejects.toThrow(NoReplica);
    await purges.order("one", { what: "resource", project: ref, name: "books" });
    expect(await purges.isOrdered("one")).toBe(true);
    const failures: unknown[] = [];
    const carrying = purgingReplica({
      redisClient: config.redisClient,
      store,
      onFailed: (error) => failures.push(error),
    });
    await eventually(async () => expect(await purges.isDone("one")).toBe(true));
    await carrying.stop();
    await purges.forget("one");
    expect([await purges.isOrdered("one"), await purges.isDone("one"), failures]).toEqual([false, false, []]);
    expect((await pageByCreation(store, books, {}, { offset: 0, limit: 1, descending: false })).count).toBe(0);
    // Of a bound that the second one exceeds, so that whatever a login may ask of Redis is asked.
    const created = Math.floor(Date.now() / 1_000);
    const session = {
      projectUid: "p",
      username: "ann",
      credentialRevision: "1",
      created,
      lastRefresh: created,
      expires: created + 60,
    };
    for (const id of ["one", "two"]) {
      const put = store.putSession(ref, { id, ...session }, { maxPerUser: 1, maxPerProject: 2 });
      expect(await put).toBe("stored");
    }
    const url = documentedUrl(redis, "jsonplane-dataplane");
    const second = await openRedisDirectory({
      url,
      keyring: unchangingKeyring(keyring),
      clock: systemClock,
      replica: "r2",
    });
    await eventually(() => expect(acknowledgements.figures().live).toBe(2));
    await second.close();
    await eventually(() => expect(acknowledgements.figures().live).toBe(1));
  });
});

/** `command arguments…`, refused for want of permission. */
async function expectRefused(user: DocumentedUser, lines: readonly (readonly string[])[]): Promise<void> {
  const client = new Redis(documentedUrl(redis, user));
  const outcomes = await Promise.all(
    lines.map(async ([command = "", ...words]) => {
      const answer = await client.call(command, ...words).then(
        () => "done",
        (error: Error) => error.message,
      );
      return [command, ...words, answer.slice(0, 6)];
    }),
  );
  client.disconnect();
  expect(outcomes).toEqual(lines.map((line) => [...line, "NOPERM"]));
}

const { meta, projects, changes, data, orders, results, replicas } = configKeys;
const forNobody = [
  ["FLUSHALL"],
  ["FLUSHDB"],
  ["KEYS", "*"],
  ["SCAN", "0"],
  ["CONFIG", "GET", "*"],
  ["ACL", "LIST"],
  ["CLIENT", "KILL", "TYPE", "normal"],
  ["SHUTDOWN"],
  ["DEBUG", "SLEEP", "0"],
  ["MONITOR"],
  ["REPLICAOF", "NO", "ONE"],
  ["SCRIPT", "FLUSH"],
  ["FUNCTION", "FLUSH"],
  ["MODULE", "LIST"],
  ["RENAME", meta, "elsewhere"],
];

describe("the operator's user is refused", () => {
  it("stored data, sessions and counters, to read or to write", async () => {
    await store.create(books, object, 1_000);
    await expectRefused("jsonplane-operator", [
      ["JSON.GET", documentKey],
      ["JSON.SET", documentKey, "$", "1"],
      ["HGETALL", "jp:{default/shop}:session:x"],
      ["UNLINK", documentKey],
      ["HGET", "jp:{default/shop/books}:indexes", "x"],
      ["ZRANGEBYSCORE", "{jsonplane}:revocations:live", "0", "1"],
      ["XADD", "{jsonplane}:revocations", "*", "a", "b"],
      ["EVAL", "return redis.call('JSON.GET', KEYS[1])", "1", documentKey],
    ]);
  });

  it("what replicas say of themselves, to write", async () => {
    await expectRefused("jsonplane-operator", [
      ["HSET", acknowledgementKey("r1"), "revision", "99"],
      ["UNLINK", acknowledgementKey("r1")],
      ["ZADD", replicas, "1", "r3"],
      ["SET", purgingLockKey, "x"],
    ]);
  });

  it("everything else of the server", () => expectRefused("jsonplane-operator", forNobody));
});

describe("the user of backups is refused", () => {
  it("stored data and its inventory, to write", async () => {
    await store.create(books, object, 1_000);
    await expectRefused("jsonplane-backup", [
      ["JSON.SET", documentKey, "$", "1"],
      ["UNLINK", documentKey],
      ["HSET", "jp:{default/shop/books}:indexes", "x", "1"],
      ["HSET", data, "a", "b"],
      ["HDEL", configKeys.backup, "last"],
    ]);
    const client = new Redis(documentedUrl(redis, "jsonplane-backup"));
    const script = "return redis.call('JSON.SET', KEYS[1], '$', '1')";
    await expect(client.call("EVAL", script, "1", documentKey)).rejects.toThrow(
      /can't run this command|no permissions to run/i,
    );
    client.disconnect();
  });

  it("configuration, credentials and sessions, to read", () =>
    expectRefused("jsonplane-backup", [
      ["HSET", meta, "a", "b"],
      ["JSON.GET", "jp:{default/shop}:session:a"],
      ["ZRANGE", "jp:{default/shop}:sessions:by-user", "0", "1"],
      ["HGETALL", projectConfigKey(ref)],
      ["HGETALL", credentialsKey(ref)],
    ]));

  it("everything else of the server", () => expectRefused("jsonplane-backup", forNobody));
});

describe("the data plane's user is refused", () => {
  it("configuration, to write", async () => {
    const fields = [meta, projects, projectConfigKey(ref), credentialsKey(ref), orders];
    await expectRefused("jsonplane-dataplane", [
      ...fields.flatMap((key) => [
        ["HSET", key, "a", "b"],
        ["HDEL", key, "a"],
        ["UNLINK", key],
        ["DEL", key],
        ["EXPIRE", key, "1"],
        ["EVAL", "return redis.call('HSET', KEYS[1], 'a', 'b')", "1", key],
      ]),
      ["XADD", changes, "*", "a", "b"],
      ["DEL", changes],
      ["SET", meta, "x"],
      ["JSON.SET", meta, "$", "1"],
    ]);
  });

  it("what the operator notes of stored data, to read or to write", () =>
    expectRefused("jsonplane-dataplane", [
      ["HGETALL", data],
      ["HSET", data, "a", "b"],
      ["DEL", data],
    ]));

  it("writing of configuration inside a script that names no key of it", async () => {
    const client = new Redis(documentedUrl(redis, "jsonplane-dataplane"));
    const script = `return redis.call('HSET', '${meta}', 'epoch', 'mine')`;
    await expect(client.call("EVAL", script, "0")).rejects.toThrow(
      /can't access at least one of the keys|no permissions to access/i,
    );
    client.disconnect();
    expect(await publisher.verify()).toBe("writer");
  });

  it("everything else of the server", () => expectRefused("jsonplane-dataplane", forNobody));

  it("and has what it needs of the orders that it carried out", async () => {
    const client = new Redis(documentedUrl(redis, "jsonplane-dataplane"));
    expect(await client.hkeys(results)).toEqual([]);
    client.disconnect();
  });
});
