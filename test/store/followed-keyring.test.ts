// A replica whose key ring changes while it serves, on a real Redis: whatever comes first, the new
// key in its file or values sealed with it, it never serves less than before.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { acknowledgementKey } from "../../core/config/config-keys.ts";
import { type Keyring, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { textOf } from "../../core/redis/reply.ts";
import type { LiveProject } from "../../dataplane/config/directory.ts";
import { type FollowedKeyring, followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { changed, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

/** Nothing happens because it is time for it. */
const never = 3_600_000;
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"), withRootKey("flags"));

type RingText = { readonly names: string; readonly keys: readonly unknown[] };
const former = JSON.parse(newKeyringText()) as RingText;
const [newKey] = (JSON.parse(newKeyringText()) as RingText).keys;
const appended = JSON.stringify({ ...former, keys: [...former.keys, newKey] });
const promoted = parseKeyring(JSON.stringify({ ...former, keys: [newKey, ...former.keys] }));
const alone = JSON.stringify({ ...former, keys: [newKey] });

let redis: TestRedis;
let redisClient: RedisClient;
let file: string;
let time: number;
let keyring: FollowedKeyring;
let config: FollowedConfig;
/** Fields, as they were told of. */
let refused: (readonly string[])[];

beforeEach(async () => {
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  file = JSON.stringify(former);
  time = 0;
  keyring = await followKeyring({
    read: async () => file,
    onRefused: (error) => expect.unreachable(String(error)),
    now: () => time,
    pollMs: never,
  });
  const publisher = await begun(parseKeyring(file));
  await publisher.publish(shop);
  await publisher.complete();
  const intervals = { rereadMs: never, heartbeatMs: never };
  refused = [];
  config = await openRedisDirectory({
    url: redis.url,
    keyring,
    clock: systemClock,
    replica: "r1",
    onRefusals: (refusals) => refused.push(refusals.map(({ field }) => field).toSorted()),
    ...intervals,
  });
  await eventually(() => expect(config.directory.synced()).toBe(true));
});
afterEach(async () => {
  keyring.stop();
  await config.close();
  redisClient.disconnect();
  await redis.stop();
});

const begun = (ring: Keyring): Promise<Publisher> => begunPublisher({ redisClient, keyring: ring });

/** The file is what `text` says, and time enough has passed for it to be looked at. */
async function ringFile(text: string): Promise<void> {
  file = text;
  time += 1_000;
  await keyring.reread();
}

async function live(): Promise<LiveProject> {
  const lookup = await config.directory.project(ref);
  if (lookup.outcome !== "found") throw new Error(`The project is ${lookup.outcome}`);
  return lookup.value;
}

async function nackedFields(): Promise<readonly string[]> {
  const [state] = await liveReplicas(redisClient);
  return (state?.refusals ?? []).map(({ field }) => field);
}

async function acknowledgedKids(): Promise<readonly string[]> {
  const key = acknowledgementKey("r1");
  return JSON.parse(textOf(await redisClient.read(key, "HGET", key, "kids"))) as readonly string[];
}

async function served(): Promise<Readonly<Record<string, unknown>>> {
  const project = await live();
  return {
    resources: [...project.resources.keys()].toSorted(),
    ann: (await config.directory.user(project, "ann")).outcome,
    bob: (await config.directory.user(project, "bob")).outcome,
  };
}

describe("a replica that lacks the key of what is published", () => {
  const grown = changed(shop, withResource("films"), withUser("bob"));

  it("goes on with what it had, says so, and takes the new when the key comes", async () => {
    expect(await served()).toEqual({ resources: ["books"], ann: "found", bob: "unknown" });
    const publisher = await begun(promoted);
    await publisher.publish(grown);
    await eventually(async () => expect(await nackedFields()).toEqual(["resource:films"]));
    expect(await served()).toEqual({ resources: ["books"], ann: "found", bob: "unavailable" });

    await ringFile(appended);
    await eventually(async () =>
      expect(await served()).toEqual({ resources: ["books", "films"], ann: "found", bob: "found" }),
    );
    await eventually(async () => expect(await nackedFields()).toEqual([]));
  });

  it("looks at its file at once", async () => {
    await live();
    file = appended;
    time += 1_000;
    const publisher = await begun(promoted);
    await publisher.publish(grown);
    await eventually(async () =>
      expect(await served()).toEqual({ resources: ["books", "films"], ann: "found", bob: "found" }),
    );
  });

  it("answers that it can't know, while it has never loaded the project, says so, and serves it when the key comes", async () => {
    const publisher = await begun(promoted);
    const other = project("other", withKey("ci"));
    await publisher.publish(other);
    const otherRef = { namespace: "default", name: "other" };
    await eventually(async () => expect((await config.directory.project(otherRef)).outcome).toBe("unavailable"));
    await eventually(async () => expect((await nackedFields()).toSorted()).toEqual(["project", "signing"]));
    expect((await config.directory.project(otherRef)).outcome).toBe("unavailable");
    expect(refused).toEqual([["project", "signing"]]);
    expect(config.directory.loaded()).toEqual([]);
    await ringFile(appended);
    await eventually(async () => expect((await config.directory.project(otherRef)).outcome).toBe("found"));
    await eventually(async () => expect(await nackedFields()).toEqual([]));
  });
});

describe("a replica that has the key before anything is sealed with it", () => {
  it("says which keys it has, at once when its ring has changed", async () => {
    const kids = (text: string) => parseKeyring(text).keys.map(({ kid }) => kid);
    await eventually(async () => expect(await acknowledgedKids()).toEqual(kids(JSON.stringify(former))));
    await ringFile(appended);
    await eventually(async () => expect(await acknowledgedKids()).toEqual(kids(appended)));
  });

  it("takes what is sealed with it without a word, and does without the former keys afterwards", async () => {
    await ringFile(appended);
    const publisher = await begun(promoted);
    // Every field is another, so that nothing is left that the former key sealed.
    const anew = project("shop", withUser("bob"), withKey("cd"), withResource("films"));
    await publisher.publish({ ...anew, project: { ...anew.project, uid: "another" } });
    await eventually(async () =>
      expect(await served()).toEqual({ resources: ["films"], ann: "unknown", bob: "found" }),
    );
    await ringFile(alone);
    const fresh = await openRedisDirectory({ url: redis.url, keyring, clock: systemClock, replica: "r2" });
    await eventually(async () => expect((await fresh.directory.project(ref)).outcome).toBe("found"));
    await fresh.close();
    expect(await nackedFields()).toEqual([]);
  });
});
