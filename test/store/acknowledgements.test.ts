// What the operator knows of its replicas, on real Redis: some of them real, some whose heartbeats
// are written by hand.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { acknowledgementKey, configKeys, projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { systemTimers, type Timers } from "../../core/timers.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import {
  type Acknowledgements,
  createAcknowledgements,
  type LookObservation,
} from "../../operator/publish/acknowledgements.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, openRedisClient, writeHeartbeat } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { changed, project, withResource, withRootKey } from "../support/http/projects.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualTime } from "../support/time/manual-time.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withResource("books"));
const ref = { namespace: "default", name: "shop" };

/** The look that is due every second, whoever waits, comes much sooner. */
const oftenLooking: Timers = { ...systemTimers, after: (ms, run) => systemTimers.after(ms === 1_000 ? 50 : ms, run) };

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
let acknowledgements: Acknowledgements;
let changes = 0;
const opened: FollowedConfig[] = [];

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
  changes = 0;
  acknowledgements = createAcknowledgements({ redisClient, timers: systemTimers, onChange: () => (changes += 1) });
});
afterEach(async () => {
  acknowledgements.stop();
  for (const config of opened.splice(0)) await config.close();
});

async function replica(name: string): Promise<FollowedConfig> {
  const config = await openRedisDirectory({
    url: redis.url,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    replica: name,
  });
  opened.push(config);
  return config;
}

/** For tests that wait for looks and count none. */
function lookOften(): void {
  acknowledgements.stop();
  acknowledgements = createAcknowledgements({ redisClient, timers: oftenLooking });
}

const heartbeat = (name: string, revision: number, agoMs = 0) =>
  writeHeartbeat(redisClient, name, ["revision", revision, "refusals", "[]", "kids", "[]"], agoMs);

describe("indexes that are being built", () => {
  beforeEach(lookOften);

  it("are told of by every replica, together, until none builds them any more", async () => {
    await publisher.publish(shop);
    const [one, other] = [await replica("a"), await replica("b")];
    const building = (...indexes: readonly string[]) => [{ project: "default/shop", resource: "books", indexes }];
    let [ofOne, ofOther] = [building("title", "price"), building("price", "a,b")];
    one.reportBuilding(() => ofOne);
    other.reportBuilding(() => ofOther);
    await publisher.publish(changed(shop, withRootKey("first")));
    const builtIndexes = () => acknowledgements.buildingOf(ref).get("books");
    await eventually(() => expect(builtIndexes()).toEqual(["a,b", "price", "title"]));
    expect(acknowledgements.buildingOf({ namespace: "default", name: "other" }).size).toBe(0);
    [ofOne, ofOther] = [[], building("price")];
    await publisher.publish(changed(shop, withRootKey("flags")));
    await eventually(() => expect(builtIndexes()).toEqual(["price"]));
    ofOther = [];
    await publisher.publish(changed(shop, withRootKey("more")));
    await eventually(() => expect(builtIndexes()).toBeUndefined());
  });
});

describe("a revision", () => {
  it("is not waited for when there is no replica", async () => {
    const { revision } = await publisher.publish(shop);
    expect(await acknowledgements.awaitRollout(revision, 60_000)).toBe("no_replicas");
  });

  it("is programmed once the one replica has it", async () => {
    await publisher.publish(shop);
    await replica("a");
    await eventually(() => expect(acknowledgements.figures().live).toBe(1));
    const { revision } = await publisher.publish(changed(shop, withRootKey("x")));
    expect(await acknowledgements.awaitRollout(revision, 60_000)).toBe("programmed");
    expect(acknowledgements.rolloutOf(revision + 1)).toBe("waiting");
  });

  it("waits for the slower of two, and no longer once that one has stopped", async () => {
    const { revision } = await publisher.publish(shop);
    await replica("a");
    await heartbeat("b", revision - 1);
    await eventually(async () => expect(await acknowledgements.awaitRollout(revision, 0)).toBe("waiting"));
    await eventually(() => expect(acknowledgements.figures().live).toBe(2));
    const reached = acknowledgements.awaitRollout(revision, 60_000);
    await redisClient.write(configKeys.replicas, "ZREM", configKeys.replicas, "b");
    expect(await reached).toBe("programmed");
    const [config] = opened.splice(0);
    await config?.close();
    expect(await acknowledgements.awaitRollout(revision, 60_000)).toBe("no_replicas");
  });

  it("waits for a replica that died until its heartbeat is fifteen seconds old by Redis' clock", async () => {
    await heartbeat("dead", 1, 5_000);
    await heartbeat("alive", 9);
    expect(await acknowledgements.awaitRollout(9, 200)).toBe("waiting");
    await heartbeat("dead", 1, 14_500);
    expect(await acknowledgements.awaitRollout(9, 60_000)).toBe("programmed");
    expect(acknowledgements.figures().live).toBe(1);
    await heartbeat("dead", 1, 16_000);
    expect(await acknowledgements.awaitRollout(9, 60_000)).toBe("programmed");
  });

  it("is given up after the time that its caller has, or when the caller ends", async () => {
    await heartbeat("a", 1);
    const time = manualTime();
    const looking = createAcknowledgements({ redisClient, timers: time.timers });
    await eventually(() => expect(looking.figures().live).toBe(1));
    let reported: string | undefined;
    const reached = looking.awaitRollout(2, 400).then((rollout) => {
      reported = rollout;
    });
    await time.advance(399);
    expect(reported).toBeUndefined();
    await time.advance(1);
    await reached;
    expect(reported).toBe("waiting");
    const ending = new AbortController();
    const ended = looking.awaitRollout(2, 400, ending.signal);
    ending.abort();
    expect(await ended).toBe("waiting");
    expect(await looking.awaitRollout(2, 400, ending.signal)).toBe("waiting");
    // What is left is the look now and then.
    expect(time.waiting()).toBe(1);
    looking.stop();
    expect(time.waiting()).toBe(0);
  });
});

