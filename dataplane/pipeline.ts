// What happens to a request, in two steps. `decide`: host, method, target and credential → plan,
// which depends on these and on the configuration alone. Plans are cached for later requests like
// it, until something changes. `carryOut`: the feature receives, reads and validates what the
// request sends, and asks the store. In between, the project's rates are charged, and what the plan
// refuses is refused. No body is read before the caller is known to be allowed.

import type { IncomingHttpHeaders } from "node:http";
import { keyOfProject } from "../core/config/config-keys.ts";
import type { ProjectRef } from "../core/config/types.ts";
import { Problem } from "../core/errors/problem.ts";
import { isStoreFailure } from "../core/errors/store-errors.ts";
import { RefusedLate } from "./admission/fair-share.ts";
import type { RateLimits } from "./admission/rate-limits.ts";
import type { SharedBucket } from "./admission/shared-bucket.ts";
import { type Authentication, noCredential } from "./authenticate/create-authentication.ts";
import { askedOfMany } from "./changes/asked.ts";
import { acquireReadSlot, followChanges } from "./changes/follow.ts";
import { type Source, sourceOf } from "./changes/sources.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import {
  type AllowedPlan,
  type ChangesPlan,
  type DecideDeps,
  decide,
  type Plan,
  type PlannedDecision,
  type RejectedDecision,
  type ServerPlan,
  type StoredPlan,
  type TransferPlan,
} from "./decide.ts";
import { carryOutDocument, type DocumentsDeps, followedValue } from "./documents/handler.ts";
import { optionsResponse } from "./http/cors.ts";
import {
  type Answer,
  emptyContext,
  type HttpResponse,
  type IncomingRequest,
  type RequestContext,
} from "./http/exchange.ts";
import { carryOutObjects, followedObjects } from "./objects/handler.ts";
import type { ObjectsDeps } from "./objects/plan.ts";
import { carryOutDescription, type OpenapiDeps } from "./openapi/handler.ts";
import type { Admission, OperationDeps, PlannedRequest } from "./operation/plan.ts";
import type { PlanCache } from "./operation/plan-cache.ts";
import {
  changedMeanwhile,
  dataLostMeanwhile,
  releaseSlot,
  requireDataNotLost,
  requireNoLossMeanwhile,
} from "./operation/steps.ts";
import { requireHost } from "./route/request-origin.ts";
import { type RequestShape, requestShape } from "./route/request-target.ts";
import { carryOutSession, type SessionRouteDeps } from "./sessions/handler.ts";
import { carryOutExport, type ExportDeps } from "./transfer/export.ts";
import { carryOutImport } from "./transfer/import.ts";
import type { ImportDeps } from "./transfer/plan-import.ts";

interface PipelineDeps
  extends DecideDeps,
    Omit<ObjectsDeps, "decideAgainIfChanged">,
    Omit<DocumentsDeps, "decideAgainIfChanged">,
    Omit<ExportDeps, "decideAgainIfChanged" | "exportsUnderWay">,
    SessionRouteDeps,
    OpenapiDeps {
  readonly directory: Directory;
  readonly authentication: Authentication;
  readonly rates: RateLimits;
  /** The directory's changes are reported to it. */
  readonly plans: PlanCache<CachedPlan>;
}

const serverPlan: ServerPlan = Object.freeze({ kind: "server", usesStoredData: false });

/** A plan that later requests use, with the context that each gets. */
export interface CachedPlan {
  readonly plan: StoredPlan;
  readonly context: RequestContext;
}

/** The end of the first step. A rejected request is not charged: it has no plan. */
type Decision = PlannedDecision | RejectedDecision;

interface Pipeline {
  readonly deps: PipelineDeps;
  readonly objects: ObjectsDeps;
  readonly documents: DocumentsDeps;
  readonly exports: ExportDeps;
  readonly imports: ImportDeps;
}

export function createPipeline(deps: PipelineDeps): (incoming: IncomingRequest) => Promise<Answer> {
  const objects = { ...deps, decideAgainIfChanged: decidingAgain(deps, (plan) => plan.kind === "objects") };
  const documents = { ...deps, decideAgainIfChanged: decidingAgain(deps, (plan) => plan.kind === "document") };
  const exports = {
    ...deps,
    exportsUnderWay: new Map(),
    decideAgainIfChanged: decidingAgain(deps, (plan) => plan.kind === "export"),
  };
  const imports = { ...deps, decideAgainIfChanged: decidingAgain(deps, (plan) => plan.kind === "import") };
  return serve.bind(undefined, { deps, objects, documents, exports, imports });
}

