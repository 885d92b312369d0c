// How writes behave that read, decide and then set only while nothing changed: they try again for a while, with pauses that spread
// them, and then say that they lost.

import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../core/errors/problem.ts";

/** How long a write repeats its compare-and-set before it gives up. */
export const conflictBudgetMs = 2_000;

/** Spreads writers that meet at one place; 1 ms at first, some 30 ms after many rounds. */
export async function pause(attempt: number): Promise<void> {
  await sleep(Math.random() * Math.min(30, 2 ** Math.min(attempt, 5)));
}

export function writeConflict(what: "object" | "value"): Problem {
  return new Problem("write_conflict", `Too many other writes changed this ${what} at the same time; try again`, {
    headers: { "Retry-After": "1" },
  });
}
