// Judges what limits let through: never more than the burst and what the rate adds in any span of time, over all replicas; and nobody
// who asks on is refused for longer than the limit needs to have something again.

import { type Entry, grouped, type Limited, only } from "../history.ts";
import { type Findings, joined } from "./finding.ts";

/** Milliseconds without anything let through beyond what the rate needs, while somebody asks on: the limit has locked him out. */
const lockedOut = 3_000;

export function checkLimits(entries: readonly Entry[], slack: number): Findings {
  const answers = grouped(only(entries, "limited"), ({ limit }) => limit);
  return joined(
    [...answers].map(([, all]) => ({ violations: [...tooMany(all), ...tooFew(all, slack), ...tooLong(all)] })),
  );
}

function tooMany(all: readonly Limited[]): readonly string[] {
  const passed = all.filter((each) => each.passed).sort((one, other) => one.from - other.from);
  for (const [at, first] of passed.entries()) {
    for (const [after, last] of passed.slice(at).entries()) {
      const seconds = (last.to - first.from) / 1_000;
      const most = first.burst + Math.ceil(first.perSecond * seconds);
      if (after + 1 > most) {
        return [`${first.limit} let ${after + 1} through in ${seconds.toFixed(1)} s from ${Math.round(first.from)}`];
      }
    }
  }
  return [];
}

/** Only of limits that add something within a run. */
function tooFew(all: readonly Limited[], slack: number): readonly string[] {
  let last: Limited | undefined;
  let refused = 0;
  for (const each of all) {
    if (each.passed || last === undefined) {
      last = each.passed ? each : last;
      refused = 0;
      continue;
    }
    refused += 1;
    const since = each.from - last.to;
    // Many refusals: a replica that was away for a while answers nothing at all.
    if (each.perSecond > 0 && refused > 20 && since > (1_000 / each.perSecond + lockedOut) * slack) {
      return [`${each.limit} let nothing through for ${Math.round(since)} ms at ${Math.round(each.from)}`];
    }
  }
  return [];
}

function tooLong(all: readonly Limited[]): readonly string[] {
  const told = all.find(({ perSecond, retryAfter }) => perSecond > 0 && retryAfter > Math.ceil(1 / perSecond) + 1);
  return told === undefined ? [] : [`${told.limit} said to wait ${told.retryAfter} s at ${Math.round(told.from)}`];
}
