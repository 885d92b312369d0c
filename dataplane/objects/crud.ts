// Carries out create, read, update and delete of one object against the store. Refuses with 404 what the caller can't see,
// with 403 what it sees and may not change, and with 503 a write that lost too many races.

import type { Clock } from "../../core/clock.ts";
import type { ProjectConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { type Selection, selected } from "../../core/json/selection.ts";
import type { ProjectLimiter, Slot } from "../admission/fair-share.ts";
import { type Caller, creatorOf, ownerOf } from "../authenticate/caller.ts";
import type { ObjectGrant } from "../authorize/authorize.ts";
import type { LiveResource } from "../config/directory.ts";
import {
  currentResponse,
  type Preconditions,
  requireCollectionPreconditions,
  requirePreconditions,
  writtenResponse,
} from "../http/conditional-requests.ts";
import type { Patch } from "../http/patch.ts";
import { type HttpResponse, noContent } from "../http/response.ts";
import { generatedOf, recordKeyOf, recordOf, replayed } from "../operation/idempotency.ts";
import type { Recheck } from "../operation/steps.ts";
import { writeConflict } from "../operation/write-conflicts.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import type { IdempotencyRecords } from "../store/ports/idempotency.ts";
import type { ObjectReads, ObjectWrites, StoredObject } from "../store/ports/objects.ts";
import type { CollectionRef, Owner } from "../store/ports/refs.ts";
import { isObjectId, type ObjectIds } from "./object-ids.ts";
import {
  type Metadata,
  metadataOf,
  newObjectText,
  type ObjectRules,
  validateNew,
  validatePatch,
  validateUpdate,
} from "./validate-object.ts";

export interface ObjectDeps {
  readonly store: ObjectReads & ObjectWrites & IdempotencyRecords;
  readonly clock: Clock;
  readonly newId: ObjectIds;
  /** Held by the request while its object is validated. */
  readonly slot: Slot | undefined;
  readonly recheck: Recheck;
}

export interface ObjectContext {
  readonly collection: CollectionRef;
  readonly resource: LiveResource;
  readonly rules: ObjectRules;
  readonly grant: ObjectGrant;
  readonly preconditions: Preconditions | undefined;
  readonly limiter: ProjectLimiter;
}

/** Top-level fields to replace, or a patch. */
export type ObjectChange = { readonly fields: CanonicalJson } | { readonly patch: Patch };

export interface Creation {
  readonly project: ProjectConfig;
  readonly caller: Caller;
  readonly body: CanonicalJson;
  /** The collection's absolute URL. */
  readonly url: string;
  readonly idempotencyKey: string | undefined;
}

export async function createObject(
  deps: ObjectDeps,
  context: ObjectContext,
  creation: Creation,
): Promise<HttpResponse> {
  const { caller, body, url, idempotencyKey } = creation;
  const post =
    idempotencyKey === undefined
      ? undefined
      : { ...creation, uid: context.resource.config.uid, path: [], key: idempotencyKey };
  if (post) {
    // Before anything else: since the first request the schema may have changed, or the collection may be full.
    const record = await deps.store.idempotencyRecord(context.collection, recordKeyOf(post));
    if (record !== undefined) return replayCreate(creation, record);
  }
  requireCollectionPreconditions(context.preconditions);
  const { id, createdMs } = deps.newId();
  const created = Math.floor(createdMs / 1000);
  const text = await context.limiter.inTurn(
    () => validateNew(context.rules, body, id, metadataBy(caller, created)),
    deps.slot,
  );
  await deps.recheck();
  const { maxObjects } = context.resource.config;
  const object = { id, owner: ownerOf(caller), text, ...(post && { record: recordOf(post, [id, created]) }) };
  const result = await deps.store.create(context.collection, object, maxObjects);
  if (result.outcome === "repeated") return replayCreate(creation, result.record);
  if (result.outcome === "quota_exceeded") {
    throw new Problem("quota_exceeded", `The resource may hold at most ${maxObjects} objects; delete some first`);
  }
  return writtenResponse(201, result.text, { Location: `${url}/${id}` });
}

/** The response to the first of several equal requests, made again: the body is the same, so the record has only what the service added. */
function replayCreate({ caller, body, url }: Creation, record: string): HttpResponse {
  const [id = "", created] = generatedOf(record, body);
  const text = newObjectText(body, id, metadataBy(caller, Number(created)));
  return writtenResponse(201, text, { Location: `${url}/${id}`, ...replayed });
}

function metadataBy(caller: Caller, created: number): Metadata {
  return { created, creator: creatorOf(caller), creator_type: caller.kind };
}

export async function readObject(
  store: ObjectReads,
  context: ObjectContext,
  id: string,
  fields?: Selection,
): Promise<HttpResponse> {
  const stored = isObjectId(id) ? await store.read(context.collection, id, context.grant.visible) : undefined;
  if (!stored) throw missing();
  // The tag is the whole object's, whatever is shown of it, so that a write may name it in If-Match.
  const response = currentResponse(stored.text, context.preconditions);
  return fields === undefined || response.text === undefined
    ? response
    : { ...response, text: selected(response.text, fields) };
}

export async function updateObject(
  deps: ObjectDeps,
  context: ObjectContext,
  id: string,
  change: ObjectChange,
): Promise<HttpResponse> {
  const deadline = deps.clock.monotonic() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const stored = await requireVisible(deps.store, context, id);
    const owner = requireOwner(context, stored);
    requirePreconditions(context.preconditions, stored.text);
    const text = await context.limiter.inTurn(() => changedText(context, change, stored.text), deps.slot);
    if (text === stored.text) return writtenResponse(200, text);
    await deps.recheck();
    const result = await deps.store.replace(context.collection, { id, owner, text }, stored);
    if (result.outcome === "replaced") return writtenResponse(200, result.text);
    if (result.outcome === "not_found") throw missing();
    if (deps.clock.monotonic() >= deadline) throw writeConflict("object");
    await pauseAfterConflict(attempt);
  }
}

