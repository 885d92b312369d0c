// Lets the requests of one replica that read a value, decide and then set it take turns at that value, in the order of arrival: against
// each other all but one would have read for nothing, and with a large value none of the others came through. Refuses nothing but
// with 503 `write_conflict` who waited too long.

import { createInOrder } from "../../core/in-order.ts";
import { conflict } from "../operation/contention.ts";

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
  const inOrder = createInOrder();
  return {
    take(place, work) {
      const since = now();
      return inOrder.take(JSON.stringify(place), async () => {
        if (now() - since > longestTurnMs) throw conflict("value");
        return work();
      });
    },
  };
}
