// A clock that stands still until a test moves it.

import type { Clock } from "../../../core/clock.ts";

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

export function manualClock(startMilliseconds = 1_760_000_000_000): ManualClock {
  let time = startMilliseconds;
  return {
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}
