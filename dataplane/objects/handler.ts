// Requests for the objects of a resource: decides what is to be done (authorize, read the query),
// then reads, creates, updates and deletes. Refuses with 404 what the caller can't see, with 403
// what it may not change, and with 503 a write that lost too many races.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors/problem.ts";
import { WriteConflict, WritesRefused } from "../../core/errors/store-errors.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { type Selection, selected } from "../../core/json/selection.ts";
import { type Insertion, withInsertions } from "../../core/schema/defaults/filling.ts";
import type { Semaphore } from "../../core/semaphore.ts";
import { creatorOf, ownerOf } from "../authenticate/caller.ts";
import { authorizeObjects, type ObjectGrant } from "../authorize/authorize.ts";
import { askedChangesOf, viewQueryOf } from "../changes/asked.ts";
import { type FollowDeps, followChanges, withPosition } from "../changes/follow.ts";
import type { ClientPosition } from "../changes/positions.ts";
import { type FollowedSource, sourceOf } from "../changes/sources.ts";
import { deletedEvent, type ObjectsView, objectEvent, objectsView } from "../changes/views.ts";
import type { LiveResource } from "../config/directory.ts";
import {
  currentResponse,
  type Preconditions,
  requireCollectionPreconditions,
  requirePreconditions,
  writtenResponse,
} from "../http/conditional-requests.ts";
import { type HttpResponse, noContent } from "../http/exchange.ts";
import { generatedOf, recordKeyOf, recordOf, replayed } from "../operation/idempotency.ts";
import {
  type OperationDeps,
  type OperationPlan,
  type PlanDeps,
  type PlanInput,
  type PlannedRequest,
  planOperation,
  type SubjectOf,
} from "../operation/plan.ts";
import {
  acquireSlot,
  authorizedPreconditions,
  type GuardedWrite,
  guardWrites,
  type ReceivedWrite,
  receiveWrite,
  releaseSlot,
  writeConflict,
} from "../operation/steps.ts";
import type { WriteLock } from "../operation/write-lock.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import type { StoredObject } from "../store/ports/objects.ts";
import { type CollectionRef, collectionOf, type Owner } from "../store/ports/refs.ts";
import { validateList } from "./list/query.ts";
import { chosenFieldsOf } from "./list/query-parameters.ts";
import { planQuery, type QueryPlan } from "./list/query-plan.ts";
import { listObjects } from "./list/run.ts";
import type { ListRequest } from "./list/run-without-index.ts";
import { isObjectId, type ObjectIds } from "./object-ids.ts";
import type { CollectionPreparer } from "./prepare-collection.ts";
import {
  type Metadata,
  metadataOf,
  missingDefaults,
  newObjectText,
  type ObjectRules,
  objectRules,
  validateNew,
  validatePatch,
  validateUpdate,
} from "./validate-object.ts";

export interface ObjectsDeps extends OperationDeps<ObjectsPlan>, FollowDeps {
  readonly clock: Clock;
  readonly newId: ObjectIds;
  readonly lock: WriteLock;
  readonly preparer: CollectionPreparer;
  readonly scanSemaphore: Semaphore;
}

export interface ObjectsPlan extends OperationPlan {
  readonly kind: "objects";
  readonly collection: CollectionRef;
  readonly resource: LiveResource;
  readonly rules: ObjectRules;
  readonly grant: ObjectGrant;
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
    collection: collectionOf(config, resource.config),
    rules: objectRules(resource, config),
    url: `${input.base}/api/${target.resource}`,
    list: isList ? planQuery(validateList(input.query, resource.schema, config), resource.config.indexes) : undefined,
    fields: isOne && input.query !== "" ? chosenFieldsOf(input.query, resource.schema) : undefined,
  };
}

type ObjectsRequest = PlannedRequest<ObjectsPlan>;

export async function carryOutObjects(deps: ObjectsDeps, decided: ObjectsRequest): Promise<HttpResponse> {
  if (decided.plan.isWrite) return await write(deps, decided);
  const waiting = acquireSlot(deps, decided);
  const request = waiting === undefined ? decided : await waiting.then(() => deps.decideAgainIfChanged(decided));
  const { plan } = request;
  const preconditions = authorizedPreconditions(request);
  const preparing = deps.preparer.prepare(plan.resource, plan.collection);
  if (preparing !== undefined) await awaitIndexes(preparing);
  const { incoming } = request;
  const asked = askedChangesOf(incoming.request, incoming.rawUrl);
  if (asked !== undefined) {
    const source = await sourceOf(deps.decideAgainIfChanged, request, followedObjects(request));
    return await followChanges(deps, request, asked, [source]);
  }
  const read = (position?: () => Promise<ClientPosition>): Promise<HttpResponse> =>
    plan.list === undefined
      ? readObject(request, preconditions)
      : readList(deps, request, plan.list, { preconditions, ...(position && { position }) });
  if (plan.collection.changes === undefined) return await read();
  return await withPosition(plan.store, plan.collection, read, plan.list?.query.cursor?.after?.position);
}

