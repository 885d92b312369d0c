// What a publisher writes and replicas follow, on real Redis.

import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { configKeys, credentialsKey, projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Directory, LiveProject } from "../../dataplane/config/directory.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { NotTheWriter } from "../../operator/publish/refusals.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, newPublisher, publishWithoutHint } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import {
  changed,
  keyOf,
  project,
  withConfig,
  withHosts,
  withKey,
  withoutKey,
  withoutUser,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project(
  "shop",
  withUser("ann"),
  withKey("ci"),
  withResource("books", { schema: { type: "object", properties: { title: { type: "string" } } } }),
  withRootKey("flags"),
);
/** What a replica hears of, it hears of by a hint. */
const never = 3_600_000;
/** Without one, by comparing. */
const comparing = { rereadMs: 300 };
const ref = { namespace: "default", name: "shop" };

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
const open: FollowedConfig[] = [];

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});
afterEach(async () => {
  for (const config of open.splice(0)) await config.close();
});

async function replica({ name = "r1", rereadMs = never } = {}): Promise<FollowedConfig> {
  const config = await openRedisDirectory({
    url: redis.url,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    replica: name,
    rereadMs,
  });
  open.push(config);
  return config;
}

async function publishAll(...projects: readonly CompiledProject[]): Promise<void> {
  for (const parts of projects) await publisher.publish(parts);
  await publisher.complete();
}

async function live(directory: Directory, of = ref): Promise<LiveProject> {
  const lookup = await directory.project(of);
  if (lookup.outcome !== "found") throw new Error(`The project is ${lookup.outcome}`);
  return lookup.value;
}

const sha256Of = (parts: CompiledProject) => [...parts.keys.keys()][0] ?? "";

