// The step of a reconcile that writes statuses: what compiling found, how far replicas have come, and what deletions wait for.

import type { DeletionProgress } from "../finalize/advance-deletions.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { Availability } from "../publish/availability.ts";
import type { Compiled } from "./compile.ts";
import type { Pass } from "./pass.ts";
import type { Resolved } from "./resolve.ts";

/** How far replicas have come with what was published. */
export interface Rollout {
  readonly state: RolloutState;
  readonly availability: Availability;
}

export interface PassOutcome {
  readonly resolved: Resolved;
  readonly compiled: Compiled;
  readonly rollout: Rollout;
  readonly progress: DeletionProgress;
}

/** Milliseconds until a status may be written again that something else keeps changing; 0 = all are written. */
export async function writeStatuses(
  { objects, config: { acknowledgements, publisher }, deps }: Pass,
  { resolved, compiled: { parts, verdicts }, rollout, progress }: PassOutcome,
): Promise<number> {
  const dataLoss = publisher.dataLoss();
  return await deps.statuses.write({
    objects,
    ...(dataLoss !== undefined && { dataLoss }),
    verdicts,
    facts: resolved.statuses,
    rollout: rollout.state,
    availability: rollout.availability,
    refusals: acknowledgements.refusalsOf(objects.ref),
    building: acknowledgements.buildingOf(objects.ref),
    uses: acknowledgements.usesOf(objects.ref),
    dataWaits: progress.waiting,
    baseUrl: deps.baseUrlOf(objects.ref),
    gone: progress.gone,
    held: progress.held,
    ...(resolved.rival !== undefined && { rival: resolved.rival }),
    ...(parts !== undefined && { parts }),
    ...(progress.waitingFor !== undefined && { projectWait: progress.waitingFor }),
  });
}
