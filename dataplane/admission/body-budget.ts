// Bounds how many bytes of large bodies may be in memory, over all requests: those that arrive, and those whose write waits or is
// under way. One project has half of it at most. Refuses a body that would pass it with `body_busy`; small ones are always taken.

import { Problem } from "../../core/errors/problem.ts";

export interface BodyBudgets {
  of(project: object): BodyBudget;
}

export interface BodyBudget {
  /** Counts bytes that arrived, `length` being all of their body so far. Throws Problem `body_busy`; they count until released. */
  take(bytes: number, length: number): void;
  release(bytes: number): void;
}

const smallLength = 64 * 1024;
export const maxHeldBytes = 48 * 1024 * 1024;

export function createBodyBudgets(limit = maxHeldBytes): BodyBudgets {
  const budgets = new WeakMap<object, BodyBudget>();
  let heldByAll = 0;
  const budget = (): BodyBudget => {
    let held = 0;
    return {
      take(bytes, length) {
        held += bytes;
        heldByAll += bytes;
        if ((held <= limit / 2 && heldByAll <= limit) || length <= smallLength) return;
        throw new Problem("body_busy", "Too many large bodies at once; try again", {
          headers: { "Retry-After": "2" },
        });
      },
      release(bytes) {
        held -= bytes;
        heldByAll -= bytes;
      },
    };
  };
  return {
    of(project) {
      const known = budgets.get(project);
      if (known !== undefined) return known;
      const made = budget();
      budgets.set(project, made);
      return made;
    },
  };
}
