// What a request for stored data asks for, as far as configuration, credential, host, method and path say, and not its id, body or other
// headers: decided before it is carried out, and kept (kept-plans.ts). Each feature adds what its own operations go by.

import type { Operation, Permission, ProjectLimits } from "../../core/config/types.ts";
import type { AnonymousWrites } from "../admission/anonymous-writes.ts";
import type { FairShareLimiter, ProjectLimiter } from "../admission/fair-share.ts";
import type { MemoryBudget } from "../admission/memory-budgets.ts";
import type { Caller } from "../authenticate/caller.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { Exchange, RequestCounters } from "../http/exchange.ts";
import type { RouteOperation, Subject, Target } from "../route/route.ts";
import type { DataStore } from "../store/port.ts";

/** What a feature plans by, beside the subject: a request whose caller is authenticated and whose method the target offers. */
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

/** What every operation on stored data goes by. */
export interface OperationPlan extends PlanBase {
  readonly operation: Operation;
  /** Whether it is a write whose response has what its body has, and so says nothing of what other responses weigh. */
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

/** The plan that a request goes by after it has waited. Throws Problem where it is refused by now. */
export type RenewPlan = <Plan extends OperationPlan>(plan: Plan, exchange: Exchange) => Plan | Promise<Plan>;

/** What deciding asks of the program. */
export interface PlanDeps {
  readonly store: DataStore;
  readonly fairShare: FairShareLimiter;
  readonly quotas: { storeFor(project: LiveProject): DataStore };
  readonly countersOf: (project: LiveProject, target: Target, method: string) => RequestCounters | undefined;
}

/** What every operation on stored data asks of the program while it is carried out. */
export interface OperationDeps {
  readonly directory: Pick<Directory, "dataLost">;
  readonly anonymousWrites: AnonymousWrites;
  readonly bodyBudget: MemoryBudget;
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

/** How many bytes an object may have. Without a limit of its own, one body at least fits into an object. */
export function maxObjectBytes({ maxObjectBytes: own, maxBodyBytes }: ProjectLimits): number {
  return own ?? Math.max(usualBytes, maxBodyBytes);
}
