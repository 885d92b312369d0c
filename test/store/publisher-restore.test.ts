// What a publisher does after Redis was emptied: what it has published before is published again
// from memory, and what was taken away stays away.

import { describe, expect, it } from "vitest";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import {
  type Around,
  begunPublisher,
  entry,
  inventoryWith,
  manyUsers,
  newPublisher,
  redisClientAround,
} from "../support/fleet/publishing.ts";
import { changed, project, withKey, withResource, withUser } from "../support/http/projects.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"));
const books = inventoryWith(entry("books"));

class CutOff extends Error {}

let redisClient: RedisClient;
let publisher: Publisher;

useEmptiedRedis(async (own) => {
  ({ redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});

const around = (what: Omit<Around, "script">) =>
  newPublisher({ redisClient: redisClientAround(redisClient, { script: "publish", ...what }), keyring });
const cutOff = () => {
  throw new CutOff();
};
const unanswered = () => {
  throw new OutcomeUnknown("not answered");
};

describe("an emptied Redis", () => {
  it("leaves the publisher the last good versions, which no object may say any more", async () => {
    await publisher.publish(shop, books);
    await redisClient.write("x", "FLUSHALL");
    expect(await publisher.verify()).toBe("lost");
    await publisher.begin();
    expect((await publisher.load(ref)).config).toEqual(shop);
    expect((await publisher.publish(shop, books)).changed).toBeGreaterThan(0);
    await publisher.withdraw(ref, undefined);
    await redisClient.write("x", "FLUSHALL");
    await publisher.verify();
    await publisher.begin();
    expect((await publisher.load(ref)).config).toBeUndefined();
  });
});

describe("what Redis has lost", () => {
  const emptied = async (): Promise<void> => {
    await redisClient.write("x", "FLUSHALL");
    await publisher.verify();
    await publisher.begin();
  };
  const served = async () => (await (await begunPublisher({ redisClient, keyring })).load(ref)).config;

  it("is published again from memory as it was published last, twice as well", async () => {
    await publisher.publish(changed(shop, withKey("revoked")), books);
    await publisher.publish(shop, books);
    await emptied();
    await publisher.begin();
    expect(await publisher.lacks(ref)).toBe(true);
    await publisher.restore(ref);
    expect(await publisher.lacks(ref)).toBe(false);
    const newest = publisher.newest();
    await publisher.restore(ref);
    expect(publisher.newest()).toBe(newest);
    expect(await served()).toEqual(shop);
  });

  it("is not lacking once all is said to be there, whether anything is or not", async () => {
    expect(await publisher.lacks(ref)).toBe(true);
    await publisher.complete();
    expect(await publisher.lacks(ref)).toBe(false);
  });

  it("is nothing where the project was withdrawn", async () => {
    await publisher.publish(shop, books);
    await publisher.withdraw(ref, undefined);
    await emptied();
    await publisher.restore(ref);
    expect(await served()).toBeUndefined();
  });

  it.each<readonly [string, (broken: Publisher) => Promise<unknown>, Omit<Around, "script">]>([
    ["was not answered", (broken) => broken.publish(shop, books), { call: 2, after: unanswered }],
    ["was cut off", (broken) => broken.publish(manyUsers(shop, 450)), { call: 3, before: cutOff }],
  ])("comes back without what a change revoked that %s", async (_, change, what) => {
    const broken = around(what);
    await broken.begin();
    await broken.publish(changed(shop, withKey("revoked")), books);
    await expect(change(broken)).rejects.toThrow();
    await redisClient.write("x", "FLUSHALL");
    await broken.verify();
    await broken.begin();
    await broken.restore(ref);
    expect((await served())?.keys).toEqual(shop.keys);
  });

  it("is nothing where the project was withdrawn from an emptied Redis", async () => {
    await publisher.publish(shop);
    await emptied();
    await publisher.withdraw(ref, undefined);
    await publisher.restore(ref);
    expect((await publisher.load(ref)).config).toBeUndefined();
  });

  it("is nothing where the answer to the withdrawal is missing", async () => {
    const broken = newPublisher({
      redisClient: redisClientAround(redisClient, { script: "withdraw", call: 1, after: unanswered }),
      keyring,
    });
    await broken.begin();
    await broken.publish(shop, books);
    await expect(broken.withdraw(ref)).rejects.toThrow(OutcomeUnknown);
    await redisClient.write("x", "FLUSHALL");
    await broken.begin();
    await broken.restore(ref);
    expect(await served()).toBeUndefined();
  });

  it("comes back as it was before a change that was never sent", async () => {
    let away = false;
    const broken = around({
      call: 2,
      before() {
        away = true;
        throw new StoreUnavailable("away");
      },
    });
    await broken.begin();
    await broken.publish(shop, books);
    await expect(broken.publish(changed(shop, withUser("eve")), books)).rejects.toThrow(StoreUnavailable);
    await redisClient.write("x", "FLUSHALL");
    await broken.verify();
    await broken.begin();
    await broken.restore(ref);
    expect([away, await served()]).toEqual([true, shop]);
  });
});
