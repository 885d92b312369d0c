// What happens to a request, in two steps. `decide`: host, method, target and credential → plan, which has all that depends on these and on
// the configuration alone. Carrying out: the project's rates are charged, a caller who may not do this is refused, then the feature reads and
// validates what the request brings and asks the store. Every step may refuse by throwing a Problem; no body is read before the caller is
// known to be allowed.

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
import type { PlanBase, PlanDeps, PlanInput } from "./operation/plan.ts";
import { endWork, requireDataNotLost, requireNoLossMeanwhile } from "./operation/work.ts";
import { findProject, type PublicAddress, requestOrigin, requireHost } from "./route/find-project.ts";
import {
  allowedMethods,
  isWrite,
  route,
  routeOperation,
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
  readonly answerBudget: AnswerBudget<Exchange>;
}

/** Depends neither on the id in the path, nor on the body, nor on headers other than Host and Authorization. */
type Plan = AllowedPlan | RefusedPlan;

type AllowedPlan = ObjectsPlan | DocumentPlan | SessionPlan | DescriptionPlan | OptionsPlan;

/** The caller may not do this, or the query is malformed. The rates are charged before the problem is thrown: refused requests cost work too. */
interface RefusedPlan extends PlanBase {
  readonly kind: "refused";
  readonly problem: Problem;
}

/** An OPTIONS request. Browsers send preflights without credentials, so it has no caller and is not charged. */
interface OptionsPlan {
  readonly kind: "options";
  readonly project: LiveProject;
  readonly usesStoredData: false;
  readonly methods: readonly string[];
}

export function createPipeline(deps: PipelineDeps): (exchange: Exchange) => Promise<Answer> {
  return serve.bind(undefined, deps);
}

async function serve(deps: PipelineDeps, exchange: Exchange): Promise<Answer> {
  /** The project whose stored data are read or written, from the moment when that may have begun. */
  let stored: LiveProject | undefined;
  /** Characters of the answer, from which its project's fair share learns what answers cost; undefined = learn nothing from this one. */
  let length: number | undefined;
  try {
    const plan = await decide(deps, exchange);
    const charging = chargeRates(deps, plan, exchange);
    if (charging !== undefined) await charging;
    const allowed = requireAllowed(deps, plan);
    stored = allowed.usesStoredData ? allowed.project : undefined;
    const answer = await carryOut(deps, allowed, exchange);
    if (stored !== undefined) requireNoLossMeanwhile(deps.directory, stored);
    length = answer.text?.length ?? 0;
    return deps.answerBudget.admit(exchange, exchange.request.method, answer);
  } catch (error) {
    // A refusal is an answer of next to no length. Other errors, as when the store fails, show nothing of what answers cost.
    if (error instanceof Problem) length ??= 0;
    // A failure of the store is reported as such, whether data were lost or not. Any other error, such as a 404, may come of the loss.
    if (stored !== undefined && !isStoreFailure(error)) requireNoLossMeanwhile(deps.directory, stored);
    throw error;
  } finally {
    endWork(exchange, length);
    exchange.releaseBody?.();
  }
}

/** Sets project, target and caller on the exchange as soon as each is known, so that the log and the metrics of a refused request have them. */
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
  if (project.config.serving === "Off")
    throw new Problem("project_off", "The owner of the project has switched it off");
  const subject = subjectOf(project, target);

  const { method, headers } = request;
  if (method === "OPTIONS") return { kind: "options", project, usesStoredData: false, methods: allowedMethods(target) };
  const operation = routeOperation(target, method);
  if (operation === undefined) throw methodNotAllowed(method, target);
  const proven = operation === "public" ? anonymous : deps.authentication.authenticate(project, headers.authorization);
  const caller = proven instanceof Promise ? await proven : proven;
  exchange.caller = caller;

  const base = requestOrigin(request, deps.address.origin) + resolved.base;
  try {
    return planOf(deps, { project, method, operation, caller, base, query: split.query }, subject);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const usesStoredData = subject.kind === "objects" || subject.kind === "document";
    return { kind: "refused", project, caller, isWrite: isWrite(operation), usesStoredData, problem };
  }
}

function planOf(deps: PipelineDeps, input: PlanInput, subject: Subject): Plan {
  switch (subject.kind) {
    case "objects":
      return planObjects(deps, input, subject);
    case "document":
      return planDocument(deps, input, subject);
    case "session":
      return planSession(input, subject);
    case "description":
      return planDescription(input, subject);
  }
}

/** Takes the request from the project's rates, where it has any: a promise, because the store may have to be asked. Throws `rate_limited`. */
function chargeRates(deps: PipelineDeps, plan: Plan, exchange: Exchange): Promise<void> | undefined {
  if (plan.kind === "options") return undefined;
  const { config } = plan.project;
  if (config.limits.rate === undefined) return undefined;
  exchange.rates = deps.rates.of(config, config.limits.rate, { caller: plan.caller, address: exchange.request.ip });
  return deps.rates.take(config, exchange.rates);
}

/** Throws why the request can't be carried out: the project takes no writes, its data are lost, or the caller may not do this. */
function requireAllowed(deps: PipelineDeps, plan: Plan): AllowedPlan {
  if (plan.kind === "options") return plan;
  if (plan.isWrite && plan.project.config.serving === "ReadOnly") {
    throw new Problem("project_read_only", "The owner of the project has made it read-only; reads still work");
  }
  if (plan.usesStoredData) requireDataNotLost(deps.directory, plan.project);
  if (plan.kind === "refused") throw plan.problem;
  return plan;
}

function carryOut(deps: PipelineDeps, plan: AllowedPlan, exchange: Exchange): Promise<Answer> | Answer {
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
  }
}

function methodNotAllowed(method: string, target: Target): Problem {
  const allowed = allowedMethods(target).join(", ");
  const rootPost = target.kind === "document" && target.path.length === 0 && method === "POST";
  const detail = rootPost
    ? "POST adds inside the root key's value: name a key to add, or end the path with /- to append to an array"
    : `${method} is not allowed at this path; allowed are ${allowed}`;
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
