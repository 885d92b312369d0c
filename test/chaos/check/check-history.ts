// All that must hold of a history, at its end and at any moment while it grows.

import { type Entry, isWithin, only } from "../history.ts";
import { checkAccess } from "./access.ts";
import { checkCells } from "./cells.ts";
import { type CheckResult, joined } from "./check-result.ts";
import { checkLimits } from "./limits.ts";
import { checkLists } from "./lists.ts";
import { checkReadiness } from "./readiness.ts";
import { checkRepeats } from "./repeats.ts";
import { checkSubscribers } from "./subscribers.ts";

/** `slack`: by how much every time limit is multiplied. */
export function checkHistory(entries: readonly Entry[], slack = 1): CheckResult {
  return joined([
    checkCells(entries),
    checkLists(entries),
    checkRepeats(entries),
    checkWalks(entries),
    checkAccess(entries, slack),
    checkReadiness(entries, slack),
    checkLimits(entries, slack),
    checkSubscribers(entries),
    checkUnexpected(entries),
  ]);
}

function checkUnexpected(entries: readonly Entry[]): Partial<CheckResult> {
  const losses = only(entries, "loss");
  const explained = (at: number | undefined): boolean => at !== undefined && isWithin(losses, at);
  const unexpected = only(entries, "unexpected").filter(({ unlessLost }) => !explained(unlessLost));
  return { violations: unexpected.map(({ at, what }) => `at ${Math.round(at)}: ${what}`) };
}

/**
 * Objects that nobody moved, in front of all that come and go, are found once each and in order.
 */
function checkWalks(entries: readonly Entry[]): Partial<CheckResult> {
  const wrong = only(entries, "walk").filter(({ expected, found }) => expected.some((id, at) => found[at] !== id));
  return {
    violations: wrong.map(({ order, expected, found, from }) => {
      const at = expected.findIndex((id, index) => found[index] !== id);
      const fault = found.indexOf(expected[at] ?? "") < 0 ? "skipped" : "moved or repeated";
      return `pages by ${order} at ${Math.round(from)}: the object at ${at} was ${fault}`;
    }),
  };
}
