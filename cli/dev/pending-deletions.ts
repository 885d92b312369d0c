// Deletes what belonged to objects whose manifests are gone: their generated Secrets, and their data where deletionPolicy is
// Delete. It waits a few seconds first, because many editors save a file by removing and writing it.

import { keyOfProject } from "../../core/config/config-keys.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { purgeCollection, purgeProjectSessions, purgeWholeDocument } from "../../dataplane/config/purge-whole.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../../dataplane/store/ports/purges.ts";
import { resourceNameOf, rootKeyOf } from "../../operator/model/claimed-name.ts";
import { type CustomResource, isDataObject } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import { isOwn, ownSecretNames } from "../../operator/model/secret-names.ts";
import type { Published } from "./compile-folder.ts";
import { type DevState, type PendingDeletion, storedObject } from "./dev-state.ts";
import type { SecretFiles, SecretReading } from "./secret-files.ts";

export const graceMs = 5_000;

/** A deletion is due after the grace period, and at once when another object has taken the name. */
export function isDue(deletion: PendingDeletion, known: DevState, now: number): boolean {
  return now >= deletion.removedAt + graceMs || known.objects.has(deletion.subject);
}

/** Milliseconds until the next deletion is due; undefined when there is none. */
export function nextDueIn({ pendingDeletions }: DevState, now: number): number | undefined {
  if (pendingDeletions.length === 0) return undefined;
  return Math.max(0, Math.min(...pendingDeletions.map(({ removedAt }) => removedAt + graceMs)) - now);
}

/** Removes the generated Secrets of the objects, except those that belong to other objects; resolves with the Secrets that are left. */
export async function removeSecrets(deletions: readonly PendingDeletion[], files: SecretFiles): Promise<SecretReading> {
  const found = await files.read();
  const own = deletions.flatMap((deletion) => {
    const object = objectOf(deletion);
    const secrets = ownSecretNames(object).map((name) => found.secrets.get(`${object.metadata.namespace}/${name}`));
    return secrets.filter((secret) => secret !== undefined).filter((secret) => isOwn(secret, object));
  });
  for (const secret of own) await files.remove(secret.metadata.namespace, secret.metadata.name);
  return own.length === 0 ? found : await files.read();
}

export interface PurgeResult {
  /** Deletions with nothing left to delete. */
  readonly done: readonly PendingDeletion[];
  readonly news: readonly string[];
}

/** Deletes stored data as deletionPolicy says. When the store can't be reached, the deletion stays pending for another pass. */
export async function purgeData(
  deletions: readonly PendingDeletion[],
  known: DevState,
  context: PurgeContext,
): Promise<PurgeResult> {
  const done: PendingDeletion[] = [];
  const news: string[] = [];
  for (const deletion of deletions) {
    try {
      await purgeSessions(deletion, context);
      for (const object of withData(deletion, known)) {
        const path = await purgeOne(object, context);
        if (path !== undefined) news.push(`${path}: its data are deleted`);
      }
      done.push(deletion);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      news.push(`${deletion.subject}: its data can't be deleted yet: ${error.message}`);
    }
  }
  return { done, news };
}

/** A Project's data include those of its children, even of children whose manifests are still there, unless they say Retain. */
function withData(deletion: PendingDeletion, known: DevState): readonly CustomResource[] {
  if (deletion.deletionPolicy === "Retain") return [];
  const object = objectOf(deletion);
  if (object.kind !== "Project") return [object];
  const { namespace, name } = object.metadata;
  const existing = [...known.objects.values()].map((each) => storedObject(each, each.manifest));
  return existing.filter(
    (child) =>
      isDataObject(child) &&
      child.metadata.namespace === namespace &&
      child.spec.projectRef.name === name &&
      child.spec.deletionPolicy !== "Retain",
  );
}

export interface PurgeContext {
  readonly published: Published;
  readonly store: CollectionPurges & DocumentPurges & SessionPurges;
}

/** Even where data are retained, no token of the Project's sessions is accepted any more. */
async function purgeSessions(deletion: PendingDeletion, { store }: PurgeContext): Promise<void> {
  const { kind, metadata } = objectOf(deletion);
  if (kind !== "Project") return;
  const project = { namespace: metadata.namespace, name: metadata.name };
  await purgeProjectSessions(store, { project, projectUid: metadata.uid });
}

/** Data that another object serves by now belong to that one, and are not deleted. */
async function purgeOne(object: CustomResource, { published, store }: PurgeContext): Promise<string | undefined> {
  if (!isDataObject(object)) return undefined;
  const project = projectRefOf(object);
  const key = keyOfProject(project);
  const parts = published.get(key);
  if (object.kind === "RootKey") {
    const rootKey = rootKeyOf(object);
    if (parts?.rootKeys.has(rootKey)) return undefined;
    await purgeWholeDocument(store, { project, rootKey });
    return `${key}/json/${rootKey}`;
  }
  const resource = resourceNameOf(object);
  if (parts?.resources.has(resource)) return undefined;
  await purgeCollection(store, { project, resource });
  return `${key}/api/${resource}`;
}

function objectOf({ object }: PendingDeletion): CustomResource {
  return storedObject(object, object.manifest);
}
