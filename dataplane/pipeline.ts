// What happens to a request, in order: route → authenticate → limit → authorize → read and validate → perform. Every stage may
// refuse by throwing a Problem; nothing of the body is read before the caller is known to be allowed.

import type { Permission } from "../core/config/types.ts";
import { Problem } from "../core/errors/problem.ts";
import type { CanonicalJson } from "../core/json/canonical.ts";
import type { Turns } from "../core/turns.ts";
import { demandAnonymousWrite } from "./authenticate/anonymous-writes.ts";
import type { Authentication } from "./authenticate/authentication.ts";
import { anonymous, type Caller } from "./authenticate/caller.ts";
import {
  authenticationRequired,
  authorizeDescription,
  authorizeDocument,
  authorizeObjects,
  authorizeReferencePage,
  demandReadToo,
} from "./authorize/authorize.ts";
import type { Directory, LiveProject } from "./config/directory.ts";
import type { Exchange } from "./exchange.ts";
import type { RateLimits } from "./limit/rate-limits.ts";
import type { Descriptions } from "./perform/descriptions.ts";
import {
  type DocumentScene,
  deleteDocument,
  insertDocument,
  patchDocument,
  putDocument,
  readDocument,
} from "./perform/documents.ts";
import { listObjects } from "./perform/list-objects.ts";
import {
  createObject,
  deleteObject,
  type ObjectChange,
  type ObjectDeps,
  type ObjectScene,
  readObject,
  updateObject,
} from "./perform/objects.ts";
import type { CollectionPreparer } from "./perform/prepare-collection.ts";
import type { ProjectShares, Work } from "./perform/project-shares.ts";
import { endSession, listSessions, login, readSession, refresh } from "./perform/sessions.ts";
import type { Quotas } from "./quotas/quotas.ts";
import type { ReferencePage } from "./reference/reference-page.ts";
import { type Answer, ok } from "./respond/answer.ts";
import { currentAnswer } from "./respond/conditional.ts";
import { preflightHeaders } from "./respond/cors.ts";
import { requestOrigin } from "./respond/request-base.ts";
import { findProject, type Place } from "./route/find-project.ts";
import { demandHost } from "./route/host-name.ts";
import type { PublicAddress } from "./route/public-address.ts";
import { route } from "./route/route.ts";
import { splitTarget } from "./route/split-path.ts";
import { type Subject, subjectOf } from "./route/subject.ts";
import { type AccessRule, accessRule, allowedMethods, isWrite, type Target } from "./route/targets.ts";
import type { Store } from "./store/port.ts";
import type { BodyBudgets } from "./validate/body-budget.ts";
import { chosenFieldsOf } from "./validate/chosen-fields.ts";
import { idempotencyKeyOf } from "./validate/idempotency-key.ts";
import { acceptPatch, bodyDepth, type Patch, patchFormatOf, readPatch } from "./validate/patch.ts";
import { type Preconditions, preconditionsOf } from "./validate/preconditions.ts";
import { readBody } from "./validate/read-body.ts";
import { validateList } from "./validate/validate-list.ts";

export interface PipelineDeps extends ObjectDeps {
  readonly store: Store;
  readonly directory: Directory;
  readonly authentication: Authentication;
  readonly preparer: CollectionPreparer;
  readonly scanTurns: Turns;
  readonly shares: ProjectShares;
  readonly bodies: BodyBudgets;
  readonly rates: RateLimits;
  readonly descriptions: Descriptions;
  readonly quotas: Quotas;
  readonly referencePage: ReferencePage;
  /** Its origin is that of links when a request names no host. */
  readonly address: PublicAddress;
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
  return perform(deps, exchange, { place, subject, rule, caller, query: split.query });
}

function authenticate(deps: PipelineDeps, exchange: Exchange, project: LiveProject): Caller | Promise<Caller> {
  return deps.authentication.authenticate(project, exchange.request.headers.authorization);
}

