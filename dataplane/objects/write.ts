// Creates, updates and deletes objects: reads, validates, then writes what still is what it read.
// Refuses with 404 what the caller can't see, with 403 what it may not change, with 409
// `not_unique` values that another object has, and with 503 a write that lost too many races.

import type { ResourceConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { idIn } from "../../core/object-id.ts";
import type { Insertion } from "../../core/schema/defaults/filling.ts";
import { withInsertions } from "../../core/schema/defaults/filling.ts";
import { creatorOf, ownerOf } from "../authenticate/caller.ts";
import {
  type Preconditions,
  requireCollectionPreconditions,
  requirePreconditions,
  writtenResponse,
} from "../http/conditional-requests.ts";
import { type HttpResponse, noContent } from "../http/exchange.ts";
import { generatedOf, recordKeyOf, recordOf, replayed } from "../operation/idempotency.ts";
import { type GuardedWrite, type ReceivedWrite, writeConflict } from "../operation/steps.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import type { IdempotencyRecord, Repeated } from "../store/ports/idempotency.ts";
import type { CreateOutcome, StoredObject } from "../store/ports/objects.ts";
import type { Owner } from "../store/ports/refs.ts";
import { isObjectId } from "./object-ids.ts";
import type { ObjectsDeps, ObjectsPlan, ObjectsRequest } from "./plan.ts";
import type { Metadata } from "./stored-metadata.ts";
import { notUnique } from "./unique-values.ts";
import {
  expiredAlready,
  metadataOf,
  missingDefaults,
  newObjectText,
  type ObjectRules,
  validateNew,
  validatePatch,
  validateUpdate,
} from "./validate-object.ts";

/** A write whose body has arrived, with what its operation needs. */
export interface ObjectWrite extends ReceivedWrite {
  readonly request: ObjectsRequest;
  readonly plan: ObjectsPlan;
  readonly preconditions: Preconditions | undefined;
  readonly guarded: GuardedWrite;
}

export async function createObject(
  deps: ObjectsDeps,
  writing: ObjectWrite,
  body: CanonicalJson,
): Promise<HttpResponse> {
  const { plan, idempotencyKey: key } = writing;
  const { store, collection, resource, caller } = plan;
  const { uid } = resource.config;
  const post = key === undefined ? undefined : { project: plan.project.config, uid, caller, path: [], key, body };
  if (post) {
    // First of all: since the first request the schema may have changed, or the collection may be
    // full.
    const record = await store.idempotencyRecord(collection, recordKeyOf(post));
    if (record !== undefined) return replayCreate(plan, body, record);
  }
  requireCollectionPreconditions(writing.preconditions);
  const result = await createNew(deps, writing, body, post && ((generated) => recordOf(post, generated)));
  return result.outcome === "repeated" ? replayCreate(plan, body, result.record) : createdResponse(plan, result);
}

/** `recordFor` = the idempotency record with what the service adds to the body. */
export async function createNew(
  deps: ObjectsDeps,
  { request, plan, guarded }: ObjectWrite,
  body: CanonicalJson,
  recordFor?: (generated: readonly (string | number)[]) => IdempotencyRecord,
): Promise<CreateOutcome> {
  const { store, collection, resource, caller } = plan;
  const { id, createdMs } = deps.newId();
  const created = Math.floor(createdMs / 1000);
  const object = await plan.limiter.runFairly(() => {
    const text = newText(plan, body, id, metadataBy(plan, created));
    const record = recordFor?.([id, created, ...recordedDefaults(plan.rules, body)]);
    return { id, owner: ownerOf(caller), text, ...(record && { record }) };
  }, request.admission.slot);
  return guarded(() => store.create(collection, object, resource.config.maxObjects));
}

function newText({ rules, upsert }: ObjectsPlan, body: CanonicalJson, id: string, metadata: Metadata): string {
  const text = validateNew(rules, upsert === undefined ? body : upsert.filledIn(body), id, metadata);
  upsert?.requireValues(text);
  return text;
}

export function createdResponse(
  { url, resource }: ObjectsPlan,
  result: Exclude<CreateOutcome, Repeated>,
): HttpResponse {
  switch (result.outcome) {
    case "created":
      return writtenResponse(201, result.text, { Location: `${url}/${idIn(result.text)}` });
    case "not_unique":
      throw notUnique(result.rule);
    case "expired":
      throw expiredAlready(resource.config.expiry);
    case "exists":
      throw new Error("The id of a new object is taken");
    case "quota_exceeded":
      throw resourceFull(resource.config);
  }
}

export function resourceFull({ maxObjects }: Pick<ResourceConfig, "maxObjects">): Problem {
  return new Problem("quota_exceeded", `The resource may hold at most ${maxObjects} objects; delete some first`);
}

/** The response to the first of several equal requests: the record has what the service added. */
function replayCreate(plan: ObjectsPlan, body: CanonicalJson, record: string): HttpResponse {
  const [id = "", created, recorded] = generatedOf(record, body);
  const data = withInsertions(body.text, recalledDefaults(recorded, plan.rules, body));
  const text = newObjectText(data, id, metadataBy(plan, Number(created)));
  return writtenResponse(201, text, { Location: `${plan.url}/${id}`, ...replayed });
}

function metadataBy({ caller }: ObjectsPlan, created: number): Metadata {
  return { created, creator: creatorOf(caller), creator_type: caller.kind };
}

export async function updateObject(
  deps: ObjectsDeps,
  writing: ObjectWrite,
  body: CanonicalJson,
): Promise<HttpResponse> {
  const { plan, subPath } = writing.request;
  return repeatedly(deps, plan, subPath[0] ?? "", async () => {
    const stored = await requireVisible(writing.request);
    const outcome = await replaceStored(writing, body, stored);
    if (outcome === "not_found") throw missing();
    return outcome === "conflict" ? undefined : outcome;
  });
}

/** Writes the update of an object that was read: its response, or why that one is there no more. */
export async function replaceStored(
  { request, plan, patch, preconditions, guarded }: ObjectWrite,
  body: CanonicalJson,
  stored: StoredObject,
): Promise<HttpResponse | "conflict" | "not_found"> {
  const { store, collection, rules, upsert } = plan;
  const owner = requireOwner(plan, stored);
  requirePreconditions(preconditions, stored.text);
  const text = await plan.limiter.runFairly(
    () =>
      patch
        ? validatePatch(rules, patch, stored.text)
        : validateUpdate(rules, upsert?.filledInside(body) ?? body, stored.text),
    request.admission.slot,
  );
  upsert?.requireValues(text);
  if (text === stored.text && collection.durability === undefined) return writtenResponse(200, text);
  const object = { id: idIn(stored.text), owner, text };
  const result = await guarded(() => store.replace(collection, object, stored));
  if (result.outcome === "not_unique") throw notUnique(result.rule);
  if (result.outcome === "expired") throw expiredAlready(plan.resource.config.expiry);
  return result.outcome === "replaced" ? writtenResponse(200, result.text) : result.outcome;
}

export async function deleteObject(deps: ObjectsDeps, writing: ObjectWrite): Promise<HttpResponse> {
  const { plan, preconditions } = writing;
  const { store, collection, grant } = plan;
  const [id = ""] = writing.request.subPath;
  if (!isObjectId(id)) throw missing();
  if (preconditions !== undefined) return deleteConditionally(deps, writing, id);
  if (await writing.guarded(() => store.remove(collection, id, grant.writable))) return noContent;
  const mayBeAnothers = grant.writable.owner !== undefined;
  const seen = mayBeAnothers ? await store.read(collection, id, grant.visible) : undefined;
  throw seen ? notWritable() : missing();
}

function deleteConditionally(deps: ObjectsDeps, writing: ObjectWrite, id: string): Promise<HttpResponse> {
  const { plan } = writing;
  return repeatedly(deps, plan, id, async () => {
    const stored = await requireVisible(writing.request);
    requireOwner(plan, stored);
    requirePreconditions(writing.preconditions, stored.text);
    const outcome = await writing.guarded(() => plan.store.removeUnchanged(plan.collection, id, stored));
    if (outcome === "not_found") throw missing();
    return outcome === "removed" ? noContent : undefined;
  });
}

/**
 * Repeats an attempt that returns undefined where another replica's write came first. `what` names
 * what the attempts of one replica are made for in turn.
 */
export function repeatedly(
  { clock, lock }: ObjectsDeps,
  { resource }: ObjectsPlan,
  what: string,
  attempt: () => Promise<HttpResponse | undefined>,
): Promise<HttpResponse> {
  return lock.withLock("object", [resource.config.uid, what], async () => {
    const deadline = clock.monotonic() + conflictBudgetMs;
    for (let count = 0; ; count += 1) {
      const response = await attempt();
      if (response !== undefined) return response;
      if (clock.monotonic() >= deadline) throw writeConflict("object");
      await pauseAfterConflict(count);
    }
  });
}

/** The object, which the caller can see. Throws `not_found`. */
export async function requireVisible({ plan, subPath: [id = ""] }: ObjectsRequest): Promise<StoredObject> {
  const { store, collection, grant } = plan;
  const stored = isObjectId(id) ? await store.read(collection, id, grant.visible) : undefined;
  if (!stored) throw missing();
  return stored;
}

/** The owner of an object that the caller may change. */
export function requireOwner({ grant }: ObjectsPlan, stored: StoredObject): Owner {
  const owner = ownerOfStored(stored);
  if (grant.writable.owner !== undefined && grant.writable.owner !== owner) throw notWritable();
  return owner;
}

export function ownerOfStored({ text }: StoredObject): Owner {
  const { creator, creator_type } = metadataOf(text);
  return `${creator_type}:${creator}`;
}

export function missing(): Problem {
  return new Problem("not_found", "No object with this id exists, or the caller may not see it");
}

function notWritable(): Problem {
  return new Problem(
    "insufficient_access",
    "The caller may read this object but not change it, because another caller created it",
  );
}

/** Characters: a record counts for no quota, and array items may have a million defaults. */
const maxRecorded = 4096;
const notRecorded = "-";

/**
 * What a POST with an Idempotency-Key filled in, as a part of its record: until it is repeated, the
 * schema may change. Without spaces; none where nothing was filled in.
 */
function recordedDefaults(rules: ObjectRules, body: CanonicalJson): readonly string[] {
  const insertions = missingDefaults(rules, body);
  if (insertions.length === 0) return [];
  // Each takes more than one character.
  if (insertions.length > maxRecorded) return [notRecorded];
  const recorded = Buffer.from(JSON.stringify(insertions)).toString("base64url");
  return [recorded.length > maxRecorded ? notRecorded : recorded];
}

/** Those of the first time; of what was too long to record, those of now. */
function recalledDefaults(recorded: string | undefined, rules: ObjectRules, body: CanonicalJson): readonly Insertion[] {
  if (recorded === undefined) return [];
  if (recorded === notRecorded) return missingDefaults(rules, body);
  return JSON.parse(Buffer.from(recorded, "base64url").toString()) as Insertion[];
}
