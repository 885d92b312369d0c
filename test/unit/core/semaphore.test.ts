import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSemaphore, type SemaphoreState } from "../../../core/semaphore.ts";

class Full extends Error {}

describe("turns at a semaphore", () => {
  it("are given in order of arrival, so many at once, and refused beyond the waiting room", async () => {
    const states: SemaphoreState[] = [];
    const semaphore = createSemaphore({
      concurrency: 1,
      maxWaiting: 2,
      refusal: () => new Full(),
      observe: (state) => states.push(state),
    });
    const order: string[] = [];
    await semaphore.acquire("shop");
    const waiting = ["first", "second"].map((name) => semaphore.acquire("shop").then(() => order.push(name)));
    await expect(semaphore.acquire("shop")).rejects.toThrow(Full);
    expect(states.at(-1)).toEqual({ running: 1, waiting: 2 });
    semaphore.release();
    await turnOfTheLoop();
    expect(order).toEqual(["first"]);
    semaphore.release();
    await Promise.all(waiting);
    expect(order).toEqual(["first", "second"]);
    semaphore.release();
    expect(states.at(-1)).toEqual({ running: 0, waiting: 0 });
  });

  it("go round the keys that wait, whoever came first", async () => {
    const semaphore = createSemaphore({ concurrency: 1, maxWaiting: 10, refusal: () => new Full() });
    const order: string[] = [];
    await semaphore.acquire("loud");
    const waiting = ["loud", "loud", "loud", "quiet"].map((key) => semaphore.acquire(key).then(() => order.push(key)));
    for (const _ of waiting) {
      semaphore.release();
      await turnOfTheLoop();
    }
    expect(order).toEqual(["loud", "quiet", "loud", "loud"]);
  });

  it("are taken from the longest line when the waiting room is full, so that nobody fills it for others", async () => {
    const semaphore = createSemaphore({ concurrency: 1, maxWaiting: 3, refusal: () => new Full() });
    await semaphore.acquire("loud");
    const loud = ["first", "second", "third"].map((name) => semaphore.acquire("loud").then(() => name));
    const last = expect(loud[2]).rejects.toThrow(Full);
    const quiet = semaphore.acquire("quiet").then(() => "quiet");
    await last;
    // One each more or less is no reason to send anybody away.
    const another = semaphore.acquire("other").then(() => "other");
    await expect(loud[1]).rejects.toThrow(Full);
    await expect(semaphore.acquire("quiet")).rejects.toThrow(Full);
    for (let turn = 0; turn < 3; turn += 1) semaphore.release();
    expect(await Promise.all([loud[0], quiet, another])).toEqual(["first", "quiet", "other"]);
    semaphore.release();
    await semaphore.acquire("loud");
    await expect(Promise.race([semaphore.acquire("loud"), turnOfTheLoop("waits")])).resolves.toBe("waits");
  });
});
