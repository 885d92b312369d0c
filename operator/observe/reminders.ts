// Whether something that goes on is to be logged: immediately, and then once a minute until it is over, however often it is met.

import type { Monotonic } from "../../core/timers.ts";

export interface Reminders {
  /** True where `what` was not logged within the last minute; it counts as logged then. */
  isDue(what: string): boolean;
  /** The next time is news again. */
  over(what: string): void;
}

const againMs = 60_000;

export function createReminders(monotonic: Monotonic): Reminders {
  const remindedAt = new Map<string, number>();
  return {
    isDue(what) {
      const before = remindedAt.get(what);
      if (before !== undefined && monotonic() - before < againMs) return false;
      remindedAt.set(what, monotonic());
      return true;
    },
    over: (what) => void remindedAt.delete(what),
  };
}
