// What happens to a request, in two steps. `decide`: host, method, target and credential → plan, which has all that depends on these and on
// the configuration alone. The plan is kept for requests that are alike, until any of that changes. `carryOut`, once the project's rates
// are charged and what the plan refuses is refused: the feature receives, reads and validates what the request brings, and asks the store. Every step
// may refuse by throwing a Problem; no body is read before the caller is known to be allowed.

import { keyOfProject } from "../core/config/config-keys.ts";
import { Problem } from "../core/errors/problem.ts";
import { isStoreFailure } from "../core/errors/store-errors.ts";
import { LateTurn } from "./admission/fair-share.ts";
import type { RateLimits } from "./admission/rate-limits.ts";
import {
  type Authentication,
  authorizationOf,
  noCredential,
  type Proof,
} from "./authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import { carryOutDocument, type DocumentPlan, type DocumentsDeps, planDocument } from "./documents/handler.ts";
import { preflightHeaders } from "./http/cors.ts";
import type { Exchange } from "./http/exchange.ts";
import { acceptPatch } from "./http/patch.ts";
import type { HttpResponse } from "./http/response.ts";
import { carryOutObjects, type ObjectsDeps, type ObjectsPlan, planObjects } from "./objects/handler.ts";
import { carryOutDescription, type DescriptionPlan, type OpenapiDeps, planDescription } from "./openapi/handler.ts";
import type { KeptPlans } from "./operation/kept-plans.ts";
import type { PlanBase, PlanDeps, PlanInput, RenewPlan } from "./operation/plan.ts";
import { changedMeanwhile, releaseSlot, requireDataNotLost, requireNoLossMeanwhile } from "./operation/steps.ts";
import { findProject, type PublicAddress } from "./route/find-project.ts";
import { requestOrigin, requireHost } from "./route/request-origin.ts";
import { type RequestShape, requestShape, splitTarget } from "./route/request-target.ts";
import {
  allowedMethods,
  isWrite,
  route,
  routeOperation,
  type Subject,
  subjectOf,
  subPathOf,
  type Target,
} from "./route/route.ts";
import { carryOutSession, planSession, type SessionPlan, type SessionRouteDeps } from "./sessions/handler.ts";

export interface PipelineDeps extends PlanDeps, ObjectsDeps, DocumentsDeps, SessionRouteDeps, OpenapiDeps {
  readonly directory: Directory;
  readonly address: PublicAddress;
  readonly authentication: Authentication;
  readonly rates: RateLimits;
  /** Told of what the directory says of changes. */
  readonly plans: KeptPlans<KeptPlan>;
}

/** Depends neither on the id in the path, nor on the body, nor on headers other than Host and Authorization. */
type Plan = AllowedPlan | RefusedPlan;

type StoredPlan = ObjectsPlan | DocumentPlan;

type AllowedPlan = StoredPlan | SessionPlan | DescriptionPlan | OptionsPlan | ServerPlan;

/**
 * The caller may not do this, or the query is malformed. The rates are charged before the problem is thrown, for refusing costs something.
 */
interface RefusedPlan extends PlanBase {
  readonly kind: "refused";
  readonly problem: Problem;
}

/** An OPTIONS request. Browsers send preflights without credentials, so it has no caller, and no rate counts it. */
interface OptionsPlan {
  readonly kind: "options";
  readonly project: LiveProject;
  readonly usesStoredData: false;
  readonly methods: readonly string[];
}

/** OPTIONS of the whole server (RFC 9110 §9.3.7), by which clients and proxies look for one that answers. */
interface ServerPlan {
  readonly kind: "server";
  readonly usesStoredData: false;
}

const serverPlan: ServerPlan = Object.freeze({ kind: "server", usesStoredData: false });

/** What a request is allowed to do with stored data, and who was proved to send it. */
export interface KeptPlan {
  readonly plan: StoredPlan;
  readonly proof: Proof | undefined;
}

export function createPipeline(deps: PipelineDeps): (exchange: Exchange) => Promise<HttpResponse> {
  // Only plans of objects and documents are asked for, and each comes back as one of its kind.
  return serve.bind(undefined, deps, renewPlan.bind(undefined, deps) as RenewPlan);
}