describe("what is available now", () => {
  const shop = { namespace: "default", name: "shop" };
  const now = () => [acknowledgements.liveness(), acknowledgements.availabilityOf(shop, 5)];

  it("follows replicas that come, lag, refuse and go", async () => {
    lookOften();
    await eventually(() => expect(now()).toEqual(["none", "no_replicas"]));
    await heartbeat("a", 4);
    await eventually(() => expect(now()).toEqual(["some", "behind"]));
    await heartbeat("b", 5);
    await eventually(() => expect(now()).toEqual(["some", "served"]));
    const refusal = { project: "default/shop", field: "project", reason: "unknown format" };
    for (const name of ["a", "b"]) {
      await redisClient.write(
        acknowledgementKey(name),
        "HSET",
        acknowledgementKey(name),
        "refusals",
        JSON.stringify([refusal]),
      );
    }
    await eventually(() => expect(now()).toEqual(["some", "refused"]));
    expect(acknowledgements.availabilityOf({ namespace: "default", name: "other" }, 5)).toBe("served");
    await redisClient.write(configKeys.replicas, "DEL", configKeys.replicas);
    await eventually(() => expect(now()).toEqual(["none", "no_replicas"]));
  });

  it("is not known before the first look, nor once the last look is older than a heartbeat may be, which is told once", async () => {
    const proxy = await startTcpProxy(redis.port);
    const through = await openRedisClient(`redis://127.0.0.1:${proxy.port}`, 60_000);
    await heartbeat("a", 5);
    const time = manualTime();
    const livenesses: string[] = [];
    const looking = createAcknowledgements({
      redisClient: through,
      timers: time.timers,
      monotonic: time.monotonic,
      onChange: () => void livenesses.push(looking.liveness()),
    });
    expect(looking.availabilityOf(shop, 5)).toBe("unknown");
    await eventually(() => expect(livenesses).toEqual(["some"]));
    await proxy.stop();
    await eventually(() => expect(through.ready()).toBe(false));
    for (let second = 1; second <= 20; second += 1) {
      await time.advance(1_000);
      // The look under way has to fail before the next one is due.
      await eventually(() => expect(time.waiting()).toBe(1));
      expect(looking.availabilityOf(shop, 5)).toBe(second > 15 ? "unknown" : "served");
    }
    expect(livenesses).toEqual(["some", "unknown"]);
    expect(looking.rolloutOf(5)).toBe("programmed");
    looking.stop();
    through.disconnect();
  });
});

describe("while Redis is away", () => {
  it("everything waits before the first look, and the last look stands after it", async () => {
    const proxy = await startTcpProxy(redis.port);
    const through = await openRedisClient(`redis://127.0.0.1:${proxy.port}`, 60_000);
    await heartbeat("a", 5);
    proxy.drop("replies");
    const looking = createAcknowledgements({ redisClient: through, timers: systemTimers });
    // In time, though Redis does not answer.
    expect(await looking.awaitRollout(5, 100)).toBe("waiting");
    expect(looking.figures()).toEqual({ live: 0, refusals: 0 });
    proxy.cut();
    await eventually(() => expect(looking.rolloutOf(5)).toBe("programmed"));
    await proxy.stop();
    await eventually(() => expect(through.ready()).toBe(false));
    expect(await looking.awaitRollout(5, 60_000)).toBe("programmed");
    expect(await looking.awaitRollout(6, 100)).toBe("waiting");
    looking.stop();
    through.disconnect();
  });
});

