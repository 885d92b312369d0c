// What happens to a request, in two steps. `decide`: host, method, target and credential → plan, which has all that depends on these and on
// the configuration alone. Carrying out: plan and request → answer: rates, then the feature's reading, validating and asking of the store.
// Every step may refuse by throwing a Problem; nothing of the body is read before the caller is known to be allowed.

import { Problem } from "../core/errors/problem.ts";
import { isStoreFailure } from "../core/errors/store-errors.ts";
import type { AnswerBudget } from "./admission/memory-budgets.ts";
import type { RateLimits } from "./admission/rate-limits.ts";
import { anonymous } from "./authenticate/caller.ts";
import type { Authentication } from "./authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import { carryOutDocument, type DocumentPlan, type DocumentsDeps, planDocument } from "./documents/handler.ts";
import type { Answer } from "./http/answer.ts";
import { preflightHeaders } from "./http/cors.ts";
import type { Exchange } from "./http/exchange.ts";
import { acceptPatch } from "./http/patch.ts";
import { carryOutObjects, type ObjectsDeps, type ObjectsPlan, planObjects } from "./objects/handler.ts";
import { carryOutDescription, type DescriptionPlan, type OpenapiDeps, planDescription } from "./openapi/handler.ts";
import type { Asked, PlanBase, PlanDeps } from "./operation/plan.ts";
import { endWork, requireData, requireNoLoss } from "./operation/work.ts";
import { findProject, type PublicAddress, requestOrigin, requireHost } from "./route/find-project.ts";
import {
  accessRule,
  allowedMethods,
  isWrite,
  route,
  type Subject,
  splitTarget,
  subjectOf,
  type Target,
} from "./route/route.ts";
import { carryOutSession, planSession, type SessionPlan, type SessionRouteDeps } from "./sessions/handler.ts";

export interface PipelineDeps extends PlanDeps, ObjectsDeps, DocumentsDeps, SessionRouteDeps, OpenapiDeps {
  readonly directory: Directory;
  readonly address: PublicAddress;
  readonly authentication: Authentication;
  readonly rates: RateLimits;
  readonly answers: AnswerBudget<Exchange>;
}

/** Holds nothing of one request's id, body or other headers. */
type Plan = ObjectsPlan | DocumentPlan | SessionPlan | DescriptionPlan | RefusedPlan | OptionsPlan;

/** What the caller may not do, or asked for in a way that is not understood: it is refused once it was counted. */
interface RefusedPlan extends PlanBase {
  readonly kind: "refused";
  readonly problem: Problem;
}

/** Nobody is asked who they are. */
interface OptionsPlan {
  readonly kind: "options";
  readonly project: LiveProject;
  readonly isStored: false;
  readonly methods: readonly string[];
}

export function createPipeline(deps: PipelineDeps): (exchange: Exchange) => Promise<Answer> {
  return serve.bind(undefined, deps);
}

/** Whatever refuses throws. */
async function serve(deps: PipelineDeps, exchange: Exchange): Promise<Answer> {
  /** Once it is under way: of whose stored data it is. */
  let stored: LiveProject | undefined;
  let length: number | undefined;
  try {
    const plan = await decide(deps, exchange);
    const admitting = admit(deps, plan, exchange);
    if (admitting !== undefined) await admitting;
    stored = plan.isStored ? plan.project : undefined;
    const answer = await carryOut(deps, plan, exchange);
    if (stored !== undefined) requireNoLoss(deps.directory, stored);
    length = answer.text?.length ?? 0;
    return deps.answers.admit(exchange, exchange.request.method, answer);
  } catch (error) {
    // What the store did not answer says nothing of what answers cost.
    if (error instanceof Problem) length ??= 0;
    // What says that the store failed is true of it, lost data or not.
    if (stored !== undefined && !isStoreFailure(error)) requireNoLoss(deps.directory, stored);
    throw error;
  } finally {
    endWork(exchange, length);
    exchange.releaseBody?.();
  }
}