function changedText({ rules }: ObjectContext, change: ObjectChange, stored: string): string {
  return "patch" in change ? validatePatch(rules, change.patch, stored) : validateUpdate(rules, change.fields, stored);
}

export async function deleteObject(deps: ObjectDeps, context: ObjectContext, id: string): Promise<HttpResponse> {
  const { store } = deps;
  if (!isObjectId(id)) throw missing();
  if (context.preconditions !== undefined) return deleteConditionally(deps, context, id);
  await deps.recheck();
  if (await store.remove(context.collection, id, context.grant.writable)) return noContent;
  const seen =
    context.grant.writable.owner === undefined
      ? undefined
      : await store.read(context.collection, id, context.grant.visible);
  throw seen ? notWritable() : missing();
}

async function deleteConditionally(deps: ObjectDeps, context: ObjectContext, id: string): Promise<HttpResponse> {
  const deadline = deps.clock.monotonic() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const stored = await requireVisible(deps.store, context, id);
    requireOwner(context, stored);
    requirePreconditions(context.preconditions, stored.text);
    await deps.recheck();
    const outcome = await deps.store.removeUnchanged(context.collection, id, stored);
    if (outcome === "removed") return noContent;
    if (outcome === "not_found") throw missing();
    if (deps.clock.monotonic() >= deadline) throw writeConflict("object");
    await pauseAfterConflict(attempt);
  }
}

/** The object, which the caller can see. Throws `not_found`. */
async function requireVisible(store: ObjectReads, context: ObjectContext, id: string): Promise<StoredObject> {
  const stored = isObjectId(id) ? await store.read(context.collection, id, context.grant.visible) : undefined;
  if (!stored) throw missing();
  return stored;
}

/** The owner of an object that the caller may change. */
function requireOwner({ grant }: ObjectContext, stored: StoredObject): Owner {
  const { creator, creator_type } = metadataOf(stored.text);
  const owner = `${creator_type}:${creator}`;
  if (grant.writable.owner !== undefined && grant.writable.owner !== owner) throw notWritable();
  return owner;
}

function missing(): Problem {
  return new Problem("not_found", "No object with this id exists, or the caller may not see it");
}

function notWritable(): Problem {
  return new Problem(
    "insufficient_access",
    "The caller may read this object but not change it, because another caller created it",
  );
}
