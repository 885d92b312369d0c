// The first step of a request: host, method, target and credential → plan. It depends on these and
// on the configuration alone.

import { Problem } from "../core/errors/problem.ts";
import type { Slot } from "./admission/fair-share.ts";
import { type Authentication, authorizationOf, noCredential } from "./authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import { type DocumentPlan, planDocument } from "./documents/handler.ts";
import { emptyContext, type IncomingRequest, type RequestContext } from "./http/exchange.ts";
import { type ObjectsPlan, planObjects } from "./objects/plan.ts";
import { type DescriptionPlan, planDescription } from "./openapi/handler.ts";
import type { PlanBase, PlanDeps, PlanInput } from "./operation/plan.ts";
import { findProject, type PublicAddress } from "./route/find-project.ts";
import { requestOrigin, requireHost } from "./route/request-origin.ts";
import { splitTarget } from "./route/request-target.ts";
import {
  allowedMethods,
  isWrite,
  requireOperation,
  route,
  type Subject,
  subjectOf,
  subPathOf,
  type Target,
} from "./route/route.ts";
import { planSession, type SessionPlan } from "./sessions/handler.ts";
import { type ExportPlan, planExport } from "./transfer/plan-export.ts";
import { type ImportPlan, planImport } from "./transfer/plan-import.ts";

export interface DecideDeps extends PlanDeps {
  readonly directory: Directory;
  readonly address: PublicAddress;
  readonly authentication: Authentication;
}

/** Depends on no id in the path, no body, and of all headers on Host and Authorization alone. */
export type Plan = AllowedPlan | RefusedPlan;

export type StoredPlan = ObjectsPlan | DocumentPlan;

export type TransferPlan = ExportPlan | ImportPlan;

export type AllowedPlan =
  | StoredPlan
  | ChangesPlan
  | TransferPlan
  | SessionPlan
  | DescriptionPlan
  | OptionsPlan
  | ServerPlan;

/** The caller may not do this, or the query is malformed. Thrown once the rates are charged. */
export interface RefusedPlan extends PlanBase {
  readonly kind: "refused";
  readonly problem: Problem;
}

/** Changes of several sources, each of which is decided when this is carried out. */
export interface ChangesPlan extends PlanBase {
  readonly kind: "changes";
}

/** Browsers send preflights without credentials: OPTIONS has no caller, and no rate counts it. */
export interface OptionsPlan {
  readonly kind: "options";
  readonly project: LiveProject;
  readonly usesStoredData: false;
  readonly methods: readonly string[];
}

/** OPTIONS of the server itself (RFC 9110 §9.3.7), by which clients check that it answers. */
export interface ServerPlan {
  readonly kind: "server";
  readonly usesStoredData: false;
}

export interface PlannedDecision {
  readonly outcome: "planned";
  readonly context: RequestContext;
  readonly plan: Plan;
  readonly subPath: readonly string[];
  readonly generation: number;
}

export interface RejectedDecision {
  readonly outcome: "rejected";
  readonly context: RequestContext;
  readonly error: unknown;
}

export interface FreshDecision extends Omit<PlannedDecision, "generation"> {
  /** Segments of the path that name the project. */
  readonly baseSegments: number;
}

/**
 * Project, then target, then caller, then plan. What takes longer the more the request sends runs
 * fairly between projects; so the project is found first. `slot` = the one that the request holds
 * by now.
 */
export async function decide(
  deps: DecideDeps,
  incoming: IncomingRequest,
  slot?: Slot,
): Promise<FreshDecision | RejectedDecision> {
  const { request } = incoming;
  const { method } = request;
  let context = emptyContext;
  try {
    const split = splitTarget(incoming.rawUrl);
    const found = findProject(deps, requireHost(request), split.segments);
    const { project, base, segments } = found instanceof Promise ? await found : found;
    context = { project };
    const target = route(segments);
    context = { project, target };
    const limiter = deps.fairShare.of(project);
    const subject = await limiter.runFairly(() => requireSubject(project, target, split.fault), slot);
    const resource = subject.kind === "objects" ? subject.resource : undefined;
    const baseSegments = split.segments.length - segments.length;
    const subPath = subPathOf(target);
    if (method === "OPTIONS") {
      const plan = {
        kind: "options",
        project,
        usesStoredData: false,
        methods: allowedMethods(target, resource),
      } as const;
      return { outcome: "planned", context, plan, subPath, baseSegments };
    }
    const operation = requireOperation(target, method, resource);
    const authenticate = () =>
      deps.authentication.authenticate(project, authorizationOf(project, request.raw), incoming);
    const proof = operation === "public" ? noCredential : await limiter.runFairly(authenticate, slot);
    context = { project, target, proof };
    const url = requestOrigin(request, deps.address, base === "") + base;
    const input = { project, method, operation, caller: proof.caller, base: url, query: split.query };
    const plan = await limiter.runFairly(() => planOrRefusal(deps, input, subject), slot);
    return { outcome: "planned", context, plan, subPath, baseSegments };
  } catch (error) {
    return { outcome: "rejected", context, error };
  }
}

function requireSubject(project: LiveProject, target: Target, fault: Problem | undefined): Subject {
  if (fault) throw fault;
  if (project.config.serving === "Off") {
    throw new Problem("project_off", "The owner of the project has switched it off");
  }
  return subjectOf(project, target);
}

function planOrRefusal(deps: DecideDeps, input: PlanInput, subject: Subject): Plan {
  try {
    switch (subject.kind) {
      case "objects":
        return planObjects(deps, input, subject);
      case "document":
        return planDocument(deps, input, subject);
      case "changes": {
        const { project, caller } = input;
        return { kind: "changes", project, caller, isWrite: false, usesStoredData: true };
      }
      case "transfer":
        return subject.target.kind === "export" ? planExport(input) : planImport(deps, input);
      case "session":
        return planSession(input, subject);
      case "description":
        return planDescription(input, subject);
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const { project, caller, operation } = input;
    const usesStoredData = ["objects", "document", "transfer"].includes(subject.kind);
    return { kind: "refused", project, caller, isWrite: isWrite(operation), usesStoredData, problem };
  }
}
