// What a write answers that lost against others until its time was up.

import { Problem } from "../../core/errors/problem.ts";

export function writeConflict(what: "object" | "value"): Problem {
  return new Problem("write_conflict", `Too many other writes changed this ${what} at the same time; try again`, {
    headers: { "Retry-After": "1" },
  });
}
