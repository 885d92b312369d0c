// How long writes that read first, and set only what nothing else changed since, try again.

import { backoffMs } from "../../core/backoff.ts";
import { pause, systemTimers } from "../../core/timers.ts";

/** How long a write repeats its compare-and-set before it gives up. */
export const conflictBudgetMs = 2_000;

const waits = { firstMs: 1, maxMs: 30, jitter: 1 };

/** At random, so that writers which met once don't meet again. */
export function pauseAfterConflict(attempt: number): Promise<void> {
  return pause(systemTimers, backoffMs(waits, attempt));
}
