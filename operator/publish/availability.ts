// Decides from the acknowledgements of live replicas whether one of them serves a project now.

import type { ReplicaState } from "./replicas.ts";

export type Availability =
  /** Some live replica serves the revision, or a later one. */
  | "served"
  /**
   * Replicas are live, and none has the revision. Whether they serve an earlier one only the caller
   * knows.
   */
  | "behind"
  /**
   * Every live replica refuses the project itself. A replica that started since has no earlier
   * version of it.
   */
  | "refused"
  | "no_replicas"
  /**
   * Redis was not asked yet, or has not answered for so long that each heartbeat seen would be too
   * old by now.
   */
  | "unknown";

/** Whether any replica is live, as far as is known. */
export type Liveness = "some" | "none" | "unknown";

export function livenessOf(replicas: readonly ReplicaState[] | undefined): Liveness {
  if (replicas === undefined) return "unknown";
  return replicas.length === 0 ? "none" : "some";
}

/**
 * `project` = its name as replicas say it; `revision` = of its newest step. `replicas` = the live
 * ones; undefined = not known.
 */
export function availabilityOf(
  replicas: readonly ReplicaState[] | undefined,
  project: string,
  revision: number,
): Availability {
  if (replicas === undefined) return "unknown";
  if (replicas.length === 0) return "no_replicas";
  const able = replicas.filter(
    ({ refusals }) => !refusals.some((refusal) => refusal.project === project && refusal.field === "project"),
  );
  if (able.length === 0) return "refused";
  return able.some((replica) => replica.revision >= revision) ? "served" : "behind";
}
