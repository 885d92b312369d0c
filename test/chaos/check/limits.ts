// Checks what limits let through: never more than the burst and what the rate adds in any span of
// time, over all replicas; and nobody who asks on is refused for longer than the limit needs to
// have something again. While Redis refuses writes each replica keeps a rate by itself, and what
// has to be counted is let through by none.

import { type Entry, grouped, type Limited, only, type Refusing, type Span } from "../history.ts";
import { type CheckResult, joined } from "./check-result.ts";

/**
 * Milliseconds without anything let through beyond what the rate needs, while somebody asks on: the
 * limit has locked him out.
 */
const lockedOut = 3_000;
/**
 * Milliseconds around a time in which Redis refuses writes: what was asked within may have been
 * answered, or counted, outside of it.
 */
const aroundRefusals = 300;

export function checkLimits(entries: readonly Entry[], slack: number): CheckResult {
  const answers = grouped(only(entries, "limited"), ({ limit }) => limit);
  const refusing = only(entries, "refusing");
  const around = aroundRefusals * slack;
  const wider = refusing.map((span) => ({ ...span, from: span.from - around, to: span.to + around }));
  return joined(
    [...answers].map(([, all]) => ({
      violations: [...tooMany(all, wider), ...uncounted(all, refusing), ...tooFew(all, slack), ...tooLong(all)],
    })),
  );
}

/**
 * What may be let through in addition to what all replicas share: of each of them a burst and its
 * rate.
 */
function apart({ uncounted, burst, perSecond }: Limited, refusing: readonly Refusing[], span: Span): number {
  if (uncounted === "nothing") return 0;
  return refusing.reduce((sum, { replicas, from, to }) => {
    const overlap = Math.min(span.to, to) - Math.max(span.from, from);
    return overlap <= 0 ? sum : sum + replicas * (burst + Math.ceil((perSecond * overlap) / 1_000));
  }, 0);
}

/** Counted by nobody, and let through. */
function uncounted(all: readonly Limited[], refusing: readonly Refusing[]): readonly string[] {
  const found = all.find(
    ({ uncounted, passed, from, to }) =>
      uncounted === "nothing" && passed && refusing.some((span) => from > span.from && to < span.to),
  );
  return found === undefined
    ? []
    : [`${found.limit} let one through at ${Math.round(found.from)}, when nothing could be counted`];
}

function tooMany(all: readonly Limited[], refusing: readonly Refusing[]): readonly string[] {
  const passed = all.filter((each) => each.passed).sort((one, other) => one.from - other.from);
  for (const [at, first] of passed.entries()) {
    for (const [after, last] of passed.slice(at).entries()) {
      const seconds = (last.to - first.from) / 1_000;
      const shared = first.burst + Math.ceil(first.perSecond * seconds);
      if (after + 1 <= shared) continue;
      const most = shared + apart(first, refusing, { from: first.from, to: last.to });
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
  const excessive = all.find(({ perSecond, retryAfter }) => perSecond > 0 && retryAfter > Math.ceil(1 / perSecond) + 1);
  return excessive === undefined
    ? []
    : [`${excessive.limit} said to wait ${excessive.retryAfter} s at ${Math.round(excessive.from)}`];
}
