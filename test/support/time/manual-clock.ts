// A clock that stands still until a test moves it.

import type { Clock } from "../../../core/clock.ts";

export interface ManualClock extends Clock {
  /** Lets time pass. */
  advance(milliseconds: number): void;
  /** Sets the time of day only, as a correction of the machine's clock does. */
  adjust(milliseconds: number): void;
}

export function manualClock(startMilliseconds = 1_760_000_000_000): ManualClock {
  let elapsed = 0;
  let adjusted = 0;
  return {
    now: () => startMilliseconds + elapsed + adjusted,
    monotonic: () => elapsed,
    advance(milliseconds) {
      elapsed += milliseconds;
    },
    adjust(milliseconds) {
      adjusted += milliseconds;
    },
  };
}

/** The same clock on a machine whose time of day is off by so many milliseconds. */
export function offBy(clock: Clock, milliseconds: number): Clock {
  return { now: () => clock.now() + milliseconds, monotonic: () => clock.monotonic() };
}
