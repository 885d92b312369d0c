import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pause, systemTimers } from "../../../core/timers.ts";
import { manualTime } from "../../support/time/manual-time.ts";

describe("the system's timers", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("fire once, and not after they were stopped", () => {
    let fired = 0;
    const count = (): void => {
      fired += 1;
    };
    systemTimers.after(10, count);
    const stop = systemTimers.after(10, count);
    stop();
    vi.advanceTimersByTime(100);
    expect(fired).toBe(1);
    stop();
  });

  test("wait for months where Node's own would fire at once, and can be stopped on the way", () => {
    const days = 24 * 3_600_000;
    const fired: string[] = [];
    systemTimers.after(60 * days, () => fired.push("sixty"));
    const stop = systemTimers.after(61 * days, () => fired.push("stopped"));
    vi.advanceTimersByTime(60 * days - 1);
    expect(fired).toEqual([]);
    stop();
    vi.advanceTimersByTime(2 * days);
    expect(fired).toEqual(["sixty"]);
  });
});

test("the system's timers never fire before their time, fractions of a millisecond counted", async () => {
  const delays = Array.from({ length: 300 }, (_, n) => 1 + (n % 20) + n / 301);
  const missing = delays.map(
    (delay) =>
      new Promise<number>((resolve) => {
        const end = performance.now() + delay;
        systemTimers.after(delay, () => resolve(end - performance.now()));
      }),
  );
  expect((await Promise.all(missing)).filter((left) => left > 0)).toEqual([]);
});

describe("a pause", () => {
  test("ends after its time", async () => {
    const time = manualTime();
    let ended = false;
    void pause(time.timers, 100).then(() => {
      ended = true;
    });
    await time.advance(99);
    expect(ended).toBe(false);
    await time.advance(1);
    expect(ended).toBe(true);
  });

  test("is cut short by its signal, and leaves no timer", async () => {
    const time = manualTime();
    const stop = new AbortController();
    const paused = pause(time.timers, 100, stop.signal);
    stop.abort(new Error("enough"));
    await expect(paused).rejects.toThrow("enough");
    await expect(pause(time.timers, 100, stop.signal)).rejects.toThrow("enough");
    expect(time.waiting()).toBe(0);
  });
});
