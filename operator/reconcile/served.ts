// What a run of a reconcile has served, as its statuses are made from it.

import type { DeletionProgress } from "../finalize/advance-deletions.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { CompiledProject, ProjectOutcome, ResolvedProject } from "../status/outcomes.ts";

/** What was served of a Project. */
export interface Served extends Pick<ProjectOutcome, "objects" | "publishResult"> {
  readonly redis: OpenRedis;
  readonly resolved: ResolvedProject;
  readonly compiled: CompiledProject;
}

/** What was served, with nothing that its statuses would have to come before: they can wait. */
export interface Unreported extends Pick<ProjectOutcome, "objects" | "resolved" | "compiled" | "publishResult"> {
  readonly redis: OpenRedis;
  readonly progress: DeletionProgress;
}
