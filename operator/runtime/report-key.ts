// Works on a key that was served: waits a moment until replicas have acknowledged that, and writes
// what its statuses say. Whatever is over by then is not reported, because its key is served anew.
// A failure is thrown, and the key is served anew after its backoff.

import { projectOfKey } from "../../core/config/config-keys.ts";
import { NotTheLeader } from "../lead/elector.ts";
import { allObjects, isDeleting, type ProjectObjects, versionsOf } from "../model/project-objects.ts";
import type { WorkResult } from "../queue/workers.ts";
import { awaitReplicas, type ReportDeps, writeStatuses } from "../reconcile/reconcile.ts";
import type { Unreported } from "../reconcile/served.ts";
import type { ProcessKeyDeps, WatchedProjects } from "./process-key.ts";

export interface ReportKeyDeps
  extends Pick<ProcessKeyDeps, "ownership" | "watched" | "listener" | "unreported">,
    ReportDeps {
  readonly watched: WatchedProjects;
}

/** It is served anew: most likely its key waits for that already. */
const servedAnew = { requeueAfterMs: 0 } as const;

export async function reportKey(key: string, deps: ReportKeyDeps, signal: AbortSignal): Promise<WorkResult> {
  const { unreported, session } = deps.unreported.get(key) ?? {};
  deps.unreported.delete(key);
  if (unreported === undefined) return servedAnew;
  // Another session has begun once Redis was emptied, and the revision is one of before.
  const isOver = (): boolean => deps.listener.sessionCount() !== session;
  // With the statuses that were written since, and the versions of now.
  const objects = deps.ownership.ownOf(deps.watched.objectsOf(projectOfKey(key)));
  if (objects === undefined || isOver() || !areSame(unreported, objects)) return servedAnew;
  try {
    const rollout = await awaitReplicas(unreported, signal);
    if (isOver()) return servedAnew;
    const { awaited, requeueAfterMs } = await writeStatuses({ ...unreported, objects, rollout }, deps);
    deps.listener.reported(key, awaited);
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  } catch (error) {
    // The session ends; the next leader looks at everything.
    if (error instanceof NotTheLeader) return undefined;
    throw error;
  }
}

/** Whether these are the very objects that were served, and none of them is being deleted. */
function areSame({ versions }: Unreported, present: ProjectObjects): boolean {
  return versionsOf(present) === versions && !allObjects(present).some(isDeleting);
}
