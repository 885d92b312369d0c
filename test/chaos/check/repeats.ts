// Checks repetitions of POSTs with an Idempotency-Key: one of what was acknowledged hears the first
// answer, and is said to be one; one of what was refused is new. That each took place once is seen
// where objects and lists are checked.

import { type Entry, isWithin, only, type Repeat } from "../history.ts";
import type { CheckResult } from "./check-result.ts";

export function checkRepeats(entries: readonly Entry[]): Partial<CheckResult> {
  const losses = only(entries, "loss");
  const judgeable = only(entries, "repeat").filter(
    ({ acknowledged }) => acknowledged === undefined || !isWithin(losses, acknowledged),
  );
  return {
    violations: judgeable.flatMap((repeat) => {
      const fault = faultOf(repeat);
      return fault === undefined ? [] : [`POST ${repeat.request}, repeated at ${Math.round(repeat.from)}, ${fault}`];
    }),
  };
}

function faultOf({ before, replayed, same }: Repeat): string | undefined {
  if (before === "refused" && replayed) return "had taken place, though it was refused";
  if (before === "done" && !replayed) return "was carried out anew, though it was acknowledged";
  return same === false ? "heard another answer than at first" : undefined;
}
