// Following what others change in Redis: hints at once, the whole at the start, now and then, and
// after every interruption.

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { StreamFollower, type StreamFollowerOptions } from "../../core/redis/stream-follower.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const stream = "news";

let redis: TestRedis;
let proxy: TcpProxy;
let commands: RedisClient;
let seen: string[] = [];
const failures: unknown[] = [];
let stopping: (() => Promise<void>) | undefined;

beforeAll(async () => {
  redis = await startRedis();
  commands = await openRedisClient(redis.url);
});
afterAll(async () => {
  commands.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  await commands.write(stream, "FLUSHALL");
  proxy = await startTcpProxy(redis.port);
  seen = [];
  failures.length = 0;
});
afterEach(async () => {
  await stopping?.();
  stopping = undefined;
  await proxy.stop();
});

/** The whole is read again where a test says so. */
const never = 3_600_000;
const say = (word: string) => commands.write(stream, "XADD", stream, "*", "word", word);

async function follow(followed: Partial<StreamFollowerOptions> = {}): Promise<StreamFollower> {
  const waiting = await openRedisClient(`redis://127.0.0.1:${proxy.port}`, never + 20_000);
  const follower = new StreamFollower({
    commands,
    waiting,
    stream,
    resync: async (anew) => void seen.push(anew ? "anew" : "whole"),
    onHint: (fields) => void seen.push(fields.get("word") ?? ""),
    onFailure: (failure) => failures.push(failure),
    rereadMs: never,
    ...followed,
  });
  const running = follower.run();
  stopping = async () => {
    follower.stop();
    await running;
  };
  return follower;
}

it("reads the whole first, then hears each hint once and in order, and none of before", async () => {
  await say("early");
  await follow();
  await eventually(() => expect(seen).toEqual(["anew"]));
  for (const word of ["a", "b", "c"]) await say(word);
  await eventually(() => expect(seen).toEqual(["anew", "a", "b", "c"]));
});

it("misses nothing that is said while the whole is read", async () => {
  await follow({
    async resync() {
      if (seen.length === 0) await say("meanwhile");
      seen.push("whole");
    },
  });
  await eventually(() => expect(seen).toEqual(["whole", "meanwhile"]));
});

it("reads the whole again after a while, though hints come all the time", async () => {
  await follow({ rereadMs: 300 });
  await eventually(() => expect(seen).toEqual(["anew"]));
  const talking = setInterval(() => void say("x"), 20);
  try {
    await eventually(() => expect(seen).toContain("whole"));
  } finally {
    clearInterval(talking);
  }
  expect(seen.filter((word) => word === "anew")).toHaveLength(1);
});

it("reads the whole anew after its connection was cut", async () => {
  await follow();
  await eventually(() => expect(seen).toEqual(["anew"]));
  proxy.cut();
  await eventually(() => expect(seen.filter((word) => word === "anew").length).toBeGreaterThan(1));
  await say("a");
  await eventually(() => expect(seen).toContain("a"));
  expect(failures.length).toBeGreaterThan(0);
});

it("reads the whole anew when a hint could not be used, and tries a reading that failed again", async () => {
  let fails = 2;
  await follow({
    async resync(anew) {
      if (fails-- > 0) throw new Error("not yet");
      seen.push(anew ? "anew" : "whole");
    },
    onHint() {
      throw new Error("useless");
    },
  });
  await eventually(() => expect(seen).toEqual(["anew"]));
  await say("a");
  await eventually(() => expect(seen).toEqual(["anew", "anew"]));
  expect(failures.map((failure) => (failure as Error).message)).toEqual(["not yet", "not yet", "useless"]);
});

it("tells who begins it by hand that the first reading failed", async () => {
  const waiting = await openRedisClient(redis.url);
  const follower = new StreamFollower({
    commands,
    waiting,
    stream,
    resync: () => Promise.reject(new Error("no")),
    onHint: () => undefined,
  });
  await expect(follower.begin()).rejects.toThrow("no");
  follower.stop();
});
