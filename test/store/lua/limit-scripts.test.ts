// The scripts that keep budgets and token buckets: what each one answers, and every key that it
// leaves. They go by Redis' own time, so what another time would have left is written behind their
// back.

import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { bucketKey } from "../../../dataplane/store/redis/keys.ts";
import { createBuckets, createCounters } from "../../../dataplane/store/redis/limits/limits.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const bench = useScriptBench();

async function redisNow(): Promise<number> {
  const [seconds = 0, microseconds = 0] = await bench.client.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

describe("spend-budgets and refund-budgets", () => {
  const login = (limit: number, windowSeconds: number, who = "1") => ({
    name: `login:ns/shop:${who}`,
    limit,
    windowSeconds,
  });
  const onlyKey = async (): Promise<string> => (await bench.client.keys("*"))[0] ?? "";

  it("keep nothing for longer than the window, and no name", async () => {
    const counters = createCounters(bench.redisClient);
    await counters.spend([login(2, 30, "alice@192.0.2.1")]);
    const key = await onlyKey();
    expect(key).toMatch(/^jp:\{budget\/[0-9a-f]{16}\}:[0-9a-f]{64}$/);
    expect(await bench.client.pttl(key)).toBeLessThanOrEqual(30_000);
    expect(await bench.client.hkeys(key)).toEqual(["used", "until"]);
  });

  it("give back what was spent in one project when another's budget is exhausted", async () => {
    const counters = createCounters(bench.redisClient);
    const [one, other] = [login(1, 60), { name: "login:ns/blog:1", limit: 0, windowSeconds: 60 }];
    expect(await counters.spend([one, other])).toMatchObject({ outcome: "exhausted" });
    expect(await counters.spend([one])).toEqual({ outcome: "spent" });
    expect(await counters.spend([one])).toMatchObject({ outcome: "exhausted" });
  });

  it("lock nobody out for longer than a window when Redis' clock was put back", async () => {
    const counters = createCounters(bench.redisClient);
    await counters.spend([login(1, 60)]);
    expect(await counters.spend([login(1, 60)])).toMatchObject({ outcome: "exhausted" });
    await bench.client.hset(await onlyKey(), "until", (await redisNow()) + 3_660_000);
    expect(await counters.spend([login(1, 60)])).toEqual({ outcome: "spent" });
    expect(await counters.spend([login(1, 60)])).toMatchObject({ outcome: "exhausted" });
  });
});

describe("draw-tokens", () => {
  const slow = { name: "rate:ns/shop", perSecond: 1 / 60, burst: 20 };
  const key = bucketKey(hash("sha256", slow.name));
  const buckets = () => createBuckets(bench.redisClient);

  it("keeps what is left and when it was filled by Redis' time, until it would be full, and no name", async () => {
    const before = await redisNow();
    await buckets().drawTokens(slow, 5);
    const { tokens, at } = await bench.client.hgetall(key);
    expect(tokens).toBe("15.000000");
    expect(Number(at)).toBeGreaterThanOrEqual(before);
    expect(Number(at)).toBeLessThanOrEqual(await redisNow());
    expect(await bench.client.pttl(key)).toBeGreaterThan(1_190_000);
    expect(await bench.client.pttl(key)).toBeLessThanOrEqual(1_201_000);
  });

  it("fills by the time that passed since", async () => {
    await buckets().drawTokens(slow, 20);
    await bench.client.hset(key, "at", (await redisNow()) - 600_000);
    expect(await buckets().drawTokens(slow, 20)).toMatchObject({ taken: 10, left: 0 });
  });

  it("lets nobody wait for a clock that was put back", async () => {
    await buckets().drawTokens(slow, 20);
    await bench.client.hset(key, "at", (await redisNow()) + 900_000);
    expect(await buckets().drawTokens(slow, 1)).toMatchObject({ taken: 0 });
    expect(Number((await bench.client.hgetall(key)).at)).toBeLessThanOrEqual(await redisNow());
  });

  it("gives nothing for the differences of clocks of two servers before and after a failover", async () => {
    await buckets().drawTokens(slow, 20);
    const ahead = (await redisNow()) + 900;
    await bench.client.hset(key, "at", ahead);
    await buckets().drawTokens(slow, 1);
    expect(Number((await bench.client.hgetall(key)).at)).toBeGreaterThanOrEqual(ahead);
  });
});
