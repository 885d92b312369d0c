// Replicas as processes whose key ring is mounted as kubelet mounts a Secret, and renewed while
// they serve.

import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type Keyring, keyringText, newKeyringText, newRingKey, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, changed, project, withKey, withResource } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const former = parseKeyring(newKeyringText());
const key = newRingKey(Buffer.alloc);
const appended: Keyring = { ...former, keys: [...former.keys, key] };
const promoted: Keyring = { ...former, keys: [key, ...former.keys] };
const shop = project("shop", withKey("admin", { role: "Administrators" }), withResource("books"));
const grown = changed(shop, withResource("films"), withKey("other", { role: "Administrators" }));

let folder: string;
let redis: TestRedis;
let redisClient: RedisClient;
let replica: Replica;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-ring-"));
  await symlink(join("..data", "keyring.json"), join(folder, "keyring.json"));
  await mount(keyringText(former));
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  const publisher = await begun(former);
  await publisher.publish(shop);
  await publisher.complete();
  replica = await startReplica({ redis: redis.url, keyring: join(folder, "keyring.json"), name: "r1" });
  expect(await status("books", "admin")).toBe(200);
});
afterEach(async () => {
  await replica.stop("SIGKILL");
  redisClient.disconnect();
  await redis.stop();
  await rm(folder, { recursive: true });
});

/** As kubelet does: the files in a new folder, the link `..data` swapped by a rename. */
async function mount(text: string): Promise<void> {
  const made = `..${randomUUID()}`;
  await mkdir(join(folder, made));
  await writeFile(join(folder, made, "keyring.json"), text);
  await symlink(made, join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
}

const begun = (keyring: Keyring): Promise<Publisher> => begunPublisher({ redisClient, keyring });

async function status(resource: string, as: string): Promise<number> {
  return (await replica.send(`/default/shop/api/${resource}`, { as: apikey(as) })).status;
}

describe("a replica whose mounted key ring is renewed", () => {
  it("takes the new ring up while it serves, and what is sealed with it", async () => {
    await mount(keyringText(appended));
    await eventually(() => expect(replica.log()).toContain('"Key ring changed"'));
    const publisher = await begun(promoted);
    await publisher.publish(grown);
    await eventually(async () => expect(await status("films", "other")).toBe(200));
    expect(await status("books", "admin")).toBe(200);
    expect(replica.log()).not.toContain("refused");
  });

  it("serves what it had while it lacks the key, and the rest soon after it came", async () => {
    const publisher = await begun(promoted);
    await publisher.publish(grown);
    await eventually(() => expect(replica.log()).toContain('"Field of Project refused"'));
    expect(await status("books", "admin")).toBe(200);
    expect(await status("films", "admin")).toBe(404);
    expect(await status("books", "other")).toBe(503);
    await mount(keyringText(appended));
    await eventually(async () => expect(await status("films", "other")).toBe(200));
  });

  it("goes on with the ring it has when the file goes bad, and says so without its content", async () => {
    await mount(keyringText(former).replace("names", "name"));
    await eventually(() => expect(replica.log()).toContain('"Key ring rejected; keeping the previous one"'));
    expect(replica.log()).not.toContain(Buffer.from(former.names).toString("base64url"));
    const publisher = await begun(former);
    await publisher.publish(grown);
    await eventually(async () => expect(await status("films", "other")).toBe(200));
  });
});

describe("a replica that starts where a newer version has written the configuration", () => {
  it("is not ready, says what to do, and one that was running goes on", async () => {
    const { meta } = configKeys;
    await redisClient.write(meta, "HSET", meta, "format", 2);
    const file = join(folder, "keyring.json");
    const started = await startReplica({ redis: redis.url, keyring: file, name: "r2", untilReady: false });
    try {
      await eventually(async () => {
        const { status, text } = await send(started.adminUrl, "/readyz");
        expect([status, text]).toEqual([503, expect.stringContaining("written by a newer version than this replica")]);
      });
      expect(started.log()).toContain("Update the data plane to the version of the operator");
      expect(await started.metrics()).toContain("\njsonplane_keyring_fits 1\n");
      await eventually(() => expect(replica.log()).toContain("written by a newer version"));
      // What a newer version withdraws is not taken up: it may be written in another way.
      const { projects } = configKeys;
      await redisClient.write(projects, "HDEL", projects, "default/shop");
      await redisClient.write(meta, "HINCRBY", meta, "revision", 1);
      const age = async () => Number(/^jsonplane_config_age_seconds (\S+)$/m.exec(await replica.metrics())?.[1]);
      await eventually(async () => expect(await age()).toBeGreaterThan(8));
      expect([await replica.ready(), await status("books", "admin")]).toEqual([200, 200]);
      await redisClient.write(meta, "HSET", meta, "format", 1);
      await eventually(async () => expect(await status("books", "admin")).toBe(404));
      await (await begun(former)).publish(shop);
      await eventually(async () => expect(await started.ready()).toBe(200));
      await eventually(async () => expect(await status("books", "admin")).toBe(200));
    } finally {
      await started.stop("SIGKILL");
    }
  });
});

describe("a replica that starts with another key ring than the configuration was sealed with", () => {
  it("is not ready, says why, and is ready once it has the right one; one that was running goes on, and hears of what is withdrawn", async () => {
    await mount(keyringText(parseKeyring(newKeyringText())));
    const file = join(folder, "keyring.json");
    const started = await startReplica({ redis: redis.url, keyring: file, name: "r2", untilReady: false });
    try {
      await eventually(async () => {
        const { status, text } = await send(started.adminUrl, "/readyz");
        expect([status, text]).toEqual([503, expect.stringContaining("sealed with another key ring")]);
      });
      expect(started.log()).toContain("Key ring does not match the published configuration");
      expect(await started.metrics()).toContain("\njsonplane_keyring_fits 0\n");
      expect(await redisClient.read("x", "ZRANGE", configKeys.replicas, 0, -1)).toEqual(["r1"]);
      expect((await started.send("/default/shop/api/books")).code).toBe("project_unavailable");
      expect([await replica.ready(), await status("books", "admin")]).toEqual([200, 200]);
      // As when the hint of a withdrawal is trimmed before it was read: only comparing shows it.
      const { meta, projects } = configKeys;
      await redisClient.write(projects, "HDEL", projects, "default/shop");
      await redisClient.write(meta, "HINCRBY", meta, "revision", 1);
      await eventually(async () => expect(await status("books", "admin")).toBe(404));
      await (await begun(former)).publish(shop);
      await mount(keyringText(former));
      await eventually(async () => expect(await started.ready()).toBe(200));
      expect((await started.send("/default/shop/api/books", { as: apikey("admin") })).status).toBe(200);
      await eventually(async () => expect(await started.metrics()).toContain("\njsonplane_keyring_fits 1\n"));
    } finally {
      await started.stop("SIGKILL");
    }
  });
});
