// Requests for the objects of a resource: deciding what is to be done (authorize, read the query), then carrying it out: read and validate
// what the request brings, acquire a slot of the fair share, ask the store.

import { isDeepStrictEqual } from "node:util";
import { WriteConflict, WritesRefused } from "../../core/errors/store-errors.ts";
import type { Selection } from "../../core/json/selection.ts";
import type { Semaphore } from "../../core/semaphore.ts";
import { authorizeObjects } from "../authorize/authorize.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HttpResponse } from "../http/response.ts";
import {
  maxObjectBytes,
  type OperationDeps,
  type OperationPlan,
  type PlanDeps,
  type PlanInput,
  planOperation,
  type RenewPlan,
  type SubjectOf,
} from "../operation/plan.ts";
import { acquireSlot, authorizedPreconditions, receiveWrite, recheckOf, releaseSlot } from "../operation/steps.ts";
import { createObject, deleteObject, type ObjectContext, type ObjectDeps, readObject, updateObject } from "./crud.ts";
import { validateList } from "./list/query.ts";
import { chosenFieldsOf } from "./list/query-parameters.ts";
import { planQuery, type QueryPlan } from "./list/query-plan.ts";
import { listObjects } from "./list/run.ts";
import type { CollectionPreparer } from "./prepare-collection.ts";

export interface ObjectsDeps extends OperationDeps, Omit<ObjectDeps, "store" | "slot" | "recheck"> {
  readonly preparer: CollectionPreparer;
  readonly scanSemaphore: Semaphore;
}

export interface ObjectsPlan extends OperationPlan, ObjectContext {
  readonly kind: "objects";
  readonly preconditions: undefined;
  /** The collection's absolute URL. */
  readonly url: string;
  /** How a list is answered; undefined for other requests. */
  readonly list: QueryPlan | undefined;
  /** What a request for one object is shown of it; undefined = everything. */
  readonly fields: Selection | undefined;
}

export function planObjects(deps: PlanDeps, input: PlanInput, { target, resource }: SubjectOf<"objects">): ObjectsPlan {
  const { config } = input.project;
  const plan = planOperation(deps, input, target, resource.config.access.read);
  const grant = authorizeObjects(config, resource.config, plan.operation, input.caller);
  const isList = target.kind === "collection" && plan.operation === "read";
  const isOne = target.kind === "object" && plan.operation === "read";
  return {
    kind: "objects",
    ...plan,
    resource,
    grant,
    collection: { project: config, resource: target.resource },
    rules: { schema: resource.schema, maxBytes: maxObjectBytes(config.limits) },
    preconditions: undefined,
    url: `${input.base}/api/${target.resource}`,
    list: isList ? planQuery(validateList(input.query, resource.schema, config), resource.config.indexes) : undefined,
    fields: isOne && input.query !== "" ? chosenFieldsOf(input.query, resource.schema) : undefined,
  };
}

export function carryOutObjects(
  deps: ObjectsDeps,
  plan: ObjectsPlan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<HttpResponse> {
  if (plan.isWrite) return write(deps, plan, exchange, renewPlan);
  const acquired = acquireSlot(deps, plan, exchange, { renewPlan });
  return acquired instanceof Promise
    ? acquired.then((current) => readWithIndexes(deps, current, exchange))
    : readWithIndexes(deps, acquired, exchange);
}

/** Reads once the store knows the resource's indexes. */
function readWithIndexes(deps: ObjectsDeps, plan: ObjectsPlan, exchange: Exchange): Promise<HttpResponse> {
  const preconditions = authorizedPreconditions(plan, exchange);
  const context = preconditions === undefined ? plan : { ...plan, preconditions };
  const preparing = deps.preparer.prepare(plan.resource, plan.collection);
  return preparing === undefined
    ? read(deps, plan, context, exchange)
    : awaitIndexes(preparing).then(() => read(deps, plan, context, exchange));
}

function read(deps: ObjectsDeps, plan: ObjectsPlan, context: ObjectContext, exchange: Exchange): Promise<HttpResponse> {
  const { store, list, url, resource, fields, collection, grant } = plan;
  if (list === undefined) return readObject(store, context, idOf(exchange), fields);
  return listObjects({
    store,
    collection,
    indexes: resource.config.indexes,
    visible: grant.visible,
    plan: list,
    preconditions: context.preconditions,
    url,
    scanSemaphore: deps.scanSemaphore,
    onIndexMissing: () => deps.preparer.forget(resource),
    // A scan waits for a semaphore of its own, and would hold its slot for long.
    onScan: () => releaseSlot(exchange, undefined),
  });
}

async function write(
  deps: ObjectsDeps,
  decided: ObjectsPlan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<HttpResponse> {
  const { plan, body, patch, idempotencyKey } = await receiveWrite(deps, decided, exchange, renewPlan);
  const preconditions = authorizedPreconditions(plan, exchange);
  const context = preconditions === undefined ? plan : { ...plan, preconditions };
  const preparing = deps.preparer.prepare(plan.resource, plan.collection);
  if (preparing !== undefined) await preparing;
  const { slot } = exchange;
  const recheck = recheckOf(plan, exchange, renewPlan, (current) => hasSameRules(plan, current));
  const objects = { store: plan.store, clock: deps.clock, newId: deps.newId, slot, recheck };
  if (body === undefined) return await deleteObject(objects, context, idOf(exchange));
  if (plan.operation === "create") {
    const { caller, url } = plan;
    const creation = { project: plan.project.config, caller, body, url, idempotencyKey };
    return await createObject(objects, context, creation);
  }
  return await updateObject(objects, context, idOf(exchange), patch ? { patch } : { fields: body });
}

function hasSameRules(plan: ObjectsPlan, { resource, grant }: ObjectsPlan): boolean {
  return resource === plan.resource && isDeepStrictEqual(grant, plan.grant);
}

/** While the store takes no writes, or others keep declaring indexes, they can't be declared: reads go on with those that the store has. */
async function awaitIndexes(preparing: Promise<void>): Promise<void> {
  try {
    await preparing;
  } catch (error) {
    if (!(error instanceof WritesRefused || error instanceof WriteConflict)) throw error;
  }
}

function idOf({ subPath }: Exchange): string {
  const id = subPath?.[0];
  if (id === undefined) throw new Error("A request for one object names none");
  return id;
}
