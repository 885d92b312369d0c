// What a reconcile found: of one Project, as its steps hand it on, and of one of its objects, out
// of which that one's status is made.

import type { QuotaUses } from "../../core/config/quota-uses.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { HeldSchemas } from "../compile/held-schema.ts";
import type { DeletionOutcome } from "../deletion/advance-deletions.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { UnpublishedReason } from "../model/reasons.ts";
import type { Verdict } from "../model/verdict.ts";
import type { ReplicaRefusal, RolloutState } from "../publish/acknowledgements.ts";
import type { Availability } from "../publish/availability.ts";
import type { PublishResult } from "../publish/writer-session.ts";
import type { KeyStatus } from "../resolve/key.ts";
import type { ProjectResolution } from "../resolve/project.ts";
import type { UserStatus } from "../resolve/user.ts";
import type { DeletionWait } from "../stored-data/advance-purges.ts";
import type { CopyReport } from "../stored-data/data-copies.ts";
import type { DataEvaluation } from "../stored-data/data-plan.ts";
import type { DeletionRequest } from "../stored-data/deletion-requests.ts";
import type { CheckReport, CheckReports } from "../stored-data/object-checks.ts";

export interface ProjectOutcome {
  readonly objects: ProjectObjects;
  readonly resolved: ReportedResolution;
  readonly compiled: Omit<CompileOutcome, "data" | "evaluatedAt">;
  readonly publishResult: PublishResult;
  readonly rollout: Rollout;
  readonly reports: ReplicaReports;
  readonly deletion: DeletionOutcome;
  /** Name of the loss of stored data that is not accepted for all Projects. */
  readonly dataLoss: string | undefined;
  /** The address that clients use for the Project. */
  readonly baseUrl: string;
}

export interface ResolvedProject extends ProjectResolution {
  /** False when the API server refused a Secret: a later attempt may succeed. */
  readonly isComplete: boolean;
  /**
   * Secrets could not be read or written: credentials are as they are published, and the reconcile
   * fails with this once that is published.
   */
  readonly failure?: { readonly error: unknown };
}

/** Without Secrets and credentials: thousands of outcomes may wait in memory. */
export type ReportedResolution = Pick<
  ResolvedProject,
  "statuses" | "isComplete" | "signingRingWaits" | "nextAt" | "hasLaterWrites"
>;

export interface CompileOutcome {
  /** Undefined = nothing is served. */
  readonly config: CompiledProject | undefined;
  readonly verdicts: readonly Verdict[];
  /** How far schemas had come that wait for a check. */
  readonly heldSchemas: HeldSchemas;
  readonly data: DataEvaluation;
  /** What people ask to be deleted of the Project's kept data. */
  readonly requests: readonly DeletionRequest[];
  /** Unix milliseconds: which of the requests were due was decided at that moment. */
  readonly evaluatedAt: number;
}

/** How far replicas have come with what was published. */
export interface Rollout {
  readonly state: RolloutState;
  /** Whether a live replica serves the Project now. */
  readonly availability: Availability;
}

/** What replicas report of what a Project stores; undefined = nothing new. */
export interface KnownUsage {
  readonly storedObjects: number | undefined;
  readonly quotaUsage: QuotaUses | undefined;
}

/** `isDue`: its status may follow numbers that have moved. */
export interface ReportedUsage extends KnownUsage {
  readonly isDue: boolean;
}

/** What replicas report of a Project. */
export interface ReplicaReports {
  readonly refusals: readonly ReplicaRefusal[];
  /** Names of indexes that are being built, by resource. */
  readonly building: ReadonlyMap<string, readonly string[]>;
  readonly usage: ReportedUsage;
  readonly checks: CheckReports;
  /** What is copied into the Project; undefined = it declares nothing. */
  readonly copy: CopyReport | undefined;
}

/** How far the newest configuration of an object has come. */
export type RolloutProgress =
  /** It could not be written; `why` is a sentence without times and counters. */
  | { readonly state: "not_published"; readonly reason: UnpublishedReason; readonly why: string }
  /** `refusal` = what a replica says that can't use it. */
  | { readonly state: RolloutState; readonly refusal?: string };

export interface ObjectOutcome {
  readonly verdict: Verdict;
  readonly progress: RolloutProgress;
  /** Whether a live replica serves the Project now. */
  readonly availability: Availability;
  /** Name of the loss of stored data that is not accepted for the Project. */
  readonly dataLoss?: string;
  /** While the object is being deleted: what it waits for; absent = nothing. */
  readonly dataWait?: DeletionWait;
  /** Likewise: finalizers that others have to remove; absent = none. */
  readonly heldBy?: readonly string[];
  /** What the resolve stage newly says of this object. */
  readonly facts?: KeyStatus | UserStatus;
  /** What is published now; absent when nothing of the Project is. */
  readonly config?: CompiledProject;
  /** Names of indexes that replicas are building, by resource; absent when that is not known. */
  readonly building?: ReadonlyMap<string, readonly string[]>;
  /** What the Project stores; absent while what replicas report is not known. */
  readonly usage?: ReportedUsage;
  /** What is known of its stored objects and the schema; absent = nothing new. */
  readonly check?: CheckReport;
  /** Of a Project, what is copied into it; absent = nothing new. */
  readonly copy?: CopyReport;
  /** All objects of the Project, for the counts of its status. */
  readonly objects: ProjectObjects;
  /** The installation that looks after the object; absent = none has taken it. */
  readonly controller?: string | undefined;
  /** The address that clients use for the Project. */
  readonly baseUrl: string;
  /** Unix milliseconds. */
  readonly now: number;
}
