import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../../core/token-bucket.ts";

function bucketAt(rate = { perSecond: 10, burst: 5 }) {
  let now = 0;
  return {
    bucket: new TokenBucket(rate, () => now),
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe("a token bucket", () => {
  it("is full at first, gives what it has, and fills steadily up to its burst", () => {
    const { bucket, advance } = bucketAt();
    expect([bucket.take(3), bucket.take(3), bucket.take()]).toEqual([3, 2, 0]);
    expect([bucket.left, bucket.waitMs]).toEqual([0, 100]);
    advance(50);
    expect([bucket.take(), bucket.waitMs]).toEqual([0, 50]);
    advance(1_000_000);
    expect([bucket.take(100), bucket.left]).toEqual([5, 0]);
  });

  it("says how long to wait for a token that is reserved, up to a limit", () => {
    const { bucket, advance } = bucketAt();
    const waits = Array.from({ length: 9 }, () => bucket.reserve(300));
    expect(waits).toEqual([0, 0, 0, 0, 0, 100, 200, 300, 300]);
    expect(bucket.take()).toBe(0);
    advance(400);
    expect(bucket.reserve(300)).toBe(0);
  });

  it("keeps its tokens when the rate changes, up to the new burst", () => {
    const { bucket, advance } = bucketAt();
    bucket.take(5);
    advance(200);
    expect(bucket.take(5, { perSecond: 1, burst: 10 })).toBe(0);
    advance(3_000);
    expect(bucket.take(1, { perSecond: 1, burst: 2 })).toBe(1);
    expect(bucket.left).toBe(1);
  });
});
