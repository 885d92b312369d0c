// Checks what replicas say of themselves: one that says that it is ready for seconds on end serves
// something, and one that says that it isn't doesn't serve everything. Between a fault and the
// moment that it is noticed, both may be wrong.

import { type Answered, type Entry, grouped, only, type Probe } from "../history.ts";
import { type CheckResult, joined } from "./check-result.ts";

/**
 * A server that stands still is left after two and a half seconds; then the next probe is a moment
 * away.
 */
const noticedMs = 4_000;
const enough = 5;
/** Refusals for want of what `/readyz` promises. */
const unserved: ReadonlySet<string | undefined> = new Set([
  "store_unavailable",
  "outcome_unknown",
  "project_unavailable",
]);

export function checkReadiness(entries: readonly Entry[], slack: number): CheckResult {
  const answers = grouped(only(entries, "answer"), ({ replica }) => replica);
  const probes = grouped(only(entries, "probe"), ({ replica }) => replica);
  return joined(
    [...probes].map(([replica, all]) => {
      const stretches = stretchesOf(all);
      return {
        violations: stretches.flatMap((stretch) => faultOf(stretch, answers.get(replica) ?? [], noticedMs * slack)),
      };
    }),
  );
}

interface Stretch {
  readonly replica: string;
  readonly ready: boolean;
  readonly from: number;
  readonly to: number;
}

/** Times during which every probe said the same. */
function stretchesOf(probes: readonly Probe[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const { replica, ready, at } of probes) {
    const last = stretches.at(-1);
    if (ready === undefined) stretches.push({ replica, ready: false, from: at, to: at });
    else if (last?.ready === ready) stretches[stretches.length - 1] = { ...last, to: at };
    else stretches.push({ replica, ready, from: at, to: at });
  }
  return stretches;
}

function faultOf(stretch: Stretch, answers: readonly Answered[], noticed: number): readonly string[] {
  const { replica, ready, from, to } = stretch;
  const asked = answers.filter((answer) => answer.from >= from && answer.to <= to && answer.status !== 0);
  for (let at = from; at + noticed <= to; at += 1_000) {
    const window = asked.filter((answer) => answer.from >= at && answer.to <= at + noticed);
    if (window.length < enough) continue;
    const served = window.filter(({ code }) => !unserved.has(code)).length;
    const during = `for ${noticed} ms from ${Math.round(at)}`;
    if (ready && served === 0) return [`${replica} said ready ${during} and refused all of ${window.length} requests`];
    if (!ready && served === window.length)
      return [`${replica} said unready ${during} and served all of ${window.length}`];
  }
  return [];
}