async function serve(pipeline: Pipeline, incoming: IncomingRequest): Promise<Answer> {
  const { deps } = pipeline;
  const admission: Admission = { slot: undefined, releaseBody: undefined };
  let context = emptyContext;
  /** From the moment when reading or writing stored data may have begun. */
  let usesStoredData = false;
  /**
   * Characters of the response, for the limiter's estimate; undefined if the store failed.
   */
  let length: number | undefined;
  try {
    const shape = requestShape(deps.directory, deps.address.path, incoming.request, incoming.rawUrl);
    const decision = findPlan(deps, shape) ?? (await newDecision(deps, incoming, shape));
    context = decision.context;
    if (decision.outcome === "rejected") throw decision.error;
    const rated = ratesOf(deps, decision.plan, incoming);
    if (rated !== undefined) {
      context = { ...context, rates: rated.buckets };
      await deps.rates.take(rated.project, rated.buckets);
    }
    const plan = requireAllowed(deps, decision.plan);
    usesStoredData = plan.usesStoredData;
    const { subPath, generation } = decision;
    const response = await carryOut(pipeline, plan, { incoming, subPath, proof: context.proof, generation, admission });
    // A stream of changes finds out by itself that its log is lost.
    if (usesStoredData && response.stream === undefined) requireNoLossMeanwhile(deps.directory);
    length = response.text?.length ?? 0;
    return { context, response };
  } catch (error) {
    // A refusal is a response of almost no length. A failed store says nothing about others.
    if (error instanceof Problem) length ??= 0;
    return { context, error: await reportedError(deps, error, { context, admission, usesStoredData }) };
  } finally {
    releaseSlot(admission, length);
    admission.releaseBody?.();
  }
}

interface FailedRequest {
  readonly context: RequestContext;
  readonly admission: Admission;
  readonly usesStoredData: boolean;
}

/**
 * The error to send, `data_lost` in place of what may come of a loss. Waits until the project may
 * compute.
 */
async function reportedError(
  deps: PipelineDeps,
  error: unknown,
  { context, admission, usesStoredData }: FailedRequest,
): Promise<unknown> {
  // A failure of the store is reported as such, whether data were lost or not.
  if (usesStoredData && !isStoreFailure(error) && deps.directory.dataLost()) return dataLostMeanwhile();
  admission.releaseBody?.();
  admission.releaseBody = undefined;
  // Slots bound the requests that hold one; refusing any other one is charged here.
  if (admission.slot === undefined && !(error instanceof RefusedLate)) {
    await awaitFairness(deps, context.project).catch(() => undefined);
  }
  return error;
}

/** Waits until the project may compute, or all requests that name none may. */
async function awaitFairness(deps: PipelineDeps, project: LiveProject | undefined): Promise<void> {
  await deps.fairShare.of(project).runFairly(() => undefined);
}

function findPlan(deps: PipelineDeps, shape: RequestShape | undefined): PlannedDecision | undefined {
  if (shape === undefined) return undefined;
  const cached = deps.plans.find(shape.key);
  if (cached === undefined) return undefined;
  const { plan, context } = cached;
  if (context.proof !== undefined && !deps.authentication.holds(context.proof)) {
    deps.plans.forget(shape.key);
    return undefined;
  }
  deps.directory.touch(plan.project);
  return { outcome: "planned", context, plan, subPath: shape.subPath, generation: deps.plans.generation() };
}

/** Decides, and caches the plan for requests that are alike. */
async function newDecision(
  deps: PipelineDeps,
  incoming: IncomingRequest,
  shape: RequestShape | undefined,
): Promise<Decision> {
  const before = deps.plans.generation();
  const { request, rawUrl } = incoming;
  if (rawUrl === "*" && request.method === "OPTIONS") {
    requireHost(request);
    await awaitFairness(deps, undefined);
    return { outcome: "planned", context: emptyContext, plan: serverPlan, subPath: [], generation: before };
  }
  const first = await decide(deps, incoming);
  const generation = deps.plans.generation();
  // A token's key may have been waited for, for seconds: what the Project says now counts.
  const again = generation !== before && first.outcome === "planned";
  const decided = again ? await decide(deps, incoming) : first;
  if (decided.outcome === "rejected") return decided;
  const { plan, subPath, baseSegments } = decided;
  if (plan.kind !== "objects" && plan.kind !== "document") return { ...decided, generation };
  const context = { ...decided.context, counters: plan.counters };
  // Where the public path has percent signs, the shape ends at another segment.
  if (shape !== undefined && shape.baseSegments === baseSegments && mayBeCached(request.headers, context)) {
    const { project, proof, counters } = context;
    const source = { project: keyOfProject(plan.project.config), generation };
    deps.plans.put(shape, { plan, context: { project, proof, counters } }, source);
  }
  return { outcome: "planned", context, plan, subPath, generation };
}

/** A header that proved nothing was meant for a proxy, and may be a password. */
function mayBeCached(headers: IncomingHttpHeaders, { proof }: RequestContext): boolean {
  const isProved = proof !== undefined && proof !== noCredential;
  return isProved || headers.authorization === undefined;
}

