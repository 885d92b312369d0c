// Clock, monotonic time and timers that stand still until a test moves them, all three together.

import type { Clock } from "../../../core/clock.ts";
import type { Monotonic, Timers } from "../../../core/timers.ts";

export interface ManualTime {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly timers: Timers;
  /**
   * Moves on to each timer that falls due, in order, and lets all that follows from it happen
   * before the next.
   */
  advance(milliseconds: number): Promise<void>;
  /**
   * Time passes and no timer fires, as in a process that is stopped; they do with the next
   * `advance`.
   */
  freeze(milliseconds: number): void;
  /** Sets the time of day only, as somebody does who corrects it. */
  adjustClock(milliseconds: number): void;
  /** Timers that wait. */
  waiting(): number;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export function manualTime(startMilliseconds = 1_760_000_000_000): ManualTime {
  let elapsed = 0;
  let adjusted = 0;
  const timers = new Set<Timer>();

  const firstUntil = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  };

  return {
    clock: { now: () => startMilliseconds + elapsed + adjusted, monotonic: () => elapsed },
    monotonic: () => elapsed,
    timers: {
      after(milliseconds, run) {
        const timer = { at: elapsed + Math.max(0, milliseconds), run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    async advance(milliseconds) {
      const until = elapsed + milliseconds;
      await settled();
      for (let timer = firstUntil(until); timer !== undefined; timer = firstUntil(until)) {
        elapsed = Math.max(elapsed, timer.at);
        timers.delete(timer);
        timer.run();
        await settled();
      }
      elapsed = until;
    },
    freeze(milliseconds) {
      elapsed += milliseconds;
    },
    adjustClock(milliseconds) {
      adjusted += milliseconds;
    },
    waiting: () => timers.size,
  };
}

/** Everything that waits for promises only has run; I/O has not. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
