// Tells what happens to the data of removed manifests before anything is purged, and when a changed initialValue has no effect because a
// value is stored. Lines for the terminal; nothing is written.

import { isDeepStrictEqual } from "node:util";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import type { DocumentReads } from "../../dataplane/store/ports/documents.ts";
import type { ObjectLists } from "../../dataplane/store/ports/lists.ts";
import { resourceNameOf, rootKeyOf } from "../../operator/model/claimed-name.ts";
import { type DataObject, type DeletionPolicy, isDataObject, type RootKey } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import type { Published } from "./compile-folder.ts";
import { type DevState, type KnownObject, type PendingDeletion, storedObject } from "./dev-state.ts";
import { graceMs } from "./pending-deletions.ts";

export interface StoredDataContext {
  readonly store: Pick<ObjectLists, "count"> & DocumentReads;
  /** What is served now. */
  readonly published: Published;
}

/** `before` = as the last pass left it. */
export async function storedDataNews(
  before: DevState,
  now: DevState,
  context: StoredDataContext,
): Promise<readonly string[]> {
  const removed = now.pendingDeletions.filter((deletion) => !before.pendingDeletions.includes(deletion));
  const lines: string[] = [];
  for (const { subject, object, policy } of removed.flatMap((deletion) => dataObjectsOf(deletion, now))) {
    const data = isServed(object, context) ? undefined : await describeData(object, context);
    if (data !== undefined) lines.push(`${subject}: ${data} ${outcomeOf(object, policy)}`);
  }
  for (const [subject, object] of now.objects) {
    const line = await initialValueNews(subject, [before.objects.get(subject), object], context);
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function outcomeOf(object: DataObject, policy: DeletionPolicy): string {
  if (policy === "Delete") {
    return `will be deleted in ${graceMs / 1000} seconds (deletionPolicy: Delete), unless the manifest comes back`;
  }
  const field = object.kind === "ApiResource" ? `resourceName: ${resourceNameOf(object)}` : `key: ${rootKeyOf(object)}`;
  return `stays stored (deletionPolicy: Retain): to serve it again, restore the manifest, or give another one ${field}`;
}

interface RemovedDataObject {
  readonly subject: string;
  readonly object: DataObject;
  readonly policy: DeletionPolicy;
}

/** The removed object itself, or, for a Project, those of its children whose manifests are still there. */
function dataObjectsOf(
  { subject, object, deletionPolicy }: PendingDeletion,
  now: DevState,
): readonly RemovedDataObject[] {
  const own = storedObject(object, object.manifest);
  if (isDataObject(own)) return [{ subject, object: own, policy: deletionPolicy }];
  if (own.kind !== "Project") return [];
  const { namespace, name } = own.metadata;
  return [...now.objects].flatMap(([childSubject, known]) => {
    const child = storedObject(known, known.manifest);
    if (!isDataObject(child) || child.metadata.namespace !== namespace || child.spec.projectRef.name !== name)
      return [];
    const policy = child.spec.deletionPolicy === "Retain" ? "Retain" : deletionPolicy;
    return [{ subject: childSubject, object: child, policy }];
  });
}

/** Data that another object serves by now are that one's. */
function isServed(object: DataObject, { published }: StoredDataContext): boolean {
  const parts = published.get(keyOfProject(projectRefOf(object)));
  if (object.kind === "RootKey") return parts?.rootKeys.has(rootKeyOf(object)) === true;
  return parts?.resources.has(resourceNameOf(object)) === true;
}

/** Undefined when nothing is stored. */
async function describeData(object: DataObject, context: StoredDataContext): Promise<string | undefined> {
  if (object.kind === "RootKey") return (await hasValue(object, context)) ? "its stored value" : undefined;
  const count = await unlessStoreFails(() => {
    const collection = { project: projectRefOf(object), resource: resourceNameOf(object) };
    return context.store.count(collection, {});
  });
  if (count === undefined) return "what it may have stored";
  return count === 0 ? undefined : `its data (${count === 1 ? "1 object" : `${count} objects`})`;
}

async function initialValueNews(
  subject: string,
  [former, object]: readonly [KnownObject | undefined, KnownObject],
  context: StoredDataContext,
): Promise<string | undefined> {
  if (former === undefined || former.uid !== object.uid || former.manifest === object.manifest) return undefined;
  const [rootKey, earlier] = [storedObject(object, object.manifest), storedObject(former, former.manifest)];
  if (rootKey.kind !== "RootKey" || earlier.kind !== "RootKey") return undefined;
  if (isDeepStrictEqual(rootKey.spec.initialValue, earlier.spec.initialValue)) return undefined;
  if (!(await hasValue(rootKey, context))) return undefined;
  const path = `${keyOfProject(projectRefOf(rootKey))}/json/${rootKeyOf(rootKey)}`;
  return `${subject}: the new initialValue has no effect, because a value is stored; to apply it, PUT it to /${path}`;
}

async function hasValue(rootKey: RootKey, { store }: StoredDataContext): Promise<boolean> {
  const document = { project: projectRefOf(rootKey), rootKey: rootKeyOf(rootKey) };
  const read = await unlessStoreFails(() => store.readAt(document, []));
  return read?.outcome !== "missing_document";
}

/** Undefined where the store can't be asked: then a line about data that may be there is better than none. */
async function unlessStoreFails<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isStoreFailure(error)) return undefined;
    throw error;
  }
}
