// Writes what a line of an export says into a store: an object with its id, owner and `_metadata`,
// a root key's entire value, or a deletion. Unique rules, quotas, expiry, indexes and logs of
// changes follow as from any write. Who repeats it changes nothing, so what broke off may begin
// again. Throws Problem: `object_exists` for what would overwrite something, and as other writes
// do.

import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject, LiveResource } from "../config/directory.ts";
import { type DocumentPlan, problemOf } from "../documents/handler.ts";
import { withInitialValue } from "../documents/initial-value.ts";
import { notUnique } from "../objects/unique-values.ts";
import { type ObjectRules, objectRules, validateStored } from "../objects/validate-object.ts";
import { ownerOfStored, resourceFull } from "../objects/write.ts";
import { writeConflict } from "../operation/steps.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import { uniqueQuery, uniqueValueIn } from "../store/entry-values.ts";
import { hasExpired } from "../store/expiry.ts";
import type { DocumentReads, DocumentWrites } from "../store/ports/documents.ts";
import type { ObjectLists } from "../store/ports/lists.ts";
import type { CreateOutcome, NewObject, ObjectReads, ObjectWrites, StoredObject } from "../store/ports/objects.ts";
import { type CollectionRef, collectionOf, type DocumentRef, documentOf } from "../store/ports/refs.ts";

/** `create` overwrites nothing; `replace` makes what is stored the same as what is given. */
export type WriteMode = "create" | "replace";

/** `unchanged`: just this was stored, or nothing to delete. `expired`: its time has come. */
export type Written = "created" | "replaced" | "deleted" | "unchanged" | "expired";

export interface ObjectTarget {
  readonly store: ObjectReads & ObjectWrites & Pick<ObjectLists, "candidates">;
  readonly collection: CollectionRef;
  readonly resource: LiveResource;
  readonly rules: ObjectRules;
}

/** `store` = for a project with a quota, the one that enforces it. */
export function objectTarget(store: ObjectTarget["store"], project: LiveProject, resource: LiveResource): ObjectTarget {
  const { config } = project;
  return { store, resource, collection: collectionOf(config, resource), rules: objectRules(resource, config) };
}

/** The object of a stored text, which meets what the target asks of new ones. Throws Problem. */
export function objectFor({ rules }: ObjectTarget, text: string): NewObject {
  return validateStored(rules, text);
}

export async function writeObject(target: ObjectTarget, object: NewObject, mode: WriteMode): Promise<Written> {
  const deadline = performance.now() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const refusal = await create(target, object);
    if (typeof refusal === "string" && refusal !== "exists") return refusal;
    // Whatever refused it: the object itself may fill the resource, or have its unique values.
    const stored = await target.store.read(target.collection, object.id, {});
    if (stored === undefined && refusal !== "exists") throw refusal;
    const written = stored && (await replace(target, object, stored, mode));
    if (written !== undefined) return written;
    if (performance.now() >= deadline) throw writeConflict("object");
    await pauseAfterConflict(attempt);
  }
}

async function create(
  { store, collection, resource: { config } }: ObjectTarget,
  object: NewObject,
): Promise<"created" | "expired" | "exists" | Problem> {
  try {
    return refusalOf(await store.create(collection, object, config.maxObjects), config);
  } catch (error) {
    if (error instanceof Problem && error.code === "quota_exceeded") return error;
    throw error;
  }
}

function refusalOf(result: CreateOutcome, config: LiveResource["config"]): "created" | "expired" | "exists" | Problem {
  switch (result.outcome) {
    case "not_unique":
      return notUnique(result.rule);
    case "quota_exceeded":
      return resourceFull(config);
    case "repeated":
      throw new Error("A create without a record was repeated");
    default:
      return result.outcome;
  }
}

/** Undefined where another write came first. */
async function replace(
  { store, collection }: ObjectTarget,
  object: NewObject,
  stored: StoredObject,
  mode: WriteMode,
): Promise<Written | undefined> {
  const same = isSame(object, stored, mode);
  if (same && collection.durability === undefined) return "unchanged";
  const result = await store.replace(collection, object, stored);
  switch (result.outcome) {
    case "not_unique":
      throw notUnique(result.rule);
    case "replaced":
      return same ? "unchanged" : "replaced";
    case "expired":
      return result.outcome;
    default:
      return undefined;
  }
}

