// Work at one place is done in the order in which it came, and none waits for ever.

import { describe, expect, it } from "vitest";
import { createWriteLock, maxLockWaitMs } from "../../../../dataplane/operation/write-lock.ts";

describe("the lock of a value", () => {
  it("at one place come in the order of arrival, one at a time, whether work fails or not", async () => {
    const lock = createWriteLock();
    const seen: string[] = [];
    const work = (n: number) => async () => {
      seen.push(`begin ${n}`);
      await Promise.resolve();
      seen.push(`end ${n}`);
      if (n === 1) throw new Error("failed");
      return n;
    };
    const results = await Promise.allSettled([0, 1, 2].map((n) => lock.withLock("value", ["doc", "a"], work(n))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(seen).toEqual(["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]);
  });

  it("at other places do not wait", async () => {
    const lock = createWriteLock();
    const stuck = Promise.withResolvers<void>();
    const first = lock.withLock("value", ["doc", "a"], () => stuck.promise);
    expect(await lock.withLock("value", ["doc", "b"], async () => "done")).toBe("done");
    stuck.resolve();
    await first;
    expect(await lock.withLock("value", ["doc", "a"], async () => "done")).toBe("done");
  });

  it("that come too late are refused, and those behind them are not held up", async () => {
    let now = 0;
    const lock = createWriteLock(() => now);
    const stuck = Promise.withResolvers<void>();
    const first = lock.withLock("value", ["doc"], () => stuck.promise);
    const late = lock.withLock("value", ["doc"], async () => "done");
    now += maxLockWaitMs + 1;
    const last = lock.withLock("value", ["doc"], async () => "done");
    stuck.resolve();
    expect(await Promise.allSettled([first, late, last])).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "write_conflict" } },
      { status: "fulfilled", value: "done" },
    ]);
  });
});
