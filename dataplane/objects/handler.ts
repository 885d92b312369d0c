// Handles requests for the objects of a resource: authorize, read and validate, then ask the store.

import { WritesRefused } from "../../core/errors/store-errors.ts";
import type { Semaphore } from "../../core/semaphore.ts";
import { authorizeObjects } from "../authorize/authorize.ts";
import type { Answer } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import { admittedBody, noBody, present, type SentBody } from "../operation/body.ts";
import {
  admittedPreconditions,
  baseUrl,
  type LinkDeps,
  maxObjectBytes,
  type OperationContext,
  type OperationDeps,
  type SubjectOf,
} from "../operation/context.ts";
import { beginWork, endWork } from "../operation/work.ts";
import { isWrite } from "../route/route.ts";
import {
  createObject,
  deleteObject,
  type ObjectChange,
  type ObjectContext,
  type ObjectDeps,
  readObject,
  updateObject,
} from "./crud.ts";
import { chosenFieldsOf } from "./list/fields.ts";
import { validateList } from "./list/query.ts";
import { listObjects } from "./list/run.ts";
import type { CollectionPreparer } from "./prepare-collection.ts";

export interface ObjectsDeps extends OperationDeps, LinkDeps, ObjectDeps {
  readonly preparer: CollectionPreparer;
  readonly scanSemaphore: Semaphore;
}

export async function handleObjects(
  deps: ObjectsDeps,
  exchange: Exchange,
  operation: OperationContext,
  { target, resource }: SubjectOf<"objects">,
): Promise<Answer> {
  const { project } = operation.resolved;
  if (operation.rule === "own" || operation.rule === "public") throw new Error("An object route has no operation");
  const grant = authorizeObjects(project.config, resource.config, operation.rule, operation.caller);
  const preconditions = admittedPreconditions(exchange, operation, resource.config.access.read);
  const collection = { project: project.config, resource: target.resource };
  const maxBytes = maxObjectBytes(project.config.limits);
  const context: ObjectContext = { collection, resource, maxBytes, grant, preconditions };
  const query =
    target.kind === "collection" && operation.rule === "read"
      ? validateList(operation.query, resource.schema, project.config)
      : undefined;
  const sent = isWrite(operation.rule) ? await admittedBody(deps, exchange, operation) : noBody;
  const waiting = beginWork(deps, exchange, operation);
  if (waiting !== undefined) await waiting;
  const preparing = prepare(deps, operation, context);
  if (preparing !== undefined) await preparing;

  if (target.kind === "collection") {
    const url = `${baseUrl(deps, exchange, operation.resolved)}/api/${target.resource}`;
    const onIndexMissing = () => deps.preparer.forget(resource);
    const onScan = () => endWork(exchange, undefined);
    const { store, scanSemaphore } = deps;
    if (query) return listObjects(store, context, { query, url, onIndexMissing, scanSemaphore, onScan });
    const creation = { project: project.config, caller: operation.caller, body: present(sent.body), base: url };
    return createObject(deps, context, { ...creation, idempotencyKey: sent.idempotencyKey });
  }
  if (operation.rule === "read")
    return readObject(deps.store, context, target.id, chosenFieldsOf(operation.query, resource.schema));
  if (operation.rule === "delete") return deleteObject(deps, context, target.id);
  return updateObject(deps, context, target.id, changeOf(sent));
}

/** While the store takes no writes, what it has is read by the indexes that it has. */
function prepare(
  { preparer }: ObjectsDeps,
  { rule }: OperationContext,
  { resource, collection }: ObjectContext,
): Promise<void> | undefined {
  const preparing = preparer.prepare(resource, collection);
  if (preparing === undefined || isWrite(rule)) return preparing;
  return preparing.catch((error: unknown) => {
    if (!(error instanceof WritesRefused)) throw error;
  });
}

function changeOf({ body, patch }: SentBody): ObjectChange {
  return patch ? { patch } : { fields: present(body) };
}
