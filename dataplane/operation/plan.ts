// What a request for stored data asks for, as far as configuration, credential, host, method and
// path say: decided before it is carried out, and cached (plan-cache.ts). It says nothing of an id,
// a body or other headers. Each feature adds what its own operations depend on.

import type { Operation, Permission, ProjectLimits } from "../../core/config/types.ts";
import type { FairShareLimiter, ProjectLimiter, Slot } from "../admission/fair-share.ts";
import type { MemoryBudget } from "../admission/memory-budgets.ts";
import type { AnonymousWrites } from "../admission/rate-limits.ts";
import type { Caller } from "../authenticate/caller.ts";
import type { Proof } from "../authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { IncomingRequest, RequestCounters } from "../http/exchange.ts";
import type { RouteOperation, Subject, Target } from "../route/route.ts";
import type { DataStore } from "../store/port.ts";

/** A request whose caller is authenticated and whose method the target offers. */
export interface PlanInput {
  readonly project: LiveProject;
  readonly method: string;
  readonly operation: RouteOperation;
  readonly caller: Caller;
  /** What links begin with: the origin that the request named, and the project's base. */
  readonly base: string;
  readonly query: string;
}

/** The subjects that one feature is about. */
export type SubjectOf<K extends Subject["kind"]> = Extract<Subject, { readonly kind: K }>;

/** What every plan says of a request of a known caller. */
export interface PlanBase {
  readonly project: LiveProject;
  readonly caller: Caller;
  /** Whether it writes objects or documents; sessions stay available in a read-only project. */
  readonly isWrite: boolean;
  /** Whether it reads or writes stored data: it is refused while they are lost. */
  readonly usesStoredData: boolean;
}

/** What the plan of every operation on stored data says. */
export interface OperationPlan extends PlanBase {
  readonly operation: Operation;
  /**
   * Whether the response to a write repeats its body, and so says nothing about other responses.
   */
  readonly returnsBody: boolean;
  /** Who may read what the operation is about. */
  readonly readPermission: Permission;
  /** The store, or for the writes of a project with a quota the one that enforces it. */
  readonly store: DataStore;
  /** Its project's fair share of the replica. */
  readonly limiter: ProjectLimiter;
  /** What it weighs there without its response (fair-share.ts). */
  readonly baseWeight: number;
  readonly counters: RequestCounters | undefined;
}

/** A request that is being carried out, with its plan and what the plan was decided from. */
export interface PlannedRequest<Plan> {
  readonly incoming: IncomingRequest;
  readonly plan: Plan;
  /** Decoded segments below the resource or root key: an object's id, or where a value stands. */
  readonly subPath: readonly string[];
  readonly proof: Proof | undefined;
  /** The generation of cached plans (plan-cache.ts) in which the plan was found or decided. */
  readonly generation: number;
  readonly admission: Admission;
}

/** What a request occupies of the replica. The pipeline releases it when the request ends. */
export interface Admission {
  /** In its project's fair share. */
  slot: Slot | undefined;
  /** Releases the memory that its body is counted in. */
  releaseBody: (() => void) | undefined;
}

/** What deciding asks of the program. */
export interface PlanDeps {
  readonly store: DataStore;
  readonly fairShare: FairShareLimiter;
  readonly quotas: { storeFor(project: LiveProject): DataStore };
  readonly countersOf: (project: LiveProject, target: Target, method: string) => RequestCounters | undefined;
}

/** What every operation on stored data asks of the program while it is carried out. */
export interface OperationDeps<Plan> {
  readonly directory: Pick<Directory, "dataLost">;
  readonly anonymousWrites: AnonymousWrites;
  readonly bodyBudget: MemoryBudget;
  /**
   * The request with the plan that counts now: the same one unless something changed since it was
   * decided. Throws Problem where the request is refused by now.
   */
  readonly decideAgainIfChanged: (
    request: PlannedRequest<Plan>,
  ) => PlannedRequest<Plan> | Promise<PlannedRequest<Plan>>;
}

const readWeight = 1;
const writeWeight = 2;
const usualBytes = 1024 * 1024;

export function planOperation(
  deps: PlanDeps,
  input: PlanInput,
  target: Target,
  readPermission: Permission,
): OperationPlan {
  const { project, method, operation, caller } = input;
  if (operation === "by_feature" || operation === "public") throw new Error("A route to stored data has no operation");
  const isWrite = operation !== "read";
  const { limits } = project.config;
  // Where values may be larger than usual, fewer are under way before their sizes are known.
  const largest = Math.max(limits.maxDocumentBytes, limits.maxBodyBytes, maxObjectBytes(limits));
  return {
    project,
    caller,
    isWrite,
    usesStoredData: true,
    operation,
    returnsBody: operation === "create" || operation === "delete" || (method === "PUT" && target.kind === "document"),
    readPermission,
    store: isWrite && limits.quota !== undefined ? deps.quotas.storeFor(project) : deps.store,
    limiter: deps.fairShare.of(project),
    baseWeight: (isWrite ? writeWeight : readWeight) * Math.max(1, Math.ceil(largest / usualBytes)),
    counters: deps.countersOf(project, target, method),
  };
}

/** How many bytes an object may have. Without a limit of its own, a body always fits. */
export function maxObjectBytes({
  maxObjectBytes: own,
  maxBodyBytes,
}: Pick<ProjectLimits, "maxObjectBytes" | "maxBodyBytes">): number {
  return own ?? Math.max(usualBytes, maxBodyBytes);
}
