// What a run of a reconcile has served, as its statuses are made from it.

import type { ProjectRef } from "../../core/config/types.ts";
import type { DeletionOutcome } from "../deletion/advance-deletions.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { CompileOutcome, ProjectOutcome, ResolvedProject } from "../status/outcomes.ts";

/** What was served of a Project. */
export interface Served extends Pick<ProjectOutcome, "objects" | "publishResult"> {
  readonly redis: OpenRedis;
  readonly resolved: ResolvedProject;
  readonly compiled: CompileOutcome;
}

/**
 * What was served, with nothing that its statuses would have to come before: they can wait, and the
 * objects are not kept for that long.
 */
export interface Unreported extends Pick<ProjectOutcome, "resolved" | "compiled" | "publishResult"> {
  readonly ref: ProjectRef;
  /** Of the objects that were served: see versionsOf. */
  readonly versions: string;
  readonly redis: OpenRedis;
  readonly deletion: DeletionOutcome;
}
