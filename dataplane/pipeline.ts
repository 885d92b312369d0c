// What happens to a request, in order: route → authenticate → limit, then what its target asks for (act/): authorize → read and
// validate → perform. Every stage may refuse by throwing a Problem; nothing of the body is read before the caller is known to be
// allowed.

import { Problem } from "../core/errors/problem.ts";
import type { RateLimits } from "./admission/rate-limits.ts";
import { anonymous, type Caller } from "./authenticate/caller.ts";
import type { Authentication } from "./authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import { type DocumentsDeps, onDocument } from "./documents/handler.ts";
import type { Answer } from "./http/answer.ts";
import { preflightHeaders } from "./http/cors.ts";
import type { Exchange } from "./http/exchange.ts";
import { acceptPatch } from "./http/patch.ts";
import { type ObjectsDeps, onObjects } from "./objects/handler.ts";
import { type OpenapiDeps, onDescription } from "./openapi/handler.ts";
import type { Act } from "./operation/context.ts";
import { whileDataStay } from "./operation/demand-data.ts";
import type { Quotas } from "./quotas/quotas.ts";
import { findProject } from "./route/find-project.ts";
import { demandHost } from "./route/host-name.ts";
import { route } from "./route/route.ts";
import { splitTarget } from "./route/split-path.ts";
import { subjectOf } from "./route/subject.ts";
import { accessRule, allowedMethods, isWrite, type Target } from "./route/targets.ts";
import { onSession, type SessionRouteDeps } from "./sessions/handler.ts";
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
  const host = demandHost(exchange.request);
  const place = await findProject(deps, host, split.segments);
  exchange.project = place.project;
  const target = route(place.segments);
  exchange.target = target;
  if (split.fault) throw split.fault;
  demandServing(place.project);
  const subject = subjectOf(place.project, target);

  const { method } = exchange.request;
  if (method === "OPTIONS") return options(place.project, target, exchange.request.headers.origin);
  const rule = accessRule(target, method);
  if (rule === undefined) throw methodNotAllowed(method, target);

  const caller = rule === "public" ? anonymous : await authenticate(deps, exchange, place.project);
  exchange.caller = caller;
  const { config } = place.project;
  if (config.limits.rate !== undefined) {
    exchange.rates = deps.rates.of(config, config.limits.rate, { caller, address: exchange.request.ip });
    await deps.rates.demand(config, exchange.rates);
  }
  if (isWrite(rule)) demandWritable(place.project);
  const act = { place, subject, rule, caller, query: split.query };
  if (subject.kind !== "objects" && subject.kind !== "document") return perform(deps, exchange, act);
  return whileDataStay(deps.directory, place.project, () => perform(deps, exchange, act));
}

function authenticate(deps: PipelineDeps, exchange: Exchange, project: LiveProject): Caller | Promise<Caller> {
  return deps.authentication.authenticate(project, exchange.request.headers.authorization);
}

function perform(given: PipelineDeps, exchange: Exchange, act: Act): Promise<Answer> {
  const deps = isWrite(act.rule) ? underQuota(given, act.place.project) : given;
  switch (act.subject.kind) {
    case "objects":
      return onObjects(deps, exchange, act, act.subject);
    case "document":
      return onDocument(deps, exchange, act, act.subject);
    case "session":
      return onSession(deps, exchange, act, act.subject.target);
    case "description":
      return onDescription(deps, exchange, act, act.subject.target);
  }
}

/** Writes of a project with a quota go through a store that keeps it. */
function underQuota(deps: PipelineDeps, project: LiveProject): PipelineDeps {
  return project.config.limits.quota === undefined ? deps : { ...deps, store: deps.quotas.storeFor(project) };
}

function demandServing(project: LiveProject): void {
  if (project.config.serving === "Off") throw new Problem("project_off", "The project's owner switched it off");
}

function demandWritable(project: LiveProject): void {
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
