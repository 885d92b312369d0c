// Requests for the value of a root key, at any path: deciding what is to be done (authorize), then carrying it out: read and validate
// what the request brings, acquire a slot of the fair share, ask the store.

import { isDeepStrictEqual } from "node:util";
import type { RootKeyConfig } from "../../core/config/types.ts";
import { authorizeDocument, type DocumentGrant, requirePermission } from "../authorize/authorize.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HttpResponse } from "../http/response.ts";
import {
  type OperationDeps,
  type OperationPlan,
  type PlanDeps,
  type PlanInput,
  planOperation,
  type RenewPlan,
  type SubjectOf,
} from "../operation/plan.ts";
import {
  acquireSlot,
  authorizedPreconditions,
  type Recheck,
  receiveWrite,
  recheckOf,
  type SentBody,
} from "../operation/steps.ts";
import type { DocumentRef } from "../store/ports/refs.ts";
import type { DocumentLock } from "./document-lock.ts";
import {
  type DocumentContext,
  deleteDocument,
  insertDocument,
  patchDocument,
  putDocument,
  readDocument,
} from "./reads-and-writes.ts";

export interface DocumentsDeps extends OperationDeps {
  readonly lock: DocumentLock;
}

export interface DocumentPlan extends OperationPlan {
  readonly kind: "document";
  readonly rootKey: RootKeyConfig;
  readonly document: DocumentRef;
  readonly grant: DocumentGrant;
}

export function planDocument(
  deps: PlanDeps,
  input: PlanInput,
  { target, rootKey }: SubjectOf<"document">,
): DocumentPlan {
  const { config } = input.project;
  const plan = planOperation(deps, input, target, rootKey.access.read);
  const grant = authorizeDocument(config, rootKey, plan.operation, input.caller);
  // A patch reveals what is there: by its answer, and by its tests.
  if (input.method === "PATCH") requirePermission(config, rootKey.access.read, "read", input.caller);
  return { kind: "document", ...plan, rootKey, grant, document: { project: config, rootKey: rootKey.key } };
}

export function carryOutDocument(
  deps: DocumentsDeps,
  plan: DocumentPlan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<HttpResponse> {
  if (plan.isWrite) return write(deps, plan, exchange, renewPlan);
  const acquired = acquireSlot(deps, plan, exchange, { renewPlan });
  return acquired instanceof Promise
    ? acquired.then((current) => readDocument(current.store, contextOf(current, exchange)))
    : readDocument(acquired.store, contextOf(acquired, exchange));
}

function contextOf(plan: DocumentPlan, exchange: Exchange): DocumentContext {
  const { project, rootKey, document, caller, grant, limiter } = plan;
  const preconditions = authorizedPreconditions(plan, exchange);
  return { project: project.config, rootKey, document, path: pathOf(exchange), caller, grant, preconditions, limiter };
}

async function write(
  deps: DocumentsDeps,
  decided: DocumentPlan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<HttpResponse> {
  const { plan, ...sent } = await receiveWrite(deps, decided, exchange, renewPlan);
  const context = { ...contextOf(plan, exchange), recheck: recheckWith(plan, exchange, renewPlan) };
  const comparesAndSets = sent.patch !== undefined || context.preconditions !== undefined;
  if (!comparesAndSets) return await change(plan, context, sent);
  const { project, rootKey, path } = context;
  return await deps.lock.hold([project.namespace, project.name, rootKey.key, ...path], async () => {
    // Those before it may have taken seconds.
    const current = await renewPlan(plan, exchange);
    const recheck = recheckWith(current, exchange, renewPlan);
    return change(current, { ...contextOf(current, exchange), slot: exchange.slot, recheck }, sent);
  });
}

function recheckWith(plan: DocumentPlan, exchange: Exchange, renewPlan: RenewPlan): Recheck {
  const hasSameRules = ({ rootKey, grant }: DocumentPlan): boolean =>
    isDeepStrictEqual([rootKey, grant], [plan.rootKey, plan.grant]);
  return recheckOf(plan, exchange, renewPlan, hasSameRules);
}

function change(
  { store, operation }: DocumentPlan,
  context: DocumentContext,
  { body, patch, idempotencyKey }: SentBody,
): Promise<HttpResponse> {
  if (body === undefined) return deleteDocument(store, context);
  if (patch) return patchDocument(store, context, patch);
  if (operation === "create") return insertDocument(store, context, body, idempotencyKey);
  return putDocument(store, context, body);
}

function pathOf({ subPath }: Exchange): DocumentContext["path"] {
  if (subPath === undefined) throw new Error("A request for a value names no root key");
  return subPath;
}
