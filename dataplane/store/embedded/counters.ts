// Counters in memory: one process has the database and counts alone, and a sync of the disk for
// every counted request would cost more than the limit protects. A restart resets the counts. A
// window begins with the first spend.

import { createHash } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import type { Budget, Counters, SpendOutcome } from "../ports/limits.ts";

interface Window {
  spent: number;
  /** Milliseconds of the monotonic clock: setting the time of day locks nobody out or in. */
  readonly ends: number;
}

/** Ended windows are removed when as many were added as the last sweep left, and this many. */
const sweepAfter = 1_024;

export function createCounters(clock: Clock): Counters {
  const windows = new Map<string, Window>();
  let addedSinceSweep = 0;
  let leftBySweep = 0;

  function liveWindow({ name }: Budget): Window | undefined {
    const window = windows.get(hashed(name));
    if (window === undefined) return undefined;
    return window.ends > clock.monotonic() ? window : undefined;
  }

  function open({ name, windowSeconds }: Budget): Window {
    if (addedSinceSweep >= leftBySweep + sweepAfter) sweep();
    addedSinceSweep += 1;
    const window = { spent: 0, ends: clock.monotonic() + windowSeconds * 1_000 };
    windows.set(hashed(name), window);
    return window;
  }

  function sweep(): void {
    for (const [name, { ends }] of windows) if (ends <= clock.monotonic()) windows.delete(name);
    addedSinceSweep = 0;
    leftBySweep = windows.size;
  }

  /** Seconds until the budget has one to spend; 0 = now. */
  function waitOf(budget: Budget): number {
    const window = liveWindow(budget);
    if ((window?.spent ?? 0) < budget.limit) return 0;
    return window === undefined
      ? budget.windowSeconds
      : Math.max(1, Math.ceil((window.ends - clock.monotonic()) / 1_000));
  }

  return {
    async spend(budgets): Promise<SpendOutcome> {
      const wait = Math.max(0, ...budgets.map(waitOf));
      if (wait > 0) return { outcome: "exhausted", retryAfterSeconds: wait };
      for (const budget of budgets) {
        const window = liveWindow(budget) ?? open(budget);
        window.spent += 1;
      }
      return { outcome: "spent" };
    },

    async refund(budgets) {
      for (const budget of budgets) {
        const window = liveWindow(budget);
        if (window !== undefined && window.spent > 0) window.spent -= 1;
      }
    },
  };
}

/**
 * User names and addresses stay out of memory dumps; a long name costs no more than a short one.
 */
function hashed(name: string): string {
  return createHash("sha256").update(name).digest("base64");
}
