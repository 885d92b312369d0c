// The news of ended sessions when the quick way fails: connections cut, the stream lost, Redis
// away, Redis come back empty.

import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { revocations, sessionKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { monitorRedis } from "../support/redis/monitor-redis.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { offBy } from "../support/time/manual-clock.ts";
import { freshProject } from "./contract/fixture.ts";

const ample = { maxPerUser: 100, maxPerProject: 1_000 };

/** What a follower hears of, it hears of by a hint. */
const never = 3_600_000;
/** Without one, by reading the whole. */
const often = 300;
let redis: TestRedis;
let admin: Redis;
let proxy: TcpProxy;
let direct: Store;
let following: Store;
let made = 0;

beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  admin = new Redis({ port: redis.port, host: redis.host });
  admin.on("error", () => undefined);
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  proxy = await startTcpProxy(redis.port);
  direct = await openRedisStore({ url: redis.url });
  following = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}`, rereadMs: never });
});
afterEach(async () => {
  await Promise.all([direct.close(), following.close()]);
  await proxy.stop();
});

async function begin(project: ProjectRef): Promise<string> {
  made += 1;
  const created = Math.floor(Date.now() / 1000);
  const id = `session-${made}`;
  const session = { id, projectUid: "p", username: "al", credentialRevision: "r", created, lastRefresh: created };
  await direct.putSession(project, { ...session, expires: created + 72 * 3_600 }, ample);
  return id;
}

async function end(): Promise<string> {
  const project = freshProject();
  const id = await begin(project);
  expect(await direct.endSession(project, id, 300)).toBe(true);
  return id;
}

async function follow(): Promise<{ readonly ended: readonly string[]; stop(): Promise<void> }> {
  const ended: string[] = [];
  const { stop } = await following.followEndedSessions((id) => ended.push(id));
  return { ended, stop };
}

describe("a follower of ended sessions", () => {
  it("hears of those that ended while its connection was cut, and of each one once", async () => {
    const { ended, stop } = await follow();
    const first = await end();
    await eventually(() => expect(ended).toContain(first));
    proxy.drop("replies");
    const second = await end();
    proxy.cut();
    await eventually(() => expect(ended).toContain(second));
    const third = await end();
    await eventually(() => expect(ended).toContain(third));
    expect(ended.filter((id) => [first, second, third].includes(id))).toEqual([first, second, third]);
    await stop();
  });

  it("hears of one whose hint was lost by reading the sorted set again", async () => {
    const reading = await openRedisStore({ url: redis.url, rereadMs: often });
    const ended: string[] = [];
    await reading.followEndedSessions((id) => ended.push(id));
    await admin.zadd(revocations.set, Math.floor(Date.now() / 1000) + 300, "without a hint");
    await eventually(() => expect(ended).toContain("without a hint"));
    await reading.close();
  });

  it("hears of each of many thousands once, however many of them end in one second, and Redis skips none but those", async () => {
    const soon = Math.floor(Date.now() / 1000) + 300;
    const ids = Array.from({ length: 23_000 }, (_, n) => `many-${n}`);
    // One end each second, then thousands in one, then some in each.
    const scoreOf = (n: number) => soon + Math.min(n, 6_000) + Math.floor(Math.max(0, n - 18_000) / 10);
    await admin.zadd(revocations.set, ...ids.flatMap((id, n) => [scoreOf(n), id]));
    const skipped: number[] = [];
    const monitor = await monitorRedis(redis.port, ({ args }) => {
      if (args[0] === "ZRANGEBYSCORE") skipped.push(Number(args[6]));
    });
    const { ended, stop } = await follow();
    expect(ended.filter((id) => id.startsWith("many-")).toSorted()).toEqual(ids.toSorted());
    await eventually(() => expect(skipped.length).toBeGreaterThan(4));
    expect(Math.max(...skipped)).toBeLessThanOrEqual(12_000);
    monitor.stop();
    await stop();
    await admin.zrem(revocations.set, ...ids);
  });

  it("hears of all that stand, whatever the clocks of those say who ended them", async () => {
    const hour = 3_600_000;
    const early = await end();
    const ids: string[] = [early];
    for (const shift of [-hour, hour, 2 * hour]) {
      const clock = offBy(systemClock, shift);
      const shifted = await openRedisStore({ url: redis.url, clock });
      const project = freshProject();
      const id = await begin(project);
      expect(await shifted.endSession(project, id, 300)).toBe(true);
      ids.push(id);
      await shifted.close();
    }
    const { ended, stop } = await follow();
    expect(ended).toEqual(expect.arrayContaining(ids));
    await stop();
  });

  it("hears of one that a replica ended whose clock jumped ahead in the middle of it", async () => {
    const project = freshProject();
    const id = await begin(project);
    let readings = 0;
    const now = (): number => {
      readings += 1;
      return systemClock.now() + (readings > 1 ? 1_800_000 : 0);
    };
    const jumping = await openRedisStore({ url: redis.url, clock: { ...systemClock, now } });
    now();
    expect(await jumping.endSession(project, id, 300)).toBe(true);
    await jumping.close();
    const { ended, stop } = await follow();
    expect(ended).toContain(id);
    await stop();
  });

  it("goes on after the stream was lost", async () => {
    await end();
    const { ended, stop } = await follow();
    await admin.del(revocations.stream);
    const id = await end();
    await eventually(() => expect(ended).toContain(id));
    await stop();
  });

  it("goes on when Redis was away", async () => {
    const { ended, stop } = await follow();
    await redis.kill("SIGKILL");
    await redis.restart();
    await eventually(() => expect(direct.health().reachable).toBe(true));
    const id = await end();
    await eventually(() => expect(ended).toContain(id));
    await stop();
  });

  it("is told that there is nothing to hear from when Redis can't be reached at first", async () => {
    await proxy.stop();
    await expect(follow()).rejects.toBeInstanceOf(StoreUnavailable);
    proxy = await startTcpProxy(redis.port);
  });

  it("stops at once, though it waits for news or for Redis", async () => {
    const { stop } = await follow();
    await stop();
    const other = await follow();
    await proxy.stop();
    await other.stop();
    proxy = await startTcpProxy(redis.port);
  });
});

describe("a store that is closed", () => {
  it("leaves no connection of followers, ends calls under way first and refuses later ones", async () => {
    const store = await openRedisStore({ url: redis.url });
    const before = await connections();
    const ended: string[] = [];
    await store.followEndedSessions((id) => ended.push(id));
    expect(await connections()).toBe(before + 1);
    const writing = store.putSession(
      freshProject(),
      {
        id: "last",
        projectUid: "p",
        username: "al",
        credentialRevision: "r",
        created: 1,
        lastRefresh: 1,
        expires: 4e9,
      },
      ample,
    );
    const closing = store.close();
    await expect(store.count({ project: freshProject(), resource: "r" }, {})).rejects.toBeInstanceOf(StoreUnavailable);
    await Promise.all([writing, closing, store.close()]);
    expect(store.health()).toMatchObject({ reachable: false });
    await eventually(async () => expect(await connections()).toBe(before - 1));
  });

  async function connections(): Promise<number> {
    return String(await admin.client("LIST")).match(/ name=jsonplane/g)?.length ?? 0;
  }
});

describe("a follower's failed reading", () => {
  it("is reported, and tried again", async () => {
    const outcomes: string[] = [];
    const store = await openRedisStore({
      url: redis.url,
      clock: systemClock,
      rereadMs: often,
      observe: ({ operation, outcome }) => outcomes.push(`${operation} ${outcome}`),
    });
    const ended: string[] = [];
    await store.followEndedSessions((id) => ended.push(id));
    await admin.del(revocations.stream);
    await admin.set(revocations.stream, "foreign");
    await eventually(() => expect(outcomes).toContain("readEndedSessions error"));
    await admin.del(revocations.stream);
    const id = await end();
    await eventually(() => expect(ended).toContain(id));
    await store.close();
  });
});

describe("ending a session", () => {
  it("can be repeated after a crash between its two steps", async () => {
    const project = freshProject();
    const id = await begin(project);
    const { ended, stop } = await follow();
    // The first step alone: the news is out, the record is still there.
    await admin.zadd(revocations.set, 300, id);
    expect(await direct.endSession(project, id, 300)).toBe(true);
    await eventually(() => expect(ended).toContain(id));
    expect(await direct.session(project, id)).toBeUndefined();
    await stop();
  });

  it("is unknown, not without effect, when only its second step was refused", async () => {
    const project = freshProject();
    const id = await begin(project);
    const { ended, stop } = await follow();
    // The second step may not touch this project's keys.
    const key = sessionKeys(project).session(id);
    await admin.acl(
      "SETUSER",
      "half",
      "on",
      ">secret",
      "+@all",
      `%R~${key}`,
      `~${revocations.stream}*`,
      "~jp:{probe}*",
    );
    const half = await openRedisStore({ url: `redis://half:secret@127.0.0.1:${redis.port}` });
    await expect(half.endSession(project, id, 300)).rejects.toBeInstanceOf(OutcomeUnknown);
    await eventually(() => expect(ended).toContain(id));
    expect(await direct.endSession(project, id, 300)).toBe(true);
    await half.close();
    await stop();
  });
});