async function serve(deps: PipelineDeps, renewPlan: RenewPlan, exchange: Exchange): Promise<HttpResponse> {
  /** From the moment when reading or writing stored data may have begun. */
  let usesStoredData = false;
  /**
   * Characters of the response, from which the fair share learns what the project's responses weigh; undefined = learn nothing from this
   * one.
   */
  let length: number | undefined;
  try {
    const shape = requestShape(deps.directory, deps.address.path, exchange.request, exchange.rawUrl);
    const plan = useKeptPlan(deps, shape, exchange) ?? (await newPlan(deps, shape, exchange));
    const charging = chargeRates(deps, plan, exchange);
    if (charging !== undefined) await charging;
    const allowed = requireAllowed(deps, plan);
    usesStoredData = allowed.usesStoredData;
    const response = await carryOut(deps, allowed, exchange, renewPlan);
    if (usesStoredData) requireNoLossMeanwhile(deps.directory);
    length = response.text?.length ?? 0;
    return response;
  } catch (error) {
    // A refusal is a response of next to no length. Other errors, as when the store fails, say nothing of what responses weigh.
    if (error instanceof Problem) length ??= 0;
    throw await reportedError(deps, exchange, { error, usesStoredData });
  } finally {
    releaseSlot(exchange, length);
    exchange.releaseBody?.();
  }
}

/** What is to be answered, once a refusal without a slot has had its turn. Throws `data_lost`. */
async function reportedError(
  deps: PipelineDeps,
  exchange: Exchange,
  { error, usesStoredData }: { readonly error: unknown; readonly usesStoredData: boolean },
): Promise<unknown> {
  // A failure of the store is reported as such, whether data were lost or not. Any other error, such as a 404, may come of the loss.
  if (usesStoredData && !isStoreFailure(error)) requireNoLossMeanwhile(deps.directory);
  exchange.releaseBody?.();
  exchange.releaseBody = undefined;
  // The answer stays, however long the turn is waited for. What slots don't bound is charged here.
  if (exchange.slot === undefined && !(error instanceof LateTurn))
    await inTurnOf(deps, exchange).catch(() => undefined);
  return error;
}

/** Waits for a turn of the project, or of all requests that name none. */
async function inTurnOf(deps: PipelineDeps, { project }: Exchange): Promise<void> {
  await deps.fairShare.of(project).inTurn(() => undefined);
}

/** The plan of an earlier request, with what deciding it found out for the exchange. */
function useKeptPlan(deps: PipelineDeps, shape: RequestShape | undefined, exchange: Exchange): AllowedPlan | undefined {
  if (shape === undefined) return undefined;
  const kept = deps.plans.find(shape.key);
  if (kept === undefined) return undefined;
  const { plan, proof } = kept;
  if (proof !== undefined && !deps.authentication.holds(proof)) {
    deps.plans.forget(shape.key);
    return undefined;
  }
  deps.directory.noteUse(plan.project);
  exchange.project = plan.project;
  exchange.proof = proof;
  exchange.subPath = shape.subPath;
  exchange.counters = plan.counters;
  if (plan.isWrite) exchange.generation = deps.plans.generation();
  return plan;
}

/** Decides, and keeps the plan for requests that are alike. */
async function newPlan(deps: PipelineDeps, shape: RequestShape | undefined, exchange: Exchange): Promise<Plan> {
  if (exchange.rawUrl === "*" && exchange.request.method === "OPTIONS") {
    requireHost(exchange.request);
    await inTurnOf(deps, exchange);
    return serverPlan;
  }
  const before = deps.plans.generation();
  const first = await decide(deps, exchange);
  const generation = deps.plans.generation();
  exchange.generation = generation;
  // A token's key may have been waited for, for seconds: what the Project says now counts. By now the token is remembered.
  const { plan, baseSegments } = generation === before ? first : await decide(deps, exchange);
  if (plan.kind !== "objects" && plan.kind !== "document") return plan;
  exchange.counters = plan.counters;
  // The public path may be written in another way, with percent signs: then the shape ends at another segment.
  if (shape === undefined || shape.baseSegments !== baseSegments) return plan;
  const { proof } = exchange;
  // A header that proved nothing was meant for a proxy, and may be a password.
  const isProved = proof !== undefined && proof !== noCredential;
  if (!isProved && exchange.request.headers.authorization !== undefined) return plan;
  deps.plans.keep(shape, { plan, proof }, { project: keyOfProject(plan.project.config), generation });
  return plan;
}

interface Decision {
  readonly plan: Plan;
  /** Segments of the path that name the project. */
  readonly baseSegments: number;
}

/**
 * Sets project, target and caller on the exchange as soon as each is known: the log and the metrics of a refused request have them. What takes
 * longer the more the request sends is done in turns of the project, which is found first.
 */