/** Throws where the stored object is another one and may not be replaced. */
function isSame(object: NewObject, stored: StoredObject, mode: WriteMode): boolean {
  if (stored.text === object.text) return true;
  if (mode === "create") throw exists("Another object with this `id` is stored; replace it with `_mode=replace`");
  if (ownerOfStored(stored) === object.owner) return false;
  throw exists("The object with this `id` has another creator, which no write changes; delete it first");
}

export async function deleteObject({ store, collection }: ObjectTarget, id: string): Promise<Written> {
  return (await store.remove(collection, id, {})) ? "deleted" : "unchanged";
}

/** What writeObject would come to now, but for what `untriedText` names. */
export async function tryObject(target: ObjectTarget, object: NewObject, mode: WriteMode): Promise<Written> {
  const { store, collection } = target;
  if (collection.expiry !== undefined && hasExpired(collection.expiry, object.text, Date.now())) return "expired";
  const stored = await store.read(collection, object.id, {});
  if (stored !== undefined && isSame(object, stored, mode)) return "unchanged";
  await requireUnique(target, object, stored);
  return stored === undefined ? "created" : "replaced";
}

/** Among what is stored. An index that is not ready doesn't tell. */
async function requireUnique(
  { store, collection, resource: { config } }: ObjectTarget,
  { id, text }: NewObject,
  stored: StoredObject | undefined,
): Promise<void> {
  for (const rule of config.unique ?? []) {
    const value = uniqueValueIn(rule, text);
    // Values that an update leaves as they are may be those of others from before the rule.
    if (value === undefined || (stored && uniqueValueIn(rule, stored.text) === value)) continue;
    const found = await store.candidates(collection, {}, [uniqueQuery(rule, value)], 1);
    const isTaken = found.outcome === "found" ? found.ids.some((each) => each !== id) : found.outcome === "too_many";
    if (isTaken) throw notUnique(rule);
  }
}

export interface ValueTarget extends Pick<DocumentPlan, "project" | "rootKey" | "caller"> {
  readonly store: DocumentReads & DocumentWrites;
  readonly document: DocumentRef;
}

export function valueTarget(given: Omit<ValueTarget, "document">): ValueTarget {
  return { ...given, document: documentOf(given.project.config, given.rootKey) };
}

/** `text` = canonical JSON. With `create` it takes the place of nothing but the initial value. */
export async function writeValue(target: ValueTarget, text: string, mode: WriteMode): Promise<Written> {
  const { store, document, rootKey, project } = target;
  const writes = withInitialValue(store, rootKey.initialValue, (write) => write());
  const { maxDocumentBytes: maxBytes } = project.config.limits;
  const deadline = performance.now() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const current = await valueToReplace(target, text, mode);
    if (current.isSame && document.durability === undefined) return "unchanged";
    const limits = { maxBytes, mayCreate: true, expected: { text: current.text } };
    const result = await writes.putAt(document, [], text, limits);
    if ("text" in result) return writtenOver(current);
    const grant = { mayCreate: true, mayRead: true };
    if (result.outcome !== "changed" || performance.now() >= deadline) throw problemOf(result, { ...target, grant });
    await pauseAfterConflict(attempt);
  }
}

export async function tryValue(target: ValueTarget, text: string, mode: WriteMode): Promise<Written> {
  return writtenOver(await valueToReplace(target, text, mode));
}

interface Replaceable {
  readonly text: string;
  readonly isStored: boolean;
  readonly isSame: boolean;
}

function writtenOver({ isStored, isSame }: Replaceable): Written {
  if (isSame) return "unchanged";
  return isStored ? "replaced" : "created";
}

async function valueToReplace(
  { store, document, rootKey }: ValueTarget,
  text: string,
  mode: WriteMode,
): Promise<Replaceable> {
  const read = await store.readAt(document, []);
  const current = read.outcome === "found" ? read.text : rootKey.initialValue;
  const isSame = current === text;
  if (mode === "create" && !isSame && current !== rootKey.initialValue) {
    throw exists("Another value is stored under this root key; replace it with `_mode=replace`");
  }
  return { text: current, isStored: read.outcome === "found", isSame };
}

function exists(detail: string): Problem {
  return new Problem("object_exists", detail);
}
