// Maps items by an asynchronous function, a limited number of them at a time. After every hundred
// items the event loop turns, so that thousands of items don't block it.

import { setImmediate } from "node:timers/promises";

/** Between two turns of the event loop: a few milliseconds of the work on Secrets or statuses. */
const itemsPerTurn = 100;

/**
 * The results, in the order of the items. After a rejection no further call is started, and it
 * rejects with the first failure once the calls under way have ended.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const failures: { readonly error: unknown }[] = [];
  // All workers share one iterator: each takes the next item that no other has taken.
  const left = items.entries();
  const turnAfter = createTurns();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        results[index] = await run(item);
      } catch (error) {
        failures.push({ error });
      }
      const turn = turnAfter();
      if (turn !== undefined) await turn;
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  const [failed] = failures;
  if (failed !== undefined) throw failed.error;
  return results;
}

/**
 * Called after each item: what every worker awaits before its next one, after each hundredth item.
 */
function createTurns(): () => Promise<void> | undefined {
  let mapped = 0;
  let turn: Promise<void> | undefined;
  return () => {
    mapped += 1;
    if (mapped % itemsPerTurn === 0) {
      turn = setImmediate().then(() => {
        turn = undefined;
      });
    }
    return turn;
  };
}