/** Equal for equal selections. */
function selectionKey(fields: Selection | undefined): string {
  return JSON.stringify(fields ?? null, (_name, value) => (value instanceof Map ? [...value] : value));
}

/** The changes of the objects that the caller sees, or of one. */
export function followedObjects(request: ObjectsRequest): FollowedSource<ObjectsPlan> {
  const { plan, subPath, incoming } = request;
  const [id] = subPath;
  const fields = plan.list?.query.fields ?? plan.fields;
  const view: ObjectsView = {
    resource: plan.resource.config.name,
    visible: plan.grant.visible,
    ...(id !== undefined && { id }),
    matches: (text) => plan.list?.conditions.every((condition) => condition.matchesObject(text)) ?? true,
    shown: (text) => (fields === undefined ? text : selected(text, fields)),
    shownKey: `${plan.resource.revision} ${selectionKey(fields)}`,
    key: JSON.stringify([id, plan.grant.visible.owner, viewQueryOf(incoming.rawUrl), plan.resource.revision]),
  };
  return {
    of: plan.collection,
    view: objectsView(view),
    isSame: (current) => hasSameRules(plan, current),
    ...(id !== undefined && { first: firstOfObject(plan, view, id) }),
  };
}

function firstOfObject(
  { store, collection, grant }: ObjectsPlan,
  view: ObjectsView,
  id: string,
): NonNullable<FollowedSource<never>["first"]> {
  return async (position, isResumed) => {
    // No object ever had another id; and an event has the id as it is.
    if (!isObjectId(id)) throw missing();
    const stored = await store.read(collection, id, grant.visible);
    if (stored !== undefined) return [objectEvent(view, position, id, stored.text)];
    if (!isResumed) throw missing();
    return [deletedEvent(view, position, id)];
  };
}

/** Reads go on with the indexes that the store has while no others can be declared. */
async function awaitIndexes(preparing: Promise<void>): Promise<void> {
  try {
    await preparing;
  } catch (error) {
    if (!(error instanceof WritesRefused || error instanceof WriteConflict)) throw error;
  }
}

function readList(
  deps: ObjectsDeps,
  { plan, admission }: ObjectsRequest,
  list: QueryPlan,
  of: Pick<ListRequest, "preconditions" | "position">,
): Promise<HttpResponse> {
  const { resource } = plan;
  return listObjects({
    ...of,
    store: plan.store,
    collection: plan.collection,
    indexes: resource.config.indexes,
    visible: plan.grant.visible,
    plan: list,
    url: plan.url,
    scanSemaphore: deps.scanSemaphore,
    onIndexMissing: () => deps.preparer.forget(resource),
    // A scan waits for a semaphore of its own, and would keep its slot for long.
    onScan: () => releaseSlot(admission, undefined),
  });
}

async function readObject(request: ObjectsRequest, preconditions: Preconditions | undefined): Promise<HttpResponse> {
  const { fields } = request.plan;
  const { text } = await requireVisible(request);
  // The tag is that of the object, whatever is shown, so that a write may send it in If-Match.
  const response = currentResponse(text, preconditions);
  return fields === undefined || response.text === undefined
    ? response
    : { ...response, text: selected(response.text, fields) };
}

/** A write whose body has arrived, with what its operation needs. */
interface ObjectWrite extends ReceivedWrite {
  readonly request: ObjectsRequest;
  readonly plan: ObjectsPlan;
  readonly preconditions: Preconditions | undefined;
  readonly guarded: GuardedWrite;
}

async function write(deps: ObjectsDeps, decided: ObjectsRequest): Promise<HttpResponse> {
  const received = await receiveWrite(deps, decided);
  const request = await deps.decideAgainIfChanged(decided);
  const { body } = received;
  const { plan } = request;
  const preconditions = authorizedPreconditions(request);
  const preparing = deps.preparer.prepare(plan.resource, plan.collection);
  if (preparing !== undefined) await preparing;
  const guarded = guardWrites(deps, request, (current) => hasSameRules(plan, current));
  const writing = { ...received, request, plan, preconditions, guarded };
  if (body === undefined) return await deleteObject(deps, writing);
  if (plan.operation === "create") return await createObject(deps, writing, body);
  return await updateObject(deps, writing, body);
}

function hasSameRules(plan: ObjectsPlan, { resource, grant }: ObjectsPlan): boolean {
  return resource === plan.resource && isDeepStrictEqual(grant, plan.grant);
}

