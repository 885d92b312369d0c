import { describe, expect, it } from "vitest";
import { Backoff, backoffMs } from "../../../core/backoff.ts";

const policy = { firstMs: 100, maxMs: 1_000, jitter: 0.5 };
const none = (): number => 1;

describe("a backoff", () => {
  it("doubles with each failure, up to its limit", () => {
    const waits = [1, 2, 3, 4, 5, 2_000].map((failures) => backoffMs(policy, failures, none));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it("is shorter at random, by as much as its jitter allows", () => {
    expect([0, 0.5, 0.999].map((value) => backoffMs(policy, 1, () => value))).toEqual([50, 75, 99.95]);
  });

  it("begins again after a success", () => {
    const backoff = new Backoff(policy, none);
    expect([backoff.next(), backoff.next()]).toEqual([100, 200]);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  it("is what the server asks for, spread, and no more than its limit", () => {
    const backoff = new Backoff(policy, () => 0.5);
    expect([backoff.next(300), backoff.next(60_000)]).toEqual([350, 1_050]);
  });
});
