// The promises of TokenBuckets: token buckets that all replicas share, full at first, filling at a
// steady rate.

import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TokenBucket } from "../../../dataplane/store/ports/limits.ts";
import { type MakeStore, pass, twoReplicas, useStore } from "./fixture.ts";

function bucket(perSecond: number, burst: number): TokenBucket {
  return { name: `rate:ns/shop:${randomUUID()} "é"`, perSecond, burst };
}

export function describeBucketStore(name: string, make: MakeStore): void {
  describe(`${name}: token buckets`, () => {
    const subject = useStore(make);

    it("is full at first, and gives what there is, over all replicas", async () => {
      const [one, other] = await twoReplicas(subject());
      // So slow that nothing is added while the test runs.
      const slow = bucket(1 / 600, 5);
      expect(await one.drawTokens(slow, 2)).toEqual({ taken: 2, left: 3, waitMs: 0 });
      expect((await other.drawTokens(slow, 9)).taken).toBe(3);
      const empty = await one.drawTokens(slow, 1);
      expect([empty.taken, empty.left]).toEqual([0, 0]);
      expect(empty.waitMs).toBeGreaterThan(0);
      expect(empty.waitMs).toBeLessThanOrEqual(600_000);
    });

    it("never gives more than it holds to many who draw at once", async () => {
      const [one, other] = await twoReplicas(subject());
      const all = bucket(1 / 600, 50);
      const draws = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? one : other).drawTokens(all, 1 + (at % 3)));
      const taken = (await Promise.all(draws)).reduce((sum, draw) => sum + draw.taken, 0);
      expect(taken).toBe(50);
    });

    it("fills by its rate, and no further than its size", async () => {
      const { store } = subject();
      const quick = bucket(10, 4);
      await store.drawTokens(quick, 4);
      await pass(subject(), 250);
      const some = (await store.drawTokens(quick, 4)).taken;
      expect(some).toBeGreaterThanOrEqual(2);
      await pass(subject(), 1_500);
      expect((await store.drawTokens(quick, 100)).taken).toBe(4);
    });

    for (const off of [1_500, 301_000, -301_000]) {
      it(`fills by one time for all, also when the time of day of who draws is off by ${off / 1_000} s`, async () => {
        const quick = bucket(10, 10);
        const before = performance.now();
        let taken = 0;
        for (let n = 0; n < 60; n += 1) {
          const store = await subject().offBy(n % 2 === 0 ? 0 : off);
          taken += (await store.drawTokens(quick, 1)).taken;
        }
        // What was in it, and what the rate gave meanwhile.
        const seconds = (performance.now() - before) / 1_000;
        expect(taken).toBeLessThanOrEqual(10 + Math.ceil(10 * seconds));
        await subject().offBy(0);
      });
    }

    it("keeps nobody waiting for a time of day that was set ahead and back", async () => {
      const slow = bucket(1 / 60, 20);
      await (await subject().offBy(600_000)).drawTokens(slow, 19);
      const store = await subject().offBy(0);
      expect((await store.drawTokens(slow, 1)).taken).toBe(1);
      const { taken, waitMs } = await store.drawTokens(slow, 1);
      expect(taken).toBe(0);
      expect(waitMs).toBeLessThanOrEqual(60_000);
      await pass(subject(), 50);
      expect((await store.drawTokens(slow, 1)).waitMs).toBeLessThan(60_000);
    });

    it("says how long to wait: then there is one", async () => {
      const { store } = subject();
      const slow = bucket(4, 1);
      await store.drawTokens(slow, 1);
      const { waitMs } = await store.drawTokens(slow, 1);
      await pass(subject(), waitMs);
      expect((await store.drawTokens(slow, 1)).taken).toBe(1);
    });

    it("counts each name by itself", async () => {
      const { store } = subject();
      const [one, other] = [bucket(1, 1), bucket(1, 1)];
      expect((await store.drawTokens(one, 1)).taken).toBe(1);
      expect((await store.drawTokens(other, 1)).taken).toBe(1);
    });

    it("goes on with what is left when its rate and size change", async () => {
      const { store } = subject();
      const before = bucket(1 / 600, 10);
      await store.drawTokens(before, 2);
      expect((await store.drawTokens({ ...before, burst: 5 }, 9)).taken).toBe(5);
      expect((await store.drawTokens({ ...before, burst: 100 }, 9)).taken).toBe(0);
    });
  });
}