async function createObject(deps: ObjectsDeps, writing: ObjectWrite, body: CanonicalJson): Promise<HttpResponse> {
  const { request, plan, idempotencyKey: key } = writing;
  const { store, collection, resource, caller } = plan;
  const { uid, maxObjects } = resource.config;
  const post = key === undefined ? undefined : { project: plan.project.config, uid, caller, path: [], key, body };
  if (post) {
    // First of all: since the first request the schema may have changed, or the collection may be
    // full.
    const record = await store.idempotencyRecord(collection, recordKeyOf(post));
    if (record !== undefined) return replayCreate(plan, body, record);
  }
  requireCollectionPreconditions(writing.preconditions);
  const { id, createdMs } = deps.newId();
  const created = Math.floor(createdMs / 1000);
  const object = await plan.limiter.runFairly(
    () => ({
      id,
      owner: ownerOf(caller),
      text: validateNew(plan.rules, body, id, metadataBy(plan, created)),
      ...(post && { record: recordOf(post, [id, created, ...filledPart(plan.rules, body)]) }),
    }),
    request.admission.slot,
  );
  const result = await writing.guarded(() => store.create(collection, object, maxObjects));
  if (result.outcome === "repeated") return replayCreate(plan, body, result.record);
  if (result.outcome === "quota_exceeded") {
    throw new Problem("quota_exceeded", `The resource may hold at most ${maxObjects} objects; delete some first`);
  }
  return writtenResponse(201, result.text, { Location: `${plan.url}/${id}` });
}

/** The defaults that were filled in, for the record: the schema may change until it is read. */
function filledPart(rules: ObjectRules, body: CanonicalJson): readonly string[] {
  const insertions = missingDefaults(rules, body);
  return insertions.length === 0 ? [] : [Buffer.from(JSON.stringify(insertions)).toString("base64url")];
}

/** The response to the first of several equal requests: the record has what the service added. */
function replayCreate(plan: ObjectsPlan, body: CanonicalJson, record: string): HttpResponse {
  const [id = "", created, filled] = generatedOf(record, body);
  const insertions: Insertion[] = filled === undefined ? [] : JSON.parse(Buffer.from(filled, "base64url").toString());
  const text = newObjectText(withInsertions(body.text, insertions), id, metadataBy(plan, Number(created)));
  return writtenResponse(201, text, { Location: `${plan.url}/${id}`, ...replayed });
}

function metadataBy({ caller }: ObjectsPlan, created: number): Metadata {
  return { created, creator: creatorOf(caller), creator_type: caller.kind };
}

async function updateObject(deps: ObjectsDeps, writing: ObjectWrite, body: CanonicalJson): Promise<HttpResponse> {
  const { request, plan, patch, preconditions } = writing;
  const [id = ""] = request.subPath;
  const { store, collection, rules } = plan;
  return repeatedly(deps, request, async () => {
    const stored = await requireVisible(request);
    const owner = requireOwner(plan, stored);
    requirePreconditions(preconditions, stored.text);
    const text = await plan.limiter.runFairly(
      () => (patch ? validatePatch(rules, patch, stored.text) : validateUpdate(rules, body, stored.text)),
      request.admission.slot,
    );
    if (text === stored.text) return writtenResponse(200, text);
    const object = { id, owner, text };
    const result = await writing.guarded(() => store.replace(collection, object, stored));
    if (result.outcome === "not_found") throw missing();
    return result.outcome === "replaced" ? writtenResponse(200, result.text) : undefined;
  });
}

async function deleteObject(deps: ObjectsDeps, writing: ObjectWrite): Promise<HttpResponse> {
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
  return repeatedly(deps, writing.request, async () => {
    const stored = await requireVisible(writing.request);
    requireOwner(plan, stored);
    requirePreconditions(writing.preconditions, stored.text);
    const outcome = await writing.guarded(() => plan.store.removeUnchanged(plan.collection, id, stored));
    if (outcome === "not_found") throw missing();
    return outcome === "removed" ? noContent : undefined;
  });
}

/** Repeats an attempt that returns undefined where another replica's write came first. */
function repeatedly(
  { clock, lock }: ObjectsDeps,
  { plan, subPath: [id = ""] }: ObjectsRequest,
  attempt: () => Promise<HttpResponse | undefined>,
): Promise<HttpResponse> {
  return lock.withLock("object", [plan.resource.config.uid, id], async () => {
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
async function requireVisible({ plan, subPath: [id = ""] }: ObjectsRequest): Promise<StoredObject> {
  const { store, collection, grant } = plan;
  const stored = isObjectId(id) ? await store.read(collection, id, grant.visible) : undefined;
  if (!stored) throw missing();
  return stored;
}

/** The owner of an object that the caller may change. */
function requireOwner({ grant }: ObjectsPlan, stored: StoredObject): Owner {
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
