import { expect, it } from "vitest";
import { SharedBucket } from "../../../../dataplane/admission/shared-bucket.ts";
import { createMemoryBuckets } from "../../../../dataplane/store/memory-buckets.ts";
import type { TokenBuckets } from "../../../../dataplane/store/ports/limits.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

interface Replica {
  readonly bucket: SharedBucket;
  /** Tokens asked of the store, draw by draw. */
  readonly draws: number[];
}

function replica(store: TokenBuckets, clock: ManualClock, perSecond: number, burst: number): Replica {
  const draws: number[] = [];
  const counted: TokenBuckets = {
    drawTokens(bucket, wanted) {
      draws.push(wanted);
      return store.drawTokens(bucket, wanted);
    },
  };
  const policy = { name: "project", bucket: { name: "rate:ns/shop", perSecond, burst } } as const;
  return { bucket: new SharedBucket(policy, counted, clock), draws };
}

const takeMany = async (bucket: SharedBucket, times: number): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: times }, () => bucket.take()));
  return answers.filter((wait) => wait === 0).length;
};

it("asks the store for one token at a time while requests are rare", async () => {
  const clock = manualClock();
  const { bucket, draws } = replica(createMemoryBuckets(clock), clock, 1_000, 1_000);
  for (let n = 0; n < 5; n += 1) {
    expect(await bucket.take()).toBe(0);
    clock.advance(200);
  }
  expect(draws).toEqual([1, 1, 1, 1, 1]);
});

it("draws growing portions for a busy caller, at most what the rate gives in 50 ms", async () => {
  const clock = manualClock();
  const { bucket, draws } = replica(createMemoryBuckets(clock), clock, 1_000, 10_000);
  for (let n = 0; n < 400; n += 1) expect(await bucket.take()).toBe(0);
  expect(Math.max(...draws)).toBe(50);
  expect(draws.length).toBeLessThan(20);
});

it("lets exactly the burst through when replicas are asked at once", async () => {
  const clock = manualClock();
  const store = createMemoryBuckets(clock);
  const [one, other] = [replica(store, clock, 100, 40), replica(store, clock, 100, 40)];
  const through = await Promise.all([takeMany(one.bucket, 100), takeMany(other.bucket, 100)]);
  expect((through[0] ?? 0) + (through[1] ?? 0)).toBe(40);
});

it("asks nobody while it knows that there is nothing, and again when there may be", async () => {
  const clock = manualClock();
  const { bucket, draws } = replica(createMemoryBuckets(clock), clock, 1, 1);
  expect(await bucket.take()).toBe(0);
  for (let n = 0; n < 100; n += 1) expect(await bucket.take()).toBe(1_000);
  expect(draws.length).toBe(1);
  clock.advance(1_000);
  expect(await bucket.take()).toBe(0);
});

it("forgets what it did not use for a second, and gives nobody more for it", async () => {
  const clock = manualClock();
  const store = createMemoryBuckets(clock);
  const { bucket } = replica(store, clock, 100, 100);
  for (let n = 0; n < 8; n += 1) await bucket.take();
  clock.advance(5_000);
  expect(await takeMany(bucket, 300)).toBe(100);
});

const hour = 3_600_000;

it("locks nobody out when the time of day was set ahead and back", async () => {
  const clock = manualClock();
  const { bucket } = replica(createMemoryBuckets(clock), clock, 1, 1);
  clock.adjust(hour);
  expect(await bucket.take()).toBe(0);
  expect(await bucket.take()).toBe(1_000);
  clock.adjust(-hour);
  expect(await bucket.take()).toBe(1_000);
  clock.advance(1_000);
  expect(await bucket.take()).toBe(0);
});

it("counts what may have been added since by time that passed, not by the time of day", async () => {
  const clock = manualClock();
  const { bucket } = replica(createMemoryBuckets(clock), clock, 1, 10);
  await takeMany(bucket, 10);
  clock.adjust(hour);
  expect(bucket.remaining()).toBe(0);
  clock.adjust(-2 * hour);
  clock.advance(3_000);
  expect(bucket.remaining()).toBe(3);
});

it("asks the store again a second later at the latest, however long it said that there will be nothing", async () => {
  const clock = manualClock();
  const { bucket, draws } = replica(createMemoryBuckets(clock), clock, 1 / 600, 1);
  await bucket.take();
  for (const waited of [0, 999]) {
    clock.advance(waited);
    expect(await bucket.take()).toBe(600_000 - waited);
  }
  expect(draws).toHaveLength(1);
  clock.advance(1);
  expect(await bucket.take()).toBe(599_000);
  expect(draws).toHaveLength(2);
});

it("takes a token back that another limit did not let through", async () => {
  const clock = manualClock();
  const { bucket } = replica(createMemoryBuckets(clock), clock, 1, 1);
  await bucket.take();
  bucket.refund();
  expect(await bucket.take()).toBe(0);
  expect(await bucket.take()).toBeGreaterThan(0);
});

it("takes one back as well after its portion would have been forgotten, and nothing else of that", async () => {
  const clock = manualClock();
  const { bucket } = replica(createMemoryBuckets(clock), clock, 1 / 600, 5);
  await takeMany(bucket, 3);
  bucket.refund();
  clock.advance(2_000);
  bucket.refund();
  expect(await takeMany(bucket, 5)).toBe(3);
});

it("asks the store again after it failed", async () => {
  const clock = manualClock();
  const store = createMemoryBuckets(clock);
  let away = true;
  const flaky: TokenBuckets = {
    drawTokens: (...args) => (away ? Promise.reject(new Error("away")) : store.drawTokens(...args)),
  };
  const { bucket } = replica(flaky, clock, 1, 1);
  await expect(bucket.take()).rejects.toThrow("away");
  away = false;
  expect(await bucket.take()).toBe(0);
});
