// How whoever begins to write configuration knows whether Redis still is the store that its
// installation had.

import { describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { storeFields } from "../../core/config/store-fields.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText } from "../../core/redis/reply.ts";
import { NotTheWriter } from "../../operator/publish/refusals.ts";
import type { StoreIdentity } from "../../operator/publish/store-identity.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { newPublisher, redisClientAround, rememberedStore } from "../support/fleet/publishing.ts";

const keyring = parseKeyring(newKeyringText());
const { meta } = configKeys;
const anId = /^[0-9a-f-]{36}$/;
let redisClient: RedisClient;
useEmptiedRedis((own) => {
  ({ redisClient } = own);
});

async function says(): Promise<readonly (string | undefined)[]> {
  const fields = [storeFields.id, storeFields.loss, storeFields.refusesLoss];
  return listOf(await redisClient.read(meta, "HMGET", meta, ...fields)).map(optionalText);
}

async function begun(store: StoreIdentity, more: { readonly adopt?: boolean } = {}) {
  const publisher = newPublisher({ redisClient, keyring, store });
  await publisher.begin({ takeOver: more.adopt ?? false });
  return publisher;
}

const flush = () => redisClient.write(meta, "FLUSHALL");

describe("a store", () => {
  it("gets an id at the first beginning, which is remembered, and keeps it with each further one", async () => {
    const store = rememberedStore();
    expect((await begun(store)).dataLoss()).toBeUndefined();
    expect(store.id).toMatch(anId);
    const first = store.id;
    const second = await begun(store);
    expect([store.id, second.dataLoss(), second.hasOtherStore()]).toEqual([first, undefined, false]);
    expect(await says()).toEqual([first, undefined, "1"]);
  });

  it("that has one already is taken by an installation that remembers none, as with a new key ring", async () => {
    await begun(rememberedStore("Refuse", "older"));
    await redisClient.write(meta, "HSET", meta, "store_id", "older");
    await redisClient.write(meta, "HDEL", meta, "data_loss");
    const store = rememberedStore();
    expect((await begun(store)).dataLoss()).toBeUndefined();
    expect(store.id).toBe("older");
  });

  it("is found by the next beginning when the id could not be remembered", async () => {
    const store = rememberedStore();
    const keep = () => Promise.reject(new Error("The API server is away"));
    await expect(begun({ ...store, expected: store.expected, keep })).rejects.toThrow("away");
    const [made] = await says();
    expect(made).toMatch(anId);
    await begun(store);
    expect([store.id, (await says())[0]]).toEqual([made, made]);
  });
});

describe("a Redis without the id, or with another one", () => {
  it.each<readonly [string, () => Promise<unknown>]>([
    ["emptied", flush],
    ["of another time", () => redisClient.write(meta, "HSET", meta, "store_id", "other")],
    ["whose id was removed", () => redisClient.write(meta, "HDEL", meta, "store_id")],
  ])("is a loss with a name, which stays its name until it is over: %s", async (_, lose) => {
    const store = rememberedStore();
    await begun(store);
    await lose();
    const loss = (await begun(store)).dataLoss();
    expect(loss).toMatch(/^[0-9a-f]{8}$/);
    expect((await says()).slice(1)).toEqual([loss, "1"]);
    expect((await begun(store)).dataLoss()).toBe(loss);
    // The backup comes back.
    await redisClient.write(meta, "HSET", meta, "store_id", store.id ?? "");
    expect((await begun(store)).dataLoss()).toBeUndefined();
    expect((await says()).slice(1)).toEqual([undefined, "1"]);
  });

  it("is the store again once the loss is accepted, with the same id; the next loss has another name", async () => {
    const store = rememberedStore();
    await begun(store);
    await flush();
    const publisher = await begun(store);
    const loss = publisher.dataLoss();
    await publisher.acceptLoss();
    expect(publisher.dataLoss()).toBeUndefined();
    expect(await says()).toEqual([store.id, undefined, "1"]);
    await flush();
    expect((await begun(store)).dataLoss()).not.toBe(loss);
  });

  it("is another loss, with another name, where Redis goes back behind the acceptance: a failover or a snapshot", async () => {
    const store = rememberedStore();
    await begun(store);
    await flush();
    const publisher = await begun(store);
    const loss = publisher.dataLoss() ?? "";
    await publisher.acceptLoss();
    expect(await publisher.verify()).toBe("writer");
    await redisClient.write(meta, "HSET", meta, storeFields.loss, loss);
    await redisClient.write(meta, "HDEL", meta, storeFields.id);
    expect(await publisher.verify()).toBe("lost");
    await publisher.begin();
    const next = publisher.dataLoss();
    expect(next).toMatch(/^[0-9a-f]{8}$/);
    expect(next).not.toBe(loss);
    expect(await says()).toEqual([undefined, next, "1"]);
    expect((await begun(store)).dataLoss()).toBe(next);
  });

  it("is not accepted by who no longer writes", async () => {
    const store = rememberedStore();
    await begun(store);
    await flush();
    const former = await begun(store);
    const loss = (await begun(store)).dataLoss();
    await expect(former.acceptLoss()).rejects.toThrow(NotTheWriter);
    expect(await says()).toEqual([undefined, loss, "1"]);
    expect(former.dataLoss()).toBe(loss);
  });

  it("is served as it is by one that adopts, once, and by one that is told to serve, which guards nothing", async () => {
    const store = rememberedStore();
    await begun(store);
    await flush();
    const adopting = await begun(store, { adopt: true });
    expect([adopting.dataLoss(), adopting.hasOtherStore()]).toEqual([undefined, true]);
    await flush();
    await adopting.begin({ takeOver: true });
    expect(adopting.dataLoss()).toMatch(/./);
    const serving = await begun(rememberedStore("Serve", store.id));
    expect([serving.dataLoss(), serving.hasOtherStore()]).toEqual([undefined, true]);
    expect(await says()).toEqual([store.id, undefined, undefined]);
  });

  it("is marked in the step that begins: nothing is published before", async () => {
    const store = rememberedStore();
    await begun(store);
    await flush();
    const seen: unknown[] = [];
    const around = redisClientAround(redisClient, {
      script: "begin",
      call: 1,
      after: async () => void seen.push(await says()),
    });
    await newPublisher({ redisClient: around, keyring, store }).begin();
    expect(seen).toEqual([[undefined, expect.stringMatching(/^[0-9a-f]{8}$/), "1"]]);
  });
});