/** An allowed method on a known target by a known caller. */
interface Act {
  readonly place: Place;
  readonly subject: Subject;
  readonly rule: AccessRule;
  readonly caller: Caller;
  readonly query: string;
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

async function onObjects(
  deps: PipelineDeps,
  exchange: Exchange,
  act: Act,
  { target, resource }: Subject & { kind: "objects" },
): Promise<Answer> {
  const { project } = act.place;
  if (act.rule === "own" || act.rule === "public") throw new Error("An object route has no operation");
  const grant = authorizeObjects(project.config, resource.config, act.rule, act.caller);
  const preconditions = admittedPreconditions(exchange, act, resource.config.access.read);
  const collection = { project: project.config, resource: target.resource };
  const scene: ObjectScene = { collection, resource, grant, preconditions };
  const query =
    target.kind === "collection" && act.rule === "read"
      ? validateList(act.query, resource.schema, project.config)
      : undefined;
  const sent = isWrite(act.rule) ? await admittedBody(deps, exchange, act) : noBody;
  const waiting = beginWork(deps, exchange, act);
  if (waiting !== undefined) await waiting;
  const preparing = deps.preparer.prepare(resource, scene.collection);
  if (preparing !== undefined) await preparing;

  if (target.kind === "collection") {
    const url = `${baseUrl(deps, exchange, act.place)}/api/${target.resource}`;
    const onIndexMissing = () => deps.preparer.forget(resource);
    const onScan = () => endWork(exchange, undefined);
    const { store, scanTurns } = deps;
    if (query) return listObjects(store, scene, { query, url, onIndexMissing, scanTurns, onScan });
    const creation = { project: project.config, caller: act.caller, body: present(sent.body), base: url };
    return createObject(deps, scene, { ...creation, idempotencyKey: sent.idempotencyKey });
  }
  if (act.rule === "read") return readObject(deps.store, scene, target.id, chosenFieldsOf(act.query, resource.schema));
  if (act.rule === "delete") return deleteObject(deps, scene, target.id);
  return updateObject(deps, scene, target.id, changeOf(project, sent));
}

function changeOf({ config }: LiveProject, { body, patch }: SentBody): ObjectChange {
  return patch ? { patch, maxBytes: config.limits.maxBodyBytes } : { fields: present(body) };
}

async function onDocument(
  deps: PipelineDeps,
  exchange: Exchange,
  act: Act,
  { target, rootKey }: Subject & { kind: "document" },
): Promise<Answer> {
  const { config } = act.place.project;
  if (act.rule === "own" || act.rule === "public") throw new Error("A document route has no operation");
  const grant = authorizeDocument(config, rootKey, act.rule, act.caller);
  const document = { project: config, rootKey: rootKey.key };
  const preconditions = admittedPreconditions(exchange, act, rootKey.access.read);
  const { path } = target;
  const scene: DocumentScene = { project: config, rootKey, document, path, caller: act.caller, grant, preconditions };
  // A patch tells what is there: by its answer, and by its tests.
  if (exchange.request.method === "PATCH") demandReadToo(config, rootKey.access.read, act.caller);
  const { body, patch, idempotencyKey } = isWrite(act.rule) ? await admittedBody(deps, exchange, act) : noBody;
  const waiting = beginWork(deps, exchange, act);
  if (waiting !== undefined) await waiting;
  if (act.rule === "read") return readDocument(deps.store, scene);
  if (act.rule === "delete") return deleteDocument(deps.store, scene);
  if (patch) return patchDocument(deps.store, scene, patch);
  if (act.rule === "create") return insertDocument(deps.store, scene, present(body), idempotencyKey);
  return putDocument(deps.store, scene, present(body));
}

/** What the request says of the state that it wants to find; who may not read must not find that out by guessing. */
function admittedPreconditions(exchange: Exchange, act: Act, read: Permission): Preconditions | undefined {
  const preconditions = preconditionsOf(exchange.request.headers);
  if (preconditions !== undefined) demandReadToo(act.place.project.config, read, act.caller);
  return preconditions;
}

/** What a write says. */
interface SentBody {
  readonly body?: CanonicalJson;
  /** The body of a PATCH, read. */
  readonly patch?: Patch;
  readonly idempotencyKey?: string | undefined;
}

const noBody: SentBody = Object.freeze({});

/** The body of a write that has one, once the write is admitted. */
async function admittedBody(deps: PipelineDeps, exchange: Exchange, act: Act): Promise<SentBody> {
  const { project } = act.place;
  if (act.caller.kind === "anonymous") {
    await demandAnonymousWrite(deps.store, project.config, exchange.request.ip);
  }
  if (act.rule === "delete") return noBody;
  const format = patchFormatOf(exchange.request.raw);
  const idempotencyKey = act.rule === "create" ? idempotencyKeyOf(exchange.request.headers) : undefined;
  const body = await bodyOf(deps, exchange, project, bodyDepth(format));
  return format === undefined ? { body, idempotencyKey } : { body, patch: readPatch(format, body) };
}

const readUnits = 1;
const writeUnits = 2;
const usualBytes = 1024 * 1024;

/**
 * Takes the request's part in its project's share; a promise when it has to wait for that. From here on nothing is waited for
 * that the client decides, so a slow client holds no share.
 */
function beginWork(deps: PipelineDeps, exchange: Exchange, act: Act): Promise<void> | undefined {
  const begun = (work: Work): void => {
    exchange.work = work;
  };
  const { limits } = act.place.project.config;
  // Where values may be larger than usual, fewer are under way before their sizes are known.
  const largest = Math.max(limits.maxDocumentBytes, limits.maxBodyBytes);
  const units = (isWrite(act.rule) ? writeUnits : readUnits) * Math.max(1, Math.ceil(largest / usualBytes));
  const work = deps.shares.of(act.place.project).begin(units);
  if (work instanceof Promise) return work.then(begun);
  begun(work);
  return undefined;
}

/** `length` = characters of the answer, if there is one. Does nothing for a request that has no work under way, or none any more. */
export function endWork(exchange: Exchange, length: number | undefined): void {
  const { work } = exchange;
  exchange.work = undefined;
  work?.end(length);
}

async function onSession(
  deps: PipelineDeps,
  exchange: Exchange,
  act: Act,
  target: (Subject & { kind: "session" })["target"],
): Promise<Answer> {
  const { authentication } = deps;
  const { project } = act.place;
  const { headers, ip } = exchange.request;
  switch (target.kind) {
    case "keys":
      return ok(JSON.stringify(authentication.jwks(project)));
    case "refresh":
      return refresh(authentication, project, headers.authorization);
    case "sessions": {
      const url = `${baseUrl(deps, exchange, act.place)}/sessions`;
      if (act.rule === "public") {
        return login(authentication, project, { authorization: headers.authorization, address: ip, url });
      }
      return listSessions(authentication, project, known(project, act.caller));
    }
    case "session": {
      const caller = known(project, act.caller);
      const ends = exchange.request.method === "DELETE";
      return (ends ? endSession : readSession)(authentication, project, caller, target.id);
    }
  }
}

async function onDescription(
  deps: PipelineDeps,
  exchange: Exchange,
  act: Act,
  target: (Subject & { kind: "description" })["target"],
): Promise<Answer> {
  const { project } = act.place;
  if (target.kind === "docs") {
    authorizeReferencePage(project.config, act.caller);
    const { headers } = exchange.request;
    return deps.referencePage({ file: target.file, target: exchange.rawUrl, headers });
  }
  authorizeDescription(project.config, act.caller);
  const text = await deps.descriptions.textOf(project, baseUrl(deps, exchange, act.place));
  return currentAnswer(text, preconditionsOf(exchange.request.headers));
}

function known(project: LiveProject, caller: Caller): Caller {
  if (caller.kind === "anonymous") throw authenticationRequired(project.config);
  return caller;
}

function bodyOf(deps: PipelineDeps, exchange: Exchange, project: LiveProject, depth: number): Promise<CanonicalJson> {
  const body = {
    budget: deps.bodies.of(project),
    message: exchange.request.raw,
    refused: exchange.bodyRefused,
    hold: (release: () => void) => {
      exchange.releaseBody = release;
    },
    invite: () => exchange.inviteBody?.(),
  };
  return readBody(project.config.limits.maxBodyBytes, body, depth);
}

function present(body: CanonicalJson | undefined): CanonicalJson {
  if (!body) throw new Error("A write was performed without its body");
  return body;
}

function baseUrl(deps: PipelineDeps, exchange: Exchange, place: Place): string {
  return requestOrigin(exchange.request, deps.address.origin) + place.base;
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
