// What happens to a request, in order: route → authenticate → rates, then the handler of its target's feature: authorize → read and
// validate → ask the store. Every step may refuse by throwing a Problem; nothing of the body is read before the caller is known to be
// allowed.

import { Problem } from "../core/errors/problem.ts";
import type { RateLimits } from "./admission/rate-limits.ts";
import { anonymous, type Caller } from "./authenticate/caller.ts";
import type { Authentication } from "./authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import { type DocumentsDeps, handleDocument } from "./documents/handler.ts";
import type { Answer } from "./http/answer.ts";
import { preflightHeaders } from "./http/cors.ts";
import type { Exchange } from "./http/exchange.ts";
import { acceptPatch } from "./http/patch.ts";
import { handleObjects, type ObjectsDeps } from "./objects/handler.ts";
import { handleDescription, type OpenapiDeps } from "./openapi/handler.ts";
import type { OperationContext } from "./operation/context.ts";
import { whileDataStay } from "./operation/data-loss.ts";
import type { Quotas } from "./quotas/quotas.ts";
import { findProject, requireHost } from "./route/find-project.ts";
import { accessRule, allowedMethods, isWrite, route, splitTarget, subjectOf, type Target } from "./route/route.ts";
import { handleSession, type SessionRouteDeps } from "./sessions/handler.ts";
import type { Store } from "./store/port.ts";

export interface PipelineDeps extends ObjectsDeps, DocumentsDeps, SessionRouteDeps, OpenapiDeps {
  readonly directory: Directory;
  readonly store: Store;
  readonly authentication: Authentication;
  readonly rates: RateLimits;
  readonly quotas: Quotas;
}

/** Carries a request out; whatever refuses throws. */
export async function serve(deps: PipelineDeps, exchange: Exchange): Promise<Answer> {
  const split = splitTarget(exchange.rawUrl);
  const host = requireHost(exchange.request);
  const resolved = await findProject(deps, host, split.segments);
  exchange.project = resolved.project;
  const target = route(resolved.segments);
  exchange.target = target;
  if (split.fault) throw split.fault;
  requireServing(resolved.project);
  const subject = subjectOf(resolved.project, target);

  const { method } = exchange.request;
  if (method === "OPTIONS") return options(resolved.project, target, exchange.request.headers.origin);
  const rule = accessRule(target, method);
  if (rule === undefined) throw methodNotAllowed(method, target);

  const caller = rule === "public" ? anonymous : await authenticate(deps, exchange, resolved.project);
  exchange.caller = caller;
  const { config } = resolved.project;
  if (config.limits.rate !== undefined) {
    exchange.rates = deps.rates.of(config, config.limits.rate, { caller, address: exchange.request.ip });
    await deps.rates.take(config, exchange.rates);
  }
  if (isWrite(rule)) requireWritable(resolved.project);
  const operation = { resolved, subject, rule, caller, query: split.query };
  if (subject.kind !== "objects" && subject.kind !== "document") return handle(deps, exchange, operation);
  return whileDataStay(deps.directory, resolved.project, () => handle(deps, exchange, operation));
}

function authenticate(deps: PipelineDeps, exchange: Exchange, project: LiveProject): Caller | Promise<Caller> {
  return deps.authentication.authenticate(project, exchange.request.headers.authorization);
}

function handle(given: PipelineDeps, exchange: Exchange, operation: OperationContext): Promise<Answer> {
  const deps = isWrite(operation.rule) ? underQuota(given, operation.resolved.project) : given;
  switch (operation.subject.kind) {
    case "objects":
      return handleObjects(deps, exchange, operation, operation.subject);
    case "document":
      return handleDocument(deps, exchange, operation, operation.subject);
    case "session":
      return handleSession(deps, exchange, operation, operation.subject.target);
    case "description":
      return handleDescription(deps, exchange, operation, operation.subject.target);
  }
}

/** Writes of a project with a quota go through a store that keeps it. */
function underQuota(deps: PipelineDeps, project: LiveProject): PipelineDeps {
  return project.config.limits.quota === undefined ? deps : { ...deps, store: deps.quotas.storeFor(project) };
}

function requireServing(project: LiveProject): void {
  if (project.config.serving === "Off") throw new Problem("project_off", "The project's owner switched it off");
}

function requireWritable(project: LiveProject): void {
  if (project.config.serving === "ReadOnly") {
    throw new Problem("project_read_only", "The project's owner made it read-only for now; reads go on");
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

function options(project: LiveProject, target: Target, origin: string | undefined): Answer {
  const methods = allowedMethods(target);
  return {
    status: 204,
    headers: {
      Allow: methods.join(", "),
      ...(methods.includes("PATCH") && { "Accept-Patch": acceptPatch }),
      ...preflightHeaders(project.config.cors, origin, methods),
    },
  };
}
