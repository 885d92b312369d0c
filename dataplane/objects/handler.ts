// Requests for the objects of a resource: reads and lists them, follows their changes, and receives
// what writes them (write.ts, upsert.ts). Refuses with 404 what the caller can't see.

import { WriteConflict, WritesRefused } from "../../core/errors/store-errors.ts";
import { type Selection, selected } from "../../core/json/selection.ts";
import { askedChangesOf, viewQueryOf } from "../changes/asked.ts";
import { followChanges, withPosition } from "../changes/follow.ts";
import type { ClientPosition } from "../changes/positions.ts";
import { type FollowedSource, sourceOf } from "../changes/sources.ts";
import { deletedEvent, type ObjectsView, objectEvent, objectsView } from "../changes/views.ts";
import { currentResponse, type Preconditions } from "../http/conditional-requests.ts";
import type { HttpResponse } from "../http/exchange.ts";
import { acquireSlot, authorizedPreconditions, guardWrites, receiveWrite, releaseSlot } from "../operation/steps.ts";
import { countObjects } from "./list/count-by.ts";
import { askedColumns } from "./list/csv.ts";
import type { QueryPlan } from "./list/query-plan.ts";
import { listObjects } from "./list/run.ts";
import type { ListRequest } from "./list/run-without-index.ts";
import { isObjectId } from "./object-ids.ts";
import { hasSameRules, type ObjectsDeps, type ObjectsPlan, type ObjectsRequest } from "./plan.ts";
import { upsertObject } from "./upsert.ts";
import { createObject, deleteObject, missing, requireVisible, updateObject } from "./write.ts";

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
  const after = plan.list?.query.cursor?.after;
  // Pages before it were read without one, as before their changes were logged.
  const lacksPosition = after !== undefined && after.position === undefined;
  if (plan.collection.changes === undefined || lacksPosition) return await read();
  return await withPosition(plan.store, plan.collection, read, after?.position);
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
  { plan, admission, incoming }: ObjectsRequest,
  list: QueryPlan,
  of: Pick<ListRequest, "preconditions" | "position">,
): Promise<HttpResponse> {
  const { resource } = plan;
  const { countBy } = list.query;
  const columns =
    countBy === undefined ? askedColumns(incoming.request.headers.accept, list.query, resource.schema) : undefined;
  const asked: ListRequest = {
    ...of,
    ...(columns && { columns }),
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
  };
  return countBy === undefined ? listObjects(asked) : countObjects(asked, countBy);
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
  if (plan.upsert !== undefined) return await upsertObject(deps, writing, plan.upsert, body);
  if (plan.operation === "create") return await createObject(deps, writing, body);
  return await updateObject(deps, writing, body);
}