/** The buckets that the request takes from; undefined in a project without rates. */
function ratesOf(
  deps: PipelineDeps,
  plan: Plan,
  { request }: IncomingRequest,
): { readonly project: ProjectRef; readonly buckets: readonly SharedBucket[] } | undefined {
  if (plan.kind === "options" || plan.kind === "server") return undefined;
  const { config } = plan.project;
  const { rate } = config.limits;
  if (rate === undefined) return undefined;
  const requester = { caller: plan.caller, address: () => request.ip };
  return { project: config, buckets: deps.rates.of(config, rate, requester) };
}

/** Throws where the project takes no writes, its data are lost, or the plan is a refusal. */
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
 * A body, a slot or a lock may take seconds, in which a key is revoked or data are purged. So a
 * request is decided again if a change of its project was reported since, or if its credential
 * proves nothing any more. The rates were charged before.
 */
function decidingAgain<Kind extends StoredPlan | TransferPlan>(
  deps: PipelineDeps,
  isSameKind: (plan: AllowedPlan) => plan is Kind,
): OperationDeps<Kind>["decideAgainIfChanged"] {
  return (request) => {
    const { generation, proof } = request;
    const isProved = proof === undefined || deps.authentication.holds(proof);
    const isCurrent =
      generation === deps.plans.generation() ||
      deps.plans.isCurrent(keyOfProject(request.plan.project.config), generation);
    return isCurrent && isProved ? request : decideAgain(deps, request, isSameKind);
  };
}

/** How often: something may change while it is decided, though seldom. */
const maxDecisions = 3;

/** Throws `project_busy` where something changes during each decision. */
async function decideAgain<Kind extends StoredPlan | TransferPlan>(
  deps: PipelineDeps,
  request: PlannedRequest<Kind>,
  isSameKind: (plan: AllowedPlan) => plan is Kind,
): Promise<PlannedRequest<Kind>> {
  for (let count = 0; count < maxDecisions; count += 1) {
    const generation = deps.plans.generation();
    const decision = await decide(deps, request.incoming, request.admission.slot);
    if (decision.outcome === "rejected") throw decision.error;
    const plan = requireAllowed(deps, decision.plan);
    if (!isSameKind(plan)) throw new Error("A request was decided as one of another kind");
    const { subPath, context } = decision;
    if (generation === deps.plans.generation()) return { ...request, plan, subPath, proof: context.proof, generation };
  }
  throw changedMeanwhile();
}

async function carryOutChanges(
  { deps, objects, documents }: Pipeline,
  request: PlannedRequest<ChangesPlan>,
): Promise<HttpResponse> {
  const { incoming: all, admission } = request;
  const [path = ""] = all.rawUrl.split("?", 1);
  const base = path.replace(/\/changes\/?$/, "");
  const { asked, sources } = askedOfMany(all.request, all.rawUrl);
  await acquireReadSlot(deps, request, sources.length);
  const followed: Source[] = [];
  for (const source of sources) {
    const incoming = { ...all, rawUrl: `${base}/${source}` };
    const decision = await newDecision(deps, incoming, undefined);
    if (decision.outcome === "rejected") throw decision.error;
    const plan = requireAllowed(deps, decision.plan);
    const { subPath, generation, context } = decision;
    const one = { incoming, subPath, generation, proof: context.proof, admission };
    if (plan.kind === "objects") {
      followed.push(await sourceOf(objects.decideAgainIfChanged, { ...one, plan }, followedObjects({ ...one, plan })));
    } else if (plan.kind === "document") {
      followed.push(await sourceOf(documents.decideAgainIfChanged, { ...one, plan }, followedValue({ ...one, plan })));
    }
  }
  return await followChanges(deps, request, asked, followed);
}

function carryOut(
  pipeline: Pipeline,
  plan: AllowedPlan,
  request: Omit<PlannedRequest<AllowedPlan>, "plan">,
): Promise<HttpResponse> | HttpResponse {
  const { deps, objects, documents, exports, imports } = pipeline;
  switch (plan.kind) {
    case "objects":
      return carryOutObjects(objects, { ...request, plan });
    case "document":
      return carryOutDocument(documents, { ...request, plan });
    case "changes":
      return carryOutChanges(pipeline, { ...request, plan });
    case "export":
      return carryOutExport(exports, { ...request, plan });
    case "import":
      return carryOutImport(imports, { ...request, plan });
    case "session":
      return carryOutSession(deps, { ...request, plan });
    case "description":
      return carryOutDescription(deps, plan, request.incoming);
    case "options":
      return optionsResponse(plan.project.config.cors, request.incoming.request.headers.origin, plan.methods);
    case "server":
      return { status: 204, headers: { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } };
  }
}
