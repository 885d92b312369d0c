// An allowed method on a known target by a known caller: what every handler gets, and what several of them do with it.

import type { Permission, ProjectLimits } from "../../core/config/types.ts";
import type { AnonymousWrites } from "../admission/anonymous-writes.ts";
import type { BodyBudgets } from "../admission/body-budget.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import type { Caller } from "../authenticate/caller.ts";
import { requireReadToo } from "../authorize/authorize.ts";
import type { Directory } from "../config/directory.ts";
import { type Preconditions, preconditionsOf } from "../http/conditional-requests.ts";
import { type Exchange, requestOrigin } from "../http/exchange.ts";
import type { PublicAddress, ResolvedProject } from "../route/find-project.ts";
import type { AccessRule, Subject } from "../route/route.ts";

/** What every operation on stored data asks of the program. */
export interface OperationDeps {
  readonly directory: Pick<Directory, "dataLost">;
  readonly anonymousWrites: AnonymousWrites;
  readonly fairShare: FairShareLimiter;
  readonly bodies: BodyBudgets;
}

/** Whose origin is that of links when a request names no host. */
export interface LinkDeps {
  readonly address: PublicAddress;
}

export interface OperationContext {
  readonly resolved: ResolvedProject;
  readonly subject: Subject;
  readonly rule: AccessRule;
  readonly caller: Caller;
  readonly query: string;
}

/** The part of a subject that one handler is about. */
export type SubjectOf<K extends Subject["kind"]> = Extract<Subject, { kind: K }>;

/** What the request says of the state that it wants to find; who may not read must not find that out by guessing. */
export function admittedPreconditions(
  exchange: Exchange,
  operation: OperationContext,
  read: Permission,
): Preconditions | undefined {
  const preconditions = preconditionsOf(exchange.request.headers);
  if (preconditions !== undefined) requireReadToo(operation.resolved.project.config, read, operation.caller);
  return preconditions;
}

const usualObjectBytes = 1024 * 1024;

/** How many bytes an object may have. Without a limit of its own, one body at least fits into an object. */
export function maxObjectBytes({ maxObjectBytes: own, maxBodyBytes }: ProjectLimits): number {
  return own ?? Math.max(usualObjectBytes, maxBodyBytes);
}

/** What links begin with. */
export function baseUrl(deps: LinkDeps, exchange: Exchange, resolved: ResolvedProject): string {
  return requestOrigin(exchange.request, deps.address.origin) + resolved.base;
}