async function decide(deps: PipelineDeps, exchange: Exchange): Promise<Decision> {
  const { request } = exchange;
  const split = splitTarget(exchange.rawUrl);
  const found = findProject(deps, requireHost(request), split.segments);
  const resolved = found instanceof Promise ? await found : found;
  const { project } = resolved;
  exchange.project = project;
  const target = route(resolved.segments);
  exchange.target = target;
  exchange.subPath = subPathOf(target);
  const limiter = deps.fairShare.of(project);
  const subject = await limiter.inTurn(() => requireSubject(project, target, split.fault), exchange.slot);

  const baseSegments = split.segments.length - resolved.segments.length;
  const { method } = request;
  if (method === "OPTIONS") return { plan: planOptions(project, target), baseSegments };
  const operation = routeOperation(target, method);
  if (operation === undefined) throw methodNotAllowed(method, target);
  const authenticate = () => deps.authentication.authenticate(project, authorizationOf(project, request.raw));
  const proof = operation === "public" ? noCredential : await limiter.inTurn(authenticate, exchange.slot);
  exchange.proof = proof;

  const base = requestOrigin(request, deps.address, resolved.base === "") + resolved.base;
  const input = { project, method, operation, caller: proof.caller, base, query: split.query };
  return { plan: await limiter.inTurn(() => planOrRefusal(deps, input, subject), exchange.slot), baseSegments };
}

function requireSubject(project: LiveProject, target: Target, fault: Problem | undefined): Subject {
  if (fault) throw fault;
  if (project.config.serving === "Off") {
    throw new Problem("project_off", "The owner of the project has switched it off");
  }
  return subjectOf(project, target);
}

function planOrRefusal(deps: PipelineDeps, input: PlanInput, subject: Subject): Plan {
  try {
    return planOf(deps, input, subject);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const { project, caller, operation } = input;
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

function planOptions(project: LiveProject, target: Target): OptionsPlan {
  return { kind: "options", project, usesStoredData: false, methods: allowedMethods(target) };
}

/** Charges the project's rates, where it has any: a promise, because the store may have to be asked. Throws `rate_limited`. */
function chargeRates(deps: PipelineDeps, plan: Plan, exchange: Exchange): Promise<void> | undefined {
  if (plan.kind === "options" || plan.kind === "server") return undefined;
  const { config } = plan.project;
  if (config.limits.rate === undefined) return undefined;
  const requester = { caller: plan.caller, address: () => exchange.request.ip };
  exchange.rates = deps.rates.of(config, config.limits.rate, requester);
  return deps.rates.take(config, exchange.rates);
}

/** Throws why the request can't be carried out: the project takes no writes, its data are lost, or the caller may not do this. */
function requireAllowed(deps: PipelineDeps, plan: Plan): AllowedPlan {
  if (plan.kind === "options" || plan.kind === "server") return plan;
  if (plan.isWrite && plan.project.config.serving === "ReadOnly") {
    throw new Problem("project_read_only", "The owner of the project has made it read-only; reads still work");
  }
  if (plan.usesStoredData) requireDataNotLost(deps.directory);
  if (plan.kind === "refused") throw plan.problem;
  return plan;
}

/**
 * The plan of a write whose body has arrived, for which it could take as long as its client liked: decided again if anything was reported
 * since, or if its credential proves nothing any more. Without this a revoked key could write for half a minute, and into what was made
 * anew under a name whose data were purged. The rates were charged before.
 */
function renewPlan(deps: PipelineDeps, plan: StoredPlan, exchange: Exchange): StoredPlan | Promise<StoredPlan> {
  const { generation, proof } = exchange;
  if (generation === deps.plans.generation() && (proof === undefined || deps.authentication.holds(proof))) return plan;
  return decideAgain(deps, plan, exchange);
}

/** How often: something may change while it is decided, though seldom. */
const maxDecisions = 3;

/** Throws `project_busy` where something changes during each decision. */
async function decideAgain(deps: PipelineDeps, plan: StoredPlan, exchange: Exchange): Promise<StoredPlan> {
  for (let count = 0; count < maxDecisions; count += 1) {
    const before = deps.plans.generation();
    const decision = await decide(deps, exchange);
    exchange.generation = before;
    const again = requireAllowed(deps, decision.plan);
    if (again.kind !== plan.kind) throw new Error("A request was decided as one of another kind");
    if (before === deps.plans.generation()) return again;
  }
  throw changedMeanwhile();
}

function carryOut(
  deps: PipelineDeps,
  plan: AllowedPlan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<HttpResponse> | HttpResponse {
  switch (plan.kind) {
    case "objects":
      return carryOutObjects(deps, plan, exchange, renewPlan);
    case "document":
      return carryOutDocument(deps, plan, exchange, renewPlan);
    case "session":
      return carryOutSession(deps, plan, exchange);
    case "description":
      return carryOutDescription(deps, plan, exchange);
    case "options":
      return options(plan, exchange.request.headers.origin);
    case "server":
      return { status: 204, headers: { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } };
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

function options({ project, methods }: OptionsPlan, origin: string | undefined): HttpResponse {
  return {
    status: 204,
    headers: {
      Allow: methods.join(", "),
      ...(methods.includes("PATCH") && { "Accept-Patch": acceptPatch }),
      ...preflightHeaders(project.config.cors, origin, methods),
    },
  };
}