describe("a replica", () => {
  it("serves what was published before it started", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const project = await live(directory);
    expect(project.config).toEqual(shop.project);
    expect(project.signing).toEqual(shop.signing);
    expect(project.resources.get("books")?.config).toEqual(shop.resources.get("books"));
    expect(project.rootKeys.get("flags")).toEqual(shop.rootKeys.get("flags"));
    expect(await directory.user(project, "ann")).toEqual({ outcome: "found", value: shop.users.get("ann") });
    expect(await directory.key(project, sha256Of(shop))).toMatchObject({ outcome: "found", value: { name: "ci" } });
    expect(directory.projects()).toEqual([ref]);
  });

  it("names as loaded what was asked for, and loads nothing to say so", async () => {
    await publishAll(shop, project("other"));
    const { directory } = await replica();
    await eventually(() => expect(directory.projects()).toHaveLength(2));
    expect(directory.loaded()).toEqual([]);
    const found = await live(directory);
    expect(directory.loaded()).toEqual([found]);
  });

  it("answers unknown for projects, users and keys that are not published", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    expect(await directory.project({ namespace: "default", name: "nope" })).toEqual({ outcome: "unknown" });
    const project = await live(directory);
    expect(await directory.user(project, "bob")).toEqual({ outcome: "unknown" });
    expect(await directory.key(project, "0".repeat(64))).toEqual({ outcome: "unknown" });
  });

  it("is not synced, and calls unpublished projects and hosts unavailable, before the first complete publish", async () => {
    const { directory } = await replica();
    await publisher.publish(shop);
    await eventually(async () => expect((await directory.project(ref)).outcome).toBe("found"));
    expect(directory.synced()).toBe(false);
    expect(await directory.project({ namespace: "default", name: "nope" })).toEqual({ outcome: "unavailable" });
    expect(directory.host("nope.test")).toEqual({ outcome: "unavailable" });
    await publisher.complete();
    await eventually(() => expect(directory.synced()).toBe(true));
    expect(await directory.project({ namespace: "default", name: "nope" })).toEqual({ outcome: "unknown" });
    expect(directory.host("nope.test")).toEqual({ outcome: "unknown" });
  });

  it("follows a changed resource and keeps the compiled schemas of the others", async () => {
    const two = changed(shop, withResource("films"));
    await publishAll(two);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const before = await live(directory);
    await publisher.publish(changed(two, withResource("films", { maxObjects: 5 })));
    await eventually(async () => expect((await live(directory)).resources.get("films")?.config.maxObjects).toBe(5));
    const after = await live(directory);
    expect(after.resources.get("books")).toBe(before.resources.get("books"));
    expect(after.resources.get("films")?.revision).toBeGreaterThan(before.resources.get("films")?.revision ?? Infinity);
    expect(before.resources.get("films")?.config.maxObjects).toBe(1_000_000);
  });

  it("refuses a removed key, a removed user and a changed password as soon as it hears of them", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const project = await live(directory);
    expect((await directory.key(project, sha256Of(shop))).outcome).toBe("found");
    expect((await directory.user(project, "ann")).outcome).toBe("found");
    await publisher.publish(changed(shop, withoutKey("ci"), withUser("ann", { password: "other" })));
    await eventually(async () => expect(await directory.key(project, sha256Of(shop))).toEqual({ outcome: "unknown" }));
    const ann = await directory.user(project, "ann");
    expect(ann.outcome === "found" && ann.value.credentialRevision).not.toBe(shop.users.get("ann")?.credentialRevision);
    await publisher.publish(changed(shop, withoutUser("ann")));
    await eventually(async () => expect(await directory.user(project, "ann")).toEqual({ outcome: "unknown" }));
  });

  it("hears of a change whose hint was lost when it compares revisions", async () => {
    await publishAll(shop);
    const { directory } = await replica(comparing);
    await eventually(() => expect(directory.synced()).toBe(true));
    const project = await live(directory);
    await directory.key(project, sha256Of(shop));
    await publishWithoutHint({ redisClient, keyring }, changed(shop, withoutKey("ci"), withRootKey("more")));
    await eventually(async () => expect((await live(directory)).rootKeys.has("more")).toBe(true));
    expect(await directory.key(project, sha256Of(shop))).toEqual({ outcome: "unknown" });
  });

  it("hears of a change whose hint was lost although the next one came", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const project = await live(directory);
    expect((await directory.key(project, sha256Of(shop))).outcome).toBe("found");
    const unheard = changed(shop, withoutKey("ci"), withRootKey("more"));
    await publishWithoutHint({ redisClient, keyring }, unheard);
    await publisher.begin();
    await publisher.publish(changed(unheard, withKey("other")));
    await eventually(async () => expect((await live(directory)).rootKeys.has("more")).toBe(true));
    expect(await directory.key(project, sha256Of(shop))).toEqual({ outcome: "unknown" });
  });

  it("takes the revision of a resource that was changed and changed back while it did not look, and keeps its schema", async () => {
    await publishAll(shop);
    const { directory } = await replica(comparing);
    await eventually(() => expect(directory.synced()).toBe(true));
    const before = (await live(directory)).resources.get("books");
    const changedThere = changed(shop, withResource("books", { indexes: ["title"] }));
    await publishWithoutHint({ redisClient, keyring }, changedThere, shop, changedThere, shop);
    await eventually(async () => {
      const now = (await live(directory)).resources.get("books");
      expect(now?.revision).toBeGreaterThan(before?.revision ?? 0);
      expect(now?.schema).toBe(before?.schema);
    });
  });

  it("finds a project by its hosts, follows them, and forgets a withdrawn project", async () => {
    await publishAll(changed(shop, withHosts("a.test")));
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    expect((await directory.host("a.test")).outcome).toBe("found");
    await publisher.publish(changed(shop, withHosts("b.test")));
    await eventually(async () => expect((await directory.host("b.test")).outcome).toBe("found"));
    expect((await directory.host("a.test")).outcome).toBe("unknown");
    expect((await publisher.withdraw(ref)).changed).toBeGreaterThan(0);
    await eventually(async () => expect(await directory.project(ref)).toEqual({ outcome: "unknown" }));
    expect((await directory.host("b.test")).outcome).toBe("unknown");
  });

  it("does not say that nobody claims a host before it knows all projects", async () => {
    await publisher.publish(changed(shop, withHosts("a.test")));
    const { directory } = await replica();
    await eventually(async () => expect((await directory.host("a.test")).outcome).toBe("found"));
    expect((await directory.host("b.test")).outcome).toBe("unavailable");
    await publisher.complete();
    await eventually(async () => expect((await directory.host("b.test")).outcome).toBe("unknown"));
  });

  it("serves the successor of a project under the same name, and none of its predecessor's credentials", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const before = await live(directory);
    await directory.key(before, sha256Of(shop));
    await publisher.publish(changed(shop, withConfig({ uid: "second" }), withoutKey("ci"), withKey("cd")));
    await eventually(async () => expect((await live(directory)).config.uid).toBe("second"));
    const after = await live(directory);
    expect(await directory.key(after, sha256Of(shop))).toEqual({ outcome: "unknown" });
    expect(after.resources.has("books")).toBe(true);
  });

  it("goes on with the last good configuration when Redis is emptied, and takes the new one once it is there", async () => {
    await publishAll(shop, project("other"));
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    await live(directory);
    await redisClient.write(configKeys.meta, "FLUSHALL");
    const rebuilt = newPublisher({ redisClient, keyring });
    await rebuilt.begin();
    await rebuilt.publish(changed(shop, withRootKey("new")));
    await eventually(async () => expect((await live(directory)).rootKeys.has("new")).toBe(true));
    expect(directory.projects().map((each) => each.name)).toContain("other");
    await rebuilt.complete();
    await eventually(() => expect(directory.projects()).toEqual([ref]));
  });

  it("keeps serving while Redis is away, says unavailable where it would have to ask, and catches up", async () => {
    await publishAll(shop);
    const { directory } = await replica();
    await eventually(() => expect(directory.synced()).toBe(true));
    const project = await live(directory);
    await directory.key(project, sha256Of(shop));
    await redisClient.write(configKeys.meta, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    expect((await directory.project(ref)).outcome).toBe("found");
    expect((await directory.key(project, sha256Of(shop))).outcome).toBe("found");
    expect(["found", "unavailable"]).toContain((await directory.user(project, "ann")).outcome);
    await publisher.publish(changed(shop, withRootKey("later")));
    await eventually(async () => expect((await live(directory)).rootKeys.has("later")).toBe(true));
  });

  it("keeps the last good version of a field that was tampered with, and says so", async () => {
    await publishAll(shop);
    const { directory } = await replica({ name: "tampered" });
    await eventually(() => expect(directory.synced()).toBe(true));
    await live(directory);
    const other = changed(shop, withResource("books", { maxObjects: 1 }));
    await publisher.publish(other);
    await eventually(async () => expect((await live(directory)).resources.get("books")?.config.maxObjects).toBe(1));
    const key = projectConfigKey(ref);
    await redisClient.write(
      key,
      "HSET",
      key,
      "resource:books",
      `9999999999999999 ${"0".repeat(64)} not.a.sealed.value.x`,
    );
    await publisher.publish(changed(other, withRootKey("next")));
    await eventually(async () => expect((await live(directory)).rootKeys.has("next")).toBe(true));
    expect((await live(directory)).resources.get("books")?.config.maxObjects).toBe(1);
    await eventually(async () => {
      const [state] = (await liveReplicas(redisClient)).filter((each) => each.replica === "tampered");
      expect(state?.refusals).toEqual([
        { project: "default/shop", field: "resource:books", reason: expect.stringContaining("can't be opened") },
      ]);
    });
  });
});

