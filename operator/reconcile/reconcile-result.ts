// Says when a Project is to be looked at again although nothing has changed, and which revision is
// waited for. Pure.

import type { RolloutState } from "../publish/acknowledgements.ts";
import type { ProjectOutcome } from "../status/outcomes.ts";
import type { Unreported } from "./served.ts";

export interface ReconcileResult {
  /** Milliseconds after which to look again although nothing has changed. */
  readonly requeueAfterMs?: number;
  /** The revision that replicas have not all acknowledged yet. */
  readonly awaited?: UnacknowledgedRevision;
  /** Something was missing that may only be unseen: the rest waits for a backoff. */
  readonly unconfirmed?: true;
  /** It was served, and no status says so yet. */
  readonly unreported?: Unreported;
}

/**
 * A revision that some live replica has not acknowledged, or for which there is no live replica.
 */
export interface UnacknowledgedRevision {
  readonly revision: number;
  /** How far it had come, as the status says. */
  readonly state: Exclude<RolloutState, "programmed">;
  /** Some live replica has acknowledged it already, as the status says. */
  readonly isServed: boolean;
}

const purgeRequeueMs = 500;
const refusedRequeueMs = 30_000;
/** Statuses say meanwhile which writes were refused: those come last then. */
const afterRefusalMs = 1_000;
const signingRingRequeueMs = 500;

export function resultOf(outcome: ProjectOutcome, now: number): ReconcileResult {
  const { publishResult, rollout } = outcome;
  const moments = momentsOf(outcome, now);
  const { state, availability } = rollout;
  return {
    ...earliest(moments),
    ...(state !== "programmed" && {
      awaited: { revision: publishResult.revision, state, isServed: availability === "served" },
    }),
  };
}

/** What is due comes in time, however long its statuses wait. */
export function unreportedResult(unreported: Unreported, now: number): ReconcileResult {
  return { ...earliest(momentsOf(unreported, now)), unreported };
}

/** Milliseconds until something is due, whatever replicas do. */
function momentsOf(
  { resolved, compiled, deletion }: Pick<ProjectOutcome, "resolved" | "compiled" | "deletion">,
  now: number,
): number[] {
  // A request whose time is slightly ahead, because its client's clock is, is due at that time.
  // Those further ahead are refused.
  const pending = compiled.requests.filter(({ isEarly }) => isEarly !== true);
  const moments = pending.map(({ until }) => until - now).filter((milliseconds) => milliseconds > 0);
  if (resolved.nextAt !== undefined) moments.push(Math.max(0, resolved.nextAt - now));
  if (resolved.hasLaterWrites) moments.push(resolved.isComplete ? 0 : afterRefusalMs);
  // Objects that waited for a purge can be served now, and a purge that a replica carries out has
  // to be followed.
  if (deletion.purged.length > 0) moments.push(0);
  if (!resolved.isComplete) moments.push(refusedRequeueMs);
  // The signing ring's next step can be taken, or waits for replicas that nothing else waits for.
  if (resolved.signingRingWaits) moments.push(signingRingRequeueMs);
  if (deletion.waitingFor === "purge" || deletion.purgesSessions) moments.push(purgeRequeueMs);
  return moments;
}

function earliest(moments: readonly number[]): Pick<ReconcileResult, "requeueAfterMs"> {
  return moments.length > 0 ? { requeueAfterMs: Math.min(...moments) } : {};
}
