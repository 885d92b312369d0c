// Configuration that is sealed again when the fleet's key ring has changed, on real Redis.

import { describe, expect, it } from "vitest";
import { type Keyring, newKeyringText, newRingKey, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import {
  begunPublisher,
  entry,
  inventoryWith,
  manyUsers,
  newPublisher,
  redisClientAround,
  storedInventory,
} from "../support/fleet/publishing.ts";
import { changed, project, withKey, withoutKey, withResource, withUser } from "../support/http/projects.ts";

const former = parseKeyring(newKeyringText());
const [old] = former.keys;
const fresh = newRingKey((size) => crypto.getRandomValues(new Uint8Array(size)));
const promoted: Keyring = { ...former, keys: [fresh, old] };
const alone: Keyring = { ...former, keys: [fresh] };
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"));
const withBob = changed(shop, withUser("bob"));
/** Of `shop`. */
const fields = 5;

let redisClient: RedisClient;
let publisher: Publisher;

useEmptiedRedis(async (own) => {
  ({ redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring: former });
});

const kids = async () => [...(await publisher.sealedWith(ref))].sort();

describe("a publisher whose ring has another first key", () => {
  it("leaves what is sealed, seals what changes with the new key, and knows which keys seal", async () => {
    expect(await kids()).toEqual([]);
    await publisher.publish(shop);
    expect(await kids()).toEqual([old.kid]);
    publisher.setKeyring(promoted);
    expect((await publisher.publish(shop)).changed).toBe(0);
    expect(await kids()).toEqual([old.kid]);
    expect((await publisher.publish(withBob)).changed).toBe(1);
    expect(await kids()).toEqual([old.kid, fresh.kid].sort());
  });

  it("seals anew what the former key has sealed, once, with a newer revision, for a ring of the new key alone", async () => {
    const before = await publisher.publish(shop);
    publisher.setKeyring(promoted);
    await publisher.publish(withBob);
    expect(await publisher.reseal(ref)).toBe(fields);
    expect(await publisher.reseal(ref)).toBe(0);
    expect(await kids()).toEqual([fresh.kid]);
    const after = await begunPublisher({ redisClient, keyring: alone });
    const loaded = await after.load(ref);
    expect(loaded.config).toEqual(withBob);
    expect(loaded.revision).toBeGreaterThan(before.revision);
    expect((await after.publish(withBob)).changed).toBe(0);
  });

  it("says nothing new of stored data", async () => {
    const pending = inventoryWith(entry("books", { purgeFromRevision: 0, purgeCause: "p" }));
    await publisher.publish(shop);
    await publisher.writeData(ref, pending);
    publisher.setKeyring(promoted);
    await publisher.reseal(ref);
    expect(await storedInventory(redisClient, "default/shop")).toEqual(pending);
    expect((await publisher.load(ref)).data).toEqual(pending);
  });

  it("goes on where a reseal of several steps was cut off", async () => {
    const large = manyUsers(shop, 450);
    await publisher.publish(large);
    const cutOff = () => {
      throw new Error("cut off");
    };
    publisher = newPublisher({
      redisClient: redisClientAround(redisClient, { script: "publish", call: 2, before: cutOff }),
      keyring: promoted,
    });
    await publisher.begin();
    await expect(publisher.reseal(ref)).rejects.toThrow("cut off");
    expect(await kids()).toEqual([old.kid, fresh.kid].sort());
    expect(await publisher.reseal(ref)).toBe(450 + fields - 200);
    expect(await kids()).toEqual([fresh.kid]);
    expect((await (await begunPublisher({ redisClient, keyring: alone })).load(ref)).config).toEqual(large);
  });

  it("keeps what was published after the reseal was ordered and before it ran", async () => {
    await publisher.publish(shop);
    publisher.setKeyring(promoted);
    await publisher.publish(changed(shop, withoutKey("ci")));
    await publisher.reseal(ref);
    const after = await begunPublisher({ redisClient, keyring: alone });
    expect((await after.load(ref)).config).toEqual(changed(shop, withoutKey("ci")));
  });

  it("writes anew what only a key that was lost opens", async () => {
    await publisher.publish(shop);
    const after = await begunPublisher({ redisClient, keyring: alone });
    expect((await after.load(ref)).config).toBeUndefined();
    expect((await after.publish(shop)).changed).toBe(fields);
    expect(await after.sealedWith(ref)).toEqual(new Set([fresh.kid]));
  });
});
