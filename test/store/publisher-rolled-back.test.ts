// A running operator's Redis goes back: a backup is restored under it, or a failover loses the
// newest writes. What was revoked since is accepted again until it is published again, so that it
// comes before everything else.

import { describe, expect, it } from "vitest";
import { configKeys, keyOfProject } from "../../core/config/config-keys.ts";
import { newKeyringText, newRingKey, parseKeyring } from "../../core/config/keyring.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { createWorkQueue } from "../../operator/queue/work-queue.ts";
import { createMaintenance } from "../../operator/runtime/maintenance.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import {
  begunPublisher,
  entry,
  inventoryWith,
  manyUsers,
  newPublisher,
  redisClientAround,
} from "../support/fleet/publishing.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { changed, project, withConfig, withKey, withoutKey, withResource, withUser } from "../support/http/projects.ts";
import { manualTime } from "../support/time/manual-time.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withKey("lent"), withResource("books"));
const revoked = changed(shop, withoutKey("lent"));
const books = inventoryWith(entry("books"));

let redisClient: RedisClient;
let publisher: Publisher;

useEmptiedRedis(async (own) => {
  ({ redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});

const backUp = () => redisClient.write(configKeys.meta, "SAVE");

/** Redis holds what it held at the last backup, and the publisher has found out. */
async function restoreBackup(of = publisher): Promise<void> {
  await redisClient.write(configKeys.meta, "DEBUG", "RELOAD", "NOSAVE");
  expect(await of.verify()).toBe("lost");
  await of.begin();
}

/** What somebody finds who knows nothing but Redis. */
const served = async () => (await (await begunPublisher({ redisClient, keyring })).load(ref)).config;
const lost = async (of = publisher) => of.lostFrom(await of.published());

describe("of what Redis lost by going back", () => {
  const names = Array.from({ length: 300 }, (_, at) => `p-${at}`);
  const partsOf = new Map(names.map((name) => [name, changed(shop, withConfig({ name }))]));
  const publish = (name: string, change = (config: typeof shop) => config) =>
    publisher.publish(change(partsOf.get(name) ?? shop), undefined);
  const withoutLent = withoutKey("lent");

  it("a worker gets withdrawn projects first, then what else has changed since, then the rest", async () => {
    for (const name of names) await publish(name);
    await backUp();
    await publish("p-250", withResource("films"));
    await publish("p-290", withoutLent);
    await publisher.withdraw({ namespace: "default", name: "p-299" });
    await publish("p-new", withConfig({ name: "p-new" }));

    await restoreBackup();
    const queue = createWorkQueue({ ...manualTime(), random: () => 0.5 });
    const keys = [...names.filter((name) => name !== "p-299"), "p-new"].map((name) => `default/${name}`);
    // What comes by again now and then waits already.
    for (const key of keys) queue.add(key, "bulk");
    beginMaintenance(queue, keys).onSessionBegun(await lost());
    const order = await taken(queue, keys.length + 1);
    expect(order.at(0)).toBe("default/p-299");
    // Every eighth is one of the rest.
    expect(order.slice(1, 4).toSorted()).toEqual(["default/p-250", "default/p-290", "default/p-new"]);
    expect(order.toSorted()).toEqual([...keys, "default/p-299"].toSorted());
  });

  it("nothing comes first in an emptied Redis: it brings nothing back, and has lost all alike", async () => {
    await publisher.publish(shop, books);
    await redisClient.write("x", "FLUSHALL");
    expect([await publisher.verify(), await publisher.begin(), await lost()]).toEqual(["lost", undefined, []]);
  });

  it("nothing is where Redis has everything, or more than this process has published", async () => {
    await publisher.publish(shop, books);
    await publisher.begin();
    expect(await lost()).toEqual([]);
    const other = await begunPublisher({ redisClient, keyring });
    await other.publish(revoked, books);
    expect(await publisher.verify()).toBe("lost");
    await publisher.begin();
    expect(await lost()).toEqual([]);
  });

  it("what another operator had published, and this one only read, is known as well", async () => {
    await publisher.publish(shop, books);
    await backUp();
    await publisher.publish(revoked, books);
    const next = await begunPublisher({ redisClient, keyring });
    await next.load(ref);
    await restoreBackup(next);
    expect(await lost(next)).toEqual([keyOfProject(ref)]);
  });

  it("is remembered until it is published again, however often Redis goes back meanwhile", async () => {
    await publisher.publish(shop, books);
    await backUp();
    await publisher.publish(revoked, books);
    await restoreBackup();
    await publisher.load(ref);
    await restoreBackup();
    expect(await lost()).toEqual([keyOfProject(ref)]);
    await publisher.publish(revoked, books);
    expect(await lost()).toEqual([]);
  });
});

describe("restoring a project behind which Redis went back", () => {
  it("revokes again what was revoked, from memory: nothing else is needed", async () => {
    await publisher.publish(shop, books);
    await backUp();
    const later = changed(revoked, withResource("films"), withUser("ann", { password: "another" }), withKey("new"));
    await publisher.publish(later, inventoryWith(entry("books"), entry("films")));
    await restoreBackup();
    await publisher.restore(ref);
    const { users, keys, resources } = (await served()) ?? shop;
    expect([users, keys]).toEqual([later.users, later.keys]);
    // With the data that came back with them, whose inventory says nothing of others.
    expect([...resources.keys()]).toEqual(["books"]);
    const newest = publisher.newest();
    await publisher.restore(ref);
    expect(publisher.newest()).toBe(newest);
  });

  it("comes before what came back is sealed again with another key", async () => {
    const fresh = newRingKey((size) => crypto.getRandomValues(new Uint8Array(size)));
    const promoted = { ...keyring, keys: [fresh, ...keyring.keys] as const };
    await publisher.publish(shop, books);
    await backUp();
    await publisher.publish(revoked, books);
    publisher.setKeyring(promoted);
    await restoreBackup();
    expect(await publisher.reseal(ref)).toBeGreaterThan(0);
    const now = await (await begunPublisher({ redisClient, keyring: promoted })).load(ref);
    expect(now.config?.keys).toEqual(revoked.keys);
  });

  it("refuses an external issuer again that was removed", async () => {
    const corp = testIssuer("corp");
    await publisher.publish(changed(shop, withIssuer(corp)), books);
    await backUp();
    await publisher.publish(shop, books);
    await restoreBackup();
    await publisher.restore(ref);
    expect((await served())?.issuers).toEqual(new Map());
  });

  it("revokes again what takes several steps, however often Redis goes back", async () => {
    await publisher.publish(manyUsers(shop, 450), books);
    await backUp();
    await publisher.publish(revoked, books);
    for (let times = 0; times < 2; times += 1) {
      await restoreBackup();
      await publisher.restore(ref);
      expect((await served())?.users).toEqual(revoked.users);
    }
  });

  it.each([
    ["was not sent", "before", new StoreUnavailable("not sent")],
    ["was sent and not answered", "after", new OutcomeUnknown("not answered")],
  ] as const)("leaves nothing that was changed since where it ends with a step that %s", async (_, at, error) => {
    const users = manyUsers(shop, 450).users;
    const others = new Map([...users].map(([name, user]) => [name, { ...user, credentialRevision: "next" }]));
    await publisher.publish({ ...shop, users }, books);
    await backUp();
    const fail = (): never => {
      throw error;
    };
    // Three steps are the publish. The restore removes in one, and ends with the second of three
    // that write.
    const failing = newPublisher({
      keyring,
      redisClient: redisClientAround(redisClient, { script: "publish", call: 6, [at]: fail }),
    });
    await failing.begin();
    await failing.publish({ ...revoked, users: others }, books);
    await restoreBackup(failing);
    await expect(failing.restore(ref)).rejects.toThrow(error.message);
    await failing.begin();
    await failing.restore(ref);
    const back = (await served()) ?? shop;
    expect(back.keys).toEqual(revoked.keys);
    expect(back.users.size).toBeGreaterThanOrEqual(200);
    for (const [name, user] of back.users) expect(user).toEqual(others.get(name));
  });

  it("takes all credentials from a project that was withdrawn since, or made anew", async () => {
    await publisher.publish(shop, books);
    await backUp();
    await publisher.withdraw(ref, books);
    await restoreBackup();
    await publisher.restore(ref);
    expect([(await served())?.keys.size, (await served())?.users.size]).toEqual([0, 0]);
    await publisher.begin();
    await publisher.publish(changed(project("shop", withKey("ci"))), books);
    await restoreBackup();
    await publisher.restore(ref);
    expect((await served())?.keys.size).toBe(0);
  });

  it("revokes what a change revoked that was not answered", async () => {
    await publisher.publish(shop, books);
    await backUp();
    const unsure = newPublisher({
      keyring,
      redisClient: redisClientAround(redisClient, {
        script: "publish",
        call: 2,
        after() {
          throw new OutcomeUnknown("not answered");
        },
      }),
    });
    await unsure.begin();
    await unsure.publish(changed(shop, withResource("films")), books);
    const later = changed(revoked, withUser("ann", { password: "another" }), withKey("new"));
    await expect(unsure.publish(later, books)).rejects.toThrow(OutcomeUnknown);
    await restoreBackup(unsure);
    await unsure.restore(ref);
    const back = await served();
    expect([back?.keys, back?.users]).toEqual([later.keys, later.users]);
  });

  it("leaves alone what is as new as what Redis has confirmed", async () => {
    await publisher.publish(revoked, books);
    await backUp();
    const unsure = newPublisher({
      keyring,
      redisClient: redisClientAround(redisClient, {
        script: "publish",
        call: 1,
        after() {
          throw new OutcomeUnknown("not answered");
        },
      }),
    });
    await unsure.begin();
    const newest = unsure.newest();
    await unsure.restore(ref);
    expect(unsure.newest()).toBe(newest);
    await expect(unsure.publish(shop, books)).rejects.toThrow(OutcomeUnknown);
    await redisClient.write(configKeys.meta, "DEBUG", "RELOAD", "NOSAVE");
    await unsure.begin();
    await unsure.restore(ref);
    expect(await served()).toEqual(revoked);
  });
});

function beginMaintenance(queue: ReturnType<typeof createWorkQueue>, keys: readonly string[]) {
  return createMaintenance({
    queue,
    timers: manualTime().timers,
    random: () => 0.5,
    logger: { info: () => undefined, warn: () => undefined } as never,
    signal: new AbortController().signal,
    keys: () => keys,
    isCurrent: () => true,
    publisher: async () => publisher,
    verify: async () => undefined,
    rotateKeyRing: async () => undefined,
    lookAtRedis: async () => undefined,
    renewRedisCertificate: async () => undefined,
    refreshUsage: async () => undefined,
    refreshOrders: async () => undefined,
    sweepOrphans: async () => undefined,
  });
}

async function taken(queue: ReturnType<typeof createWorkQueue>, count: number): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const key = await queue.take();
    if (key === undefined) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}
