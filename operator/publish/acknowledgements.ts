// What the replicas have acknowledged, looked at often while somebody waits for it and now and then otherwise.

import type { ProjectRef } from "../../core/config/types.ts";

/** `programmed` = every live replica can no longer serve anything older than the revision. */
export type Reach = "programmed" | "waiting" | "no_replicas";

export interface ReplicaRefusal {
  /** `resource:<name>`, `rootkey:<name>`, `user:<hash>`, `key:<sha256>`, `project`, `signing`. */
  readonly field: string;
  readonly reason: string;
}

export interface Acknowledgements {
  /** As of the last look. */
  reachOf(revision: number): Reach;
  /** Fields of the project that some live replica can't use. */
  refusalsOf(ref: ProjectRef): readonly ReplicaRefusal[];
  /** Resolves when the revision is programmed, or with what holds after `withinMs`. Looks every 50 ms meanwhile. */
  reached(revision: number, withinMs: number, signal?: AbortSignal): Promise<Reach>;
  /** Key ids of the fleet's ring that every live replica has; undefined while there is no live replica. */
  commonRingKeys(): ReadonlySet<string> | undefined;
  stop(): void;
}