describe("what can't be read", () => {
  const look = (observed: LookObservation[]): Acknowledgements => {
    acknowledgements.stop();
    acknowledgements = createAcknowledgements({
      redisClient,
      timers: oftenLooking,
      observe: (observation) => void observed.push(observation),
    });
    return acknowledgements;
  };

  it.each([
    ["no JSON", "{"],
    ["no list", '{"a":1}'],
    ["a list of something else", "[7]"],
  ])("of one replica holds up no other, and is told: %s", async (_, text) => {
    await heartbeat("bad", 9);
    for (const field of ["refusals", "kids", "building"]) {
      await redisClient.write(configKeys.replicas, "HSET", acknowledgementKey("bad"), field, text);
    }
    await heartbeat("good", 1);
    const observed: LookObservation[] = [];
    const looking = look(observed);
    await eventually(() => expect(looking.figures()).toEqual({ live: 2, refusals: 0 }));
    expect(looking.rolloutOf(9)).toBe("waiting");
    await heartbeat("good", 9);
    await eventually(() => expect(looking.rolloutOf(9)).toBe("programmed"));
    expect(observed).toContainEqual({ kind: "unreadable", replica: "bad", fields: ["refusals", "kids", "building"] });
  });

  it("is waited for, where it is the revision", async () => {
    await heartbeat("bad", 9);
    await redisClient.write(configKeys.replicas, "HSET", acknowledgementKey("bad"), "revision", "nine");
    const observed: LookObservation[] = [];
    const looking = look(observed);
    await eventually(() =>
      expect(observed).toContainEqual({ kind: "unreadable", replica: "bad", fields: ["revision"] }),
    );
    expect(looking.rolloutOf(9)).toBe("waiting");
  });

  it("at all is told, and once it can be, that too", async () => {
    await redisClient.write(configKeys.meta, "SET", configKeys.replicas, "no sorted set");
    const observed: LookObservation[] = [];
    const looking = look(observed);
    await eventually(() => expect(observed).toContainEqual({ kind: "failed", error: expect.any(Error) }));
    expect(looking.rolloutOf(1)).toBe("waiting");
    await redisClient.write(configKeys.meta, "DEL", configKeys.replicas);
    await eventually(() => expect(observed.at(-1)).toEqual({ kind: "looked" }));
  });
});

describe("refusals", () => {
  beforeEach(lookOften);

  it("are told of by project and field, and taken back", async () => {
    await publisher.publish(shop);
    const { directory } = await replica("a");
    await eventually(async () => expect((await directory.project(ref)).outcome).toBe("found"));
    const key = projectConfigKey(ref);
    await redisClient.write(key, "HSET", key, "resource:books", `9999999999999999 ${"0".repeat(64)} not.sealed`);
    await publisher.publish(changed(shop, withRootKey("x")));
    await eventually(() =>
      expect(acknowledgements.refusalsOf(ref)).toEqual([
        { project: "default/shop", field: "resource:books", reason: expect.any(String) },
      ]),
    );
    expect(acknowledgements.refusalsOf({ namespace: "default", name: "other" })).toEqual([]);
    expect([...acknowledgements.refusedProjects()]).toEqual(["default/shop"]);
    expect(acknowledgements.figures()).toEqual({ live: 1, refusals: 1 });
    await (await begunPublisher({ redisClient, keyring })).publish(changed(shop, withRootKey("x")));
    await eventually(() => expect(acknowledgements.refusalsOf(ref)).toEqual([]));
  });
});

describe("a change", () => {
  it("is told once, and heartbeats that say the same are none", async () => {
    let looks = 0;
    acknowledgements.stop();
    acknowledgements = createAcknowledgements({
      redisClient,
      timers: oftenLooking,
      onChange: () => (changes += 1),
      observe: ({ kind }) => (looks += kind === "looked" ? 1 : 0),
    });
    /** The first one may have begun before. */
    const lookedAgain = async (): Promise<void> => {
      const since = looks;
      await eventually(() => expect(looks).toBeGreaterThan(since + 1));
    };
    await heartbeat("a", 5);
    await heartbeat("b", 5);
    await lookedAgain();
    const before = changes;
    await heartbeat("a", 5, 2_000);
    await lookedAgain();
    await heartbeat("b", 5, 4_000);
    await lookedAgain();
    expect(changes).toBe(before);
    await heartbeat("b", 6);
    await lookedAgain();
    expect(changes).toBe(before + 1);
    await redisClient.write(configKeys.replicas, "DEL", configKeys.replicas);
    await lookedAgain();
    expect(changes).toBe(before + 2);
  });

  it("is noticed although nobody waits, and not after the end", async () => {
    await heartbeat("a", 5);
    await eventually(() => expect(acknowledgements.rolloutOf(5)).toBe("programmed"));
    const before = changes;
    acknowledgements.stop();
    await heartbeat("a", 6);
    await acknowledgements.awaitRollout(6, 100);
    expect(changes).toBe(before);
  });
});