/** What it finds out on the way is noted in the exchange: a request that is refused is logged and counted by it. */
async function decide(deps: PipelineDeps, exchange: Exchange): Promise<Plan> {
  const { request } = exchange;
  const split = splitTarget(exchange.rawUrl);
  const found = findProject(deps, requireHost(request), split.segments);
  const resolved = found instanceof Promise ? await found : found;
  const { project } = resolved;
  exchange.project = project;
  const target = route(resolved.segments);
  exchange.target = target;
  if (split.fault) throw split.fault;
  if (project.config.serving === "Off") throw new Problem("project_off", "The project's owner switched it off");
  const subject = subjectOf(project, target);

  const { method, headers } = request;
  if (method === "OPTIONS") return { kind: "options", project, isStored: false, methods: allowedMethods(target) };
  const rule = accessRule(target, method);
  if (rule === undefined) throw methodNotAllowed(method, target);
  const proven = rule === "public" ? anonymous : deps.authentication.authenticate(project, headers.authorization);
  const caller = proven instanceof Promise ? await proven : proven;
  exchange.caller = caller;

  const base = requestOrigin(request, deps.address.origin) + resolved.base;
  try {
    return planOf(deps, { project, method, rule, caller, base, query: split.query }, subject);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const isStored = subject.kind === "objects" || subject.kind === "document";
    return { kind: "refused", project, caller, isWrite: isWrite(rule), isStored, problem };
  }
}

function planOf(deps: PipelineDeps, asked: Asked, subject: Subject): Plan {
  switch (subject.kind) {
    case "objects":
      return planObjects(deps, asked, subject);
    case "document":
      return planDocument(deps, asked, subject);
    case "session":
      return planSession(asked, subject);
    case "description":
      return planDescription(asked, subject);
  }
}

/** Counts a request against the rates, if there are any, and lets those through that are allowed: a promise where the store has to be asked. */
function admit(deps: PipelineDeps, plan: Plan, exchange: Exchange): Promise<void> | undefined {
  if (plan.kind === "options") return undefined;
  const { config } = plan.project;
  if (config.limits.rate !== undefined && exchange.rates === undefined) {
    exchange.rates = deps.rates.of(config, config.limits.rate, { caller: plan.caller, address: exchange.request.ip });
    return deps.rates.take(config, exchange.rates).then(() => admit(deps, plan, exchange));
  }
  if (plan.isWrite && config.serving === "ReadOnly") {
    throw new Problem("project_read_only", "The project's owner made it read-only for now; reads go on");
  }
  if (plan.isStored) requireData(deps.directory, plan.project);
  if (plan.kind === "refused") throw plan.problem;
  return undefined;
}

function carryOut(deps: PipelineDeps, plan: Plan, exchange: Exchange): Promise<Answer> | Answer {
  switch (plan.kind) {
    case "objects":
      exchange.counters = plan.counters;
      return carryOutObjects(deps, plan, exchange);
    case "document":
      exchange.counters = plan.counters;
      return carryOutDocument(deps, plan, exchange);
    case "session":
      return carryOutSession(deps, plan, exchange);
    case "description":
      return carryOutDescription(deps, plan, exchange);
    case "options":
      return options(plan, exchange.request.headers.origin);
    case "refused":
      throw plan.problem;
  }
}

function methodNotAllowed(method: string, target: Target): Problem {
  const allowed = allowedMethods(target).join(", ");
  const rootPost = target.kind === "document" && target.path.length === 0 && method === "POST";
  const detail = rootPost
    ? "POST adds inside the root key's value: name a key to add, or end the path with /- to append to an array"
    : `${method} is not offered here; allowed are ${allowed}`;
  return new Problem("method_not_allowed", detail, { headers: { Allow: allowed } });
}

function options({ project, methods }: OptionsPlan, origin: string | undefined): Answer {
  return {
    status: 204,
    headers: {
      Allow: methods.join(", "),
      ...(methods.includes("PATCH") && { "Accept-Patch": acceptPatch }),
      ...preflightHeaders(project.config.cors, origin, methods),
    },
  };
}
