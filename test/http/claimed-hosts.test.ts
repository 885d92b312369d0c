// What a replica that follows Redis answers on a host that a project claims, while it can't load
// this project or doesn't know yet who claims the host. Paths there belong to that project alone:
// read as /<namespace>/<project>, they would reach another tenant.

import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type DataPlane, startDataPlane } from "../../dataplane/app.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { send } from "../support/http/http-client.ts";
import { inNamespace, project, withHosts, withRootKey } from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withHosts("shop.example.org"), withRootKey("flags", { initialValue: '"of the shop"' }));
/** Its path base reads like a path on the shop's host. */
const other = project("books", inNamespace("api"), withRootKey("flags", { initialValue: '"of another tenant"' }));

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
let store: Store;
let config: FollowedConfig;
let plane: DataPlane;

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
  store = await openRedisStore({ url: redis.url });
});
afterEach(async () => {
  await plane.close();
  await config.close();
  await store.close();
});

async function startReplica(): Promise<void> {
  config = await openRedisDirectory({
    url: redis.url,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    replica: "hosts",
  });
  const listening = { host: "127.0.0.1", port: 0, adminPort: 0, writeLog: () => undefined };
  plane = await startDataPlane({ ...listening, directory: config.directory, store });
}

async function get(path: string, host?: string): Promise<readonly unknown[]> {
  const reply = await send(plane.url, path, host === undefined ? {} : { headers: { host } });
  return [reply.status, reply.code ?? reply.text];
}

it("503, never another tenant's project, while the project that claims the host can't be loaded", async () => {
  await publisher.publish(shop);
  await publisher.publish(other);
  await publisher.complete();
  const key = projectConfigKey(shop.project);
  await redisClient.write(key, "HSET", key, "project", `9999999999999999 ${"0".repeat(64)} not.a.sealed.value.x`);
  await startReplica();
  await eventually(() => expect(config.directory.synced()).toBe(true));
  for (const path of ["/api/books/json/flags", "/api/books", "/json/flags", "/docs"]) {
    expect([path, ...(await get(path, "shop.example.org"))]).toEqual([path, 503, "project_unavailable"]);
  }
  expect(await get("/api/books/json/flags")).toEqual([200, '"of another tenant"']);
});

it("503 on every host until all claims are known; then each host has its project", async () => {
  await publisher.publish(other);
  await startReplica();
  await eventually(() => expect(config.directory.projects()).toHaveLength(1));
  for (const host of ["shop.example.org", undefined]) {
    expect(await get("/api/books/json/flags", host)).toEqual([503, "project_unavailable"]);
  }
  await publisher.publish(shop);
  await publisher.complete();
  await eventually(() => expect(config.directory.synced()).toBe(true));
  expect(await get("/json/flags", "shop.example.org")).toEqual([200, '"of the shop"']);
  expect(await get("/api/books/json/flags")).toEqual([200, '"of another tenant"']);
});

it("a host that nobody claims serves every project at its path", async () => {
  await publisher.publish(shop);
  await publisher.publish(other);
  await publisher.complete();
  await startReplica();
  await eventually(() => expect(config.directory.synced()).toBe(true));
  for (const host of ["unclaimed.example.org", undefined]) {
    expect(await get("/default/shop/json/flags", host)).toEqual([200, '"of the shop"']);
    expect(await get("/api/books/json/flags", host)).toEqual([200, '"of another tenant"']);
    expect(await get("/json/flags/a", host)).toEqual([404, "unknown_project"]);
  }
});
