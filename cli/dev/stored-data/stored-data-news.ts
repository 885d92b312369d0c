// Says what happens to the data of removed manifests before anything is deleted, and when a changed
// initialValue has no effect because a value is stored. Writes nothing.

import { isDeepStrictEqual } from "node:util";
import { isStoreFailure } from "../../../core/errors/store-errors.ts";
import type { DocumentReads } from "../../../dataplane/store/ports/documents.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import { resourceNameOf, rootKeyOf } from "../../../operator/model/kinds.ts";
import { type DataObject, type DeletionPolicy, isDataObject, type RootKey } from "../../../operator/model/objects.ts";
import { projectRefOf } from "../../../operator/model/project-objects.ts";
import type { Published } from "../apply/compile-folder.ts";
import {
  type DevState,
  type KnownObject,
  namesAnotherProject,
  type PendingDeletion,
  storedObject,
} from "../data-folder/dev-state.ts";
import type { DevMessage, MessageFacts } from "../report/messages.ts";
import { dataPathOf, graceMs, isServed } from "./pending-deletions.ts";

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
): Promise<readonly DevMessage[]> {
  const removed = now.pendingDeletions.filter((deletion) => !before.pendingDeletions.includes(deletion));
  const messages: DevMessage[] = [];
  for (const each of removed.flatMap((deletion) => dataObjectsOf(deletion, now))) {
    const data = isServed(each.object, context.published) ? undefined : await describeData(each.object, context);
    if (data !== undefined) messages.push(removedMessage(each, data));
  }
  for (const [subject, object] of now.objects) {
    const message = await initialValueNews(subject, [before.objects.get(subject), object], context);
    if (message !== undefined) messages.push(message);
  }
  return messages;
}

function removedMessage(removed: RemovedDataObject, data: string): DevMessage {
  const { subject, object, policy } = removed;
  const isTrue = ({ published }: MessageFacts): boolean => !isServed(object, published);
  return {
    text: `${subject}: ${data} ${outcomeOf(removed)}`,
    shown: { level: policy === "Delete" ? "warning" : "note", about: dataPathOf(object), isTrue },
  };
}

function outcomeOf({ object, policy, cause }: RemovedDataObject): string {
  const { name } = projectRefOf(object);
  if (policy === "Delete") {
    const back = {
      removed: "the manifest comes back",
      projectRemoved: `the Project ${name} comes back`,
      moved: `it and a Project are named ${name} again`,
    }[cause];
    return `will be deleted in ${graceMs / 1000} seconds (deletionPolicy: Delete), unless ${back}`;
  }
  const field = object.kind === "ApiResource" ? `resourceName: ${resourceNameOf(object)}` : `key: ${rootKeyOf(object)}`;
  const way = {
    removed: `restore the manifest, or give another one ${field}`,
    projectRemoved: `name a Project ${name} again`,
    moved: `name the Project ${name} again, in projectRef too`,
  }[cause];
  const path = cause === "removed" ? "" : ` as ${dataPathOf(object)}`;
  return `is kept${path} (deletionPolicy: Retain): to serve it again, ${way}`;
}

interface RemovedDataObject {
  readonly subject: string;
  readonly object: DataObject;
  readonly policy: DeletionPolicy;
  /** Its manifest was removed, or the Project's, or it names another Project. */
  readonly cause: "removed" | "projectRemoved" | "moved";
}

/** The removed object, or, for a Project, those of its children whose manifests are still there. */
function dataObjectsOf(
  { subject, object, deletionPolicy }: PendingDeletion,
  now: DevState,
): readonly RemovedDataObject[] {
  const own = storedObject(object, object.manifest);
  if (isDataObject(own)) {
    const present = now.objects.get(subject)?.manifest;
    const isMoved = present !== undefined && namesAnotherProject(present, object.manifest);
    return [{ subject, object: own, policy: deletionPolicy, cause: isMoved ? "moved" : "removed" }];
  }
  if (own.kind !== "Project") return [];
  const { namespace, name } = own.metadata;
  return [...now.objects].flatMap(([childSubject, known]) => {
    const child = storedObject(known, known.manifest);
    if (!isDataObject(child) || child.metadata.namespace !== namespace || child.spec.projectRef.name !== name)
      return [];
    const policy = child.spec.deletionPolicy === "Retain" ? "Retain" : deletionPolicy;
    return [{ subject: childSubject, object: child, policy, cause: "projectRemoved" }];
  });
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
): Promise<DevMessage | undefined> {
  if (former === undefined || former.uid !== object.uid || former.manifest === object.manifest) return undefined;
  const [rootKey, earlier] = [storedObject(object, object.manifest), storedObject(former, former.manifest)];
  if (rootKey.kind !== "RootKey" || earlier.kind !== "RootKey") return undefined;
  if (isDeepStrictEqual(rootKey.spec.initialValue, earlier.spec.initialValue)) return undefined;
  if (!(await hasValue(rootKey, context))) return undefined;
  const about = dataPathOf(rootKey);
  return {
    text: `${subject}: the new initialValue has no effect, because a value is stored; to apply it, PUT it to /${about}`,
    shown: {
      level: "warning",
      about,
      isTrue: ({ known }) => known.objects.get(subject)?.manifest === object.manifest,
    },
  };
}

async function hasValue(rootKey: RootKey, { store }: StoredDataContext): Promise<boolean> {
  const document = { project: projectRefOf(rootKey), rootKey: rootKeyOf(rootKey) };
  const read = await unlessStoreFails(() => store.readAt(document, []));
  return read?.outcome !== "missing_document";
}

/** Undefined where the store can't be asked: a message about possible data is better than none. */
async function unlessStoreFails<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isStoreFailure(error)) return undefined;
    throw error;
  }
}
