// Lets the requests of one replica that read a value, decide and then set it take turns at that value, in the order of arrival: against
// each other all but one would have read for nothing, and with a large value none of the others came through. Refuses nothing but
// with 503 `write_conflict` who waited too long.

import { conflict } from "./contention.ts";

export interface WriteTurns {
  /** Carries out `work` when all work at this place that came before has ended. */
  take<T>(place: readonly string[], work: () => Promise<T>): Promise<T>;
}

/**
 * For one's turn, so that what stands in line is bounded in time too: each one before takes the budget of contention.ts at most. Until
 * then a request has its part of its own project's share; no other project's requests wait for it.
 */
export const longestTurnMs = 5_000;

export function createWriteTurns(now: () => number = () => performance.now()): WriteTurns {
  const last = new Map<string, Promise<void>>();
  return {
    async take(place, work) {
      const key = JSON.stringify(place);
      const before = last.get(key);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      last.set(key, ended);
      const since = now();
      try {
        if (before !== undefined) {
          await before;
          if (now() - since > longestTurnMs) throw conflict("value");
        }
        return await work();
      } finally {
        end();
        if (last.get(key) === ended) last.delete(key);
      }
    },
  };
}