describe("a publisher", () => {
  it("writes nothing when nothing changed", async () => {
    const first = await publisher.publish(shop);
    expect(first.changed).toBe(6);
    const again = await publisher.publish(shop);
    expect(again).toEqual({ changed: 0, revision: first.revision });
    const successor = newPublisher({ redisClient, keyring });
    await successor.begin();
    expect(await successor.publish(shop)).toEqual({ changed: 0, revision: first.revision });
  });

  it("writes one field for one changed user of many", async () => {
    const users = Array.from({ length: 450 }, (_, index) => withUser(`user-${index}`));
    const many = changed(shop, ...users);
    await publisher.publish(many);
    expect((await publisher.publish(changed(many, withUser("user-7", { access: "Read" })))).changed).toBe(1);
  });

  it("can't write once another has begun", async () => {
    await newPublisher({ redisClient, keyring }).begin();
    await expect(publisher.publish(shop)).rejects.toThrow(NotTheWriter);
    await expect(publisher.complete()).rejects.toThrow(NotTheWriter);
  });

  it("can't write into a Redis that was emptied under it, and publishes everything after it began anew", async () => {
    await publisher.publish(shop);
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await expect(publisher.publish(changed(shop, withRootKey("x")))).rejects.toThrow(NotTheWriter);
    await publisher.begin();
    expect((await publisher.publish(shop)).changed).toBe(6);
  });

  it("leaves nothing of a project that it withdrew", async () => {
    await publisher.publish(shop);
    await publisher.withdraw(ref);
    for (const key of [projectConfigKey(ref), credentialsKey(ref)])
      expect(await redisClient.read(key, "EXISTS", key)).toBe(0);
    expect(await redisClient.read(configKeys.projects, "HGETALL", configKeys.projects)).toEqual([]);
  });

  it("leaves no secret and no user name readable in Redis", async () => {
    // Three letters may well stand in a sealed text.
    const name = "somebody-of-a-long-name";
    await publisher.publish(changed(shop, withUser(name)));
    const stored = JSON.stringify([
      await redisClient.read(projectConfigKey(ref), "HGETALL", projectConfigKey(ref)),
      await redisClient.read(credentialsKey(ref), "HGETALL", credentialsKey(ref)),
      await redisClient.read(configKeys.changes, "XRANGE", configKeys.changes, "-", "+"),
    ]);
    for (const secret of [name, "argon2id", keyOf("ci"), shop.signing.keys[0]?.d ?? "", "Key of ci"]) {
      expect(stored).not.toContain(secret);
    }
  });

  it("learns which revision every live replica has, and forgets a replica that stopped", async () => {
    await publishAll(shop);
    const first = await replica({ name: "a" });
    await replica({ name: "b" });
    const { revision } = await publisher.publish(changed(shop, withRootKey("x")));
    await eventually(async () => {
      const states = await liveReplicas(redisClient);
      expect(states.map((state) => state.replica).toSorted()).toEqual(["a", "b"]);
      expect(states.every((state) => state.revision >= revision)).toBe(true);
    });
    open.splice(open.indexOf(first), 1);
    await first.close();
    expect((await liveReplicas(redisClient)).map((state) => state.replica)).toEqual(["b"]);
  });
});
