// A replica whose Redis loses what was stored: it refuses by itself, whether or not an operator is
// there.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { keyringText, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { begunPublisher, openRedisClient, rememberedStore } from "../support/fleet/publishing.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import type { SentRequest } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withKey("admin", { role: "Administrators" }), withResource("books"), withRootKey("flags"));
const paths = ["/api/books", "/json/flags"];

let folder: string;
let redis: TestRedis;
let redisClient: RedisClient;
let replica: Replica;
let store: ReturnType<typeof rememberedStore>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-lost-"));
  await writeFile(join(folder, "keyring.json"), keyringText(keyring));
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  store = rememberedStore();
  await published(shop);
  replica = await added("r1");
  await isServed();
});
afterEach(async () => {
  await replica.stop("SIGKILL");
  redisClient.disconnect();
  await redis.stop();
  await rm(folder, { recursive: true });
});

const added = (name: string, untilReady = true) =>
  startReplica({ redis: redis.url, keyring: join(folder, "keyring.json"), name, untilReady });

async function published(parts: CompiledProject): Promise<Publisher> {
  const publisher = await begunPublisher({ redisClient, keyring, store });
  await publisher.publish(parts);
  await publisher.complete();
  return publisher;
}

const answer = async (path: string, by: Replica) => await by.send(`/default/shop${path}`, { as: apikey("admin") });

async function isServed(by: Replica = replica): Promise<void> {
  for (const path of paths) await eventually(async () => expect((await answer(path, by)).status).toBe(200));
}

async function isRefused(by: Replica = replica): Promise<void> {
  for (const path of paths) await eventually(async () => expect((await answer(path, by)).code).toBe("data_lost"));
}

/**
 * Reads and writes all the time until the end, which resolves with every status that was answered.
 */
function ask(by: Replica): () => Promise<readonly number[]> {
  const statuses = new Set<number>();
  let isOver = false;
  const asked: readonly (readonly [string, SentRequest])[] = [
    ["/api/books", {}],
    ["/api/books", { method: "POST", body: {} }],
    ["/json/flags", {}],
    ["/json/flags", { method: "PUT", body: {} }],
  ];
  const asking = asked.map(async ([path, sent]) => {
    while (!isOver) {
      const { status } = await by.send(`/default/shop${path}`, { ...sent, as: apikey("admin") });
      statuses.add(status);
      await sleep(10);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(asking);
    return [...statuses];
  };
}

/** Waits until the replica has looked at what Redis says more than once. */
async function looked(): Promise<void> {
  const looks = async () => {
    const info = String(await redisClient.read(configKeys.meta, "INFO", "commandstats"));
    return Number(/^cmdstat_hmget:calls=([0-9]+)/m.exec(info)?.[1] ?? 0);
  };
  const before = await looks();
  await eventually(async () => expect(await looks()).toBeGreaterThan(before + 3));
}

it("is refused without an operator, and so are unknown callers' and writers' requests; what is no data goes on", async () => {
  await redisClient.write(configKeys.meta, "FLUSHALL");
  await isRefused();
  const refused = await replica.send("/default/shop/api/books", { method: "POST", body: {}, as: apikey("admin") });
  expect([refused.status, refused.code, refused.headers["retry-after"]]).toEqual([503, "data_lost", "60"]);
  expect((await replica.send("/default/shop/api/books", { as: apikey("nobody") })).status).toBe(401);
  expect((await replica.send("/default/shop/.well-known/jwks.json")).status).toBe(200);
  expect(await replica.ready()).toBe(200);
  await eventually(async () => expect(replica.log()).toContain("Redis lost the stored data"));
});

it("is refused after Redis came back empty, and served again once it is the store that it was", async () => {
  await redis.restart();
  await isRefused();
  await eventually(() => expect(redisClient.ready()).toBe(true));
  await published(shop);
  const second = await added("r2");
  try {
    await isRefused(second);
    await redisClient.write(configKeys.meta, "HSET", configKeys.meta, "store_id", store.id ?? "");
    await published(shop);
    await isServed();
    await isServed(second);
  } finally {
    await second.stop("SIGKILL");
  }
});

it("is refused from the first request on that Redis answers after it came back empty", async () => {
  await redis.kill();
  const stop = ask(replica);
  await redis.restart();
  await isRefused();
  expect(await stop()).toEqual([503]);
});

it("is refused from the first request on by a replica that started while Redis was empty", async () => {
  await redis.restart();
  await eventually(() => expect(redisClient.ready()).toBe(true));
  const second = await added("r2", false);
  try {
    await eventually(async () => expect((await answer("/api/books", second)).code).toBe("project_unavailable"));
    const stop = ask(second);
    await published(shop);
    await isRefused(second);
    expect(await stop()).toEqual([503]);
  } finally {
    await second.stop("SIGKILL");
  }
});

it("is served from an emptied Redis where it is meant to forget: no request fails meanwhile", async () => {
  store = rememberedStore("Serve", store.id);
  await published(shop);
  await looked();
  await redisClient.write(configKeys.meta, "FLUSHALL");
  await looked();
  for (const path of paths) expect((await answer(path, replica)).status).toBe(200);
  await published(shop);
  await isServed();
});

it("is refused to writes whose bodies were on their way when it was lost", async () => {
  const about = `Host: a\r\nAuthorization: ${apikey("admin")}\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2`;
  const slow = ["POST /default/shop/api/books", "PUT /default/shop/json/flags"].map((target) => {
    const connection = openRaw(replica.origin);
    connection.write(`${target} HTTP/1.1\r\n${about}\r\n\r\n`);
    return connection;
  });
  for (const connection of slow) await connection.arrived("100 Continue");
  await redisClient.write(configKeys.meta, "FLUSHALL");
  await isRefused();
  for (const connection of slow) {
    connection.write("{}");
    expect(await connection.closed()).toContain('"data_lost"');
  }
  expect(await redisClient.read(configKeys.meta, "KEYS", "*books*")).toEqual([]);
});

it("a Redis user that may not read whether the data are there is named in the log, once, until it may", async () => {
  await allowAsDocumented(redis);
  const user = "jsonplane-dataplane";
  const limited = await startReplica({
    redis: documentedUrl(redis, user),
    keyring: join(folder, "keyring.json"),
    name: "limited",
  });
  const refusals = () => limited.log().match(/Redis denied read access to \{jsonplane\}:meta/g) ?? [];
  try {
    await isServed(limited);
    await redisClient.write(configKeys.meta, "ACL", "SETUSER", user, "resetkeys", "~jp:*", "~{jsonplane}:[a-ln-z]*");
    await eventually(() => expect(refusals()).toHaveLength(1));
    expect(limited.log()).toContain('"code":"NOPERM"');
    await looked();
    expect(refusals()).toHaveLength(1);
    await redisClient.write(configKeys.meta, "ACL", "SETUSER", user, "~{jsonplane}:*");
    await eventually(() => expect(limited.log()).toContain("Redis grants read access to {jsonplane}:meta again"));
  } finally {
    await limited.stop("SIGKILL");
  }
});
