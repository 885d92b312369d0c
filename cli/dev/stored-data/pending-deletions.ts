// Deletes what belonged to objects whose manifests are gone: their generated Secrets, and their
// data where deletionPolicy is Delete. It waits a few seconds, because many editors save a file by
// removing and writing it.

import { keyOfProject } from "../../../core/config/config-keys.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import type { Secret } from "../../../core/manifests/object.ts";
import { purgeCollection, purgeDocument, purgeProjectSessions } from "../../../dataplane/config/purge-steps.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../../../dataplane/store/ports/purges.ts";
import { resourceNameOf, rootKeyOf } from "../../../operator/model/kinds.ts";
import { type CustomResource, type DataObject, isDataObject } from "../../../operator/model/objects.ts";
import { projectRefOf } from "../../../operator/model/project-objects.ts";
import { hasLabelsOf, ownerAnnotation, ownSecretNames } from "../../../operator/model/secret-names.ts";
import type { Published } from "../apply/compile-folder.ts";
import { type DevState, type PendingDeletion, storedObject } from "../data-folder/dev-state.ts";
import type { SecretFiles, SecretReading } from "../data-folder/secret-files.ts";
import type { DevMessage, MessageFacts } from "../report/messages.ts";

export const graceMs = 5_000;

export function isDue({ removedAt }: PendingDeletion, now: number): boolean {
  return now >= removedAt + graceMs;
}

/** Milliseconds until the next deletion is due; undefined when there is none. */
export function nextDueIn({ pendingDeletions }: DevState, now: number): number | undefined {
  if (pendingDeletions.length === 0) return undefined;
  return Math.max(0, Math.min(...pendingDeletions.map(({ removedAt }) => removedAt + graceMs)) - now);
}

/**
 * Removes the generated Secrets of objects whose deletion is due, except those of other objects;
 * resolves with the remaining ones. Where another object has taken the name, they are removed at
 * once: a credential of one Project never opens another.
 */
export async function removeSecrets(known: DevState, now: number, files: SecretFiles): Promise<SecretReading> {
  const found = await files.read();
  const present = new Set([...known.objects.values()].map(({ uid }) => uid));
  const belongsToPresent = ({ metadata }: Secret): boolean =>
    present.has(metadata.annotations?.[ownerAnnotation] ?? "");
  const due = known.pendingDeletions.filter((each) => isDue(each, now) || known.objects.has(each.subject));
  const own = due.flatMap((deletion) => {
    const object = objectOf(deletion);
    const secrets = ownSecretNames(object).map((name) => found.secrets.get(`${object.metadata.namespace}/${name}`));
    return secrets
      .filter((secret) => secret !== undefined)
      .filter((secret) => hasLabelsOf(object, secret) && !belongsToPresent(secret));
  });
  for (const secret of own) await files.remove(secret.metadata.namespace, secret.metadata.name);
  return own.length === 0 ? found : await files.read();
}

export interface PurgeResult {
  /** Deletions with nothing left to delete. */
  readonly done: readonly PendingDeletion[];
  readonly news: readonly DevMessage[];
}

/** Deletes stored data as deletionPolicy says; pending while the store can't be reached. */
export async function purgeData(
  deletions: readonly PendingDeletion[],
  known: DevState,
  context: PurgeContext,
): Promise<PurgeResult> {
  const done: PendingDeletion[] = [];
  const news: DevMessage[] = [];
  for (const deletion of deletions) {
    try {
      await purgeSessions(deletion, context);
      for (const object of withData(deletion, known)) {
        if (await purgeOne(object, context)) news.push(deletedMessage(object));
      }
      done.push(deletion);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      news.push(notDeletedMessage(deletion, error.message));
    }
  }
  return { done, news };
}

function deletedMessage(object: DataObject): DevMessage {
  const about = dataPathOf(object);
  const isTrue = ({ published }: MessageFacts): boolean => !isServed(object, published);
  return { text: `${about}: its data are deleted`, shown: { level: "note", about, isTrue } };
}

function notDeletedMessage(deletion: PendingDeletion, why: string): DevMessage {
  const text = `${deletion.subject}: its data can't be deleted yet: ${why}`;
  const isTrue = ({ known }: MessageFacts): boolean => known.pendingDeletions.includes(deletion);
  return { text, shown: { level: "problem", about: deletion.subject, isTrue } };
}

/** With those of its children, even if their manifests are still there, unless they say Retain. */
function withData(deletion: PendingDeletion, known: DevState): readonly DataObject[] {
  if (deletion.deletionPolicy === "Retain") return [];
  const object = objectOf(deletion);
  if (isDataObject(object)) return [object];
  if (object.kind !== "Project") return [];
  const { namespace, name } = object.metadata;
  const existing = [...known.objects.values()].map((each) => storedObject(each, each.manifest));
  return existing
    .filter(isDataObject)
    .filter(
      (child) =>
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

/**
 * False when there is nothing to delete: data that another object serves now belong to that one.
 */
async function purgeOne(object: DataObject, { published, store }: PurgeContext): Promise<boolean> {
  if (isServed(object, published)) return false;
  const project = projectRefOf(object);
  if (object.kind === "RootKey") await purgeDocument(store, { project, rootKey: rootKeyOf(object) });
  else await purgeCollection(store, { project, resource: resourceNameOf(object) });
  return true;
}

function objectOf({ object }: PendingDeletion): CustomResource {
  return storedObject(object, object.manifest);
}

/**
 * `<namespace>/<project>/api/<resource>` or `<namespace>/<project>/json/<root key>`, as in URLs.
 */
export function dataPathOf(object: DataObject): string {
  const project = keyOfProject(projectRefOf(object));
  return object.kind === "RootKey"
    ? `${project}/json/${rootKeyOf(object)}`
    : `${project}/api/${resourceNameOf(object)}`;
}

/** By whichever object: data belong to a name. */
export function isServed(object: DataObject, published: Published): boolean {
  const parts = published.get(keyOfProject(projectRefOf(object)));
  if (object.kind === "RootKey") return parts?.rootKeys.has(rootKeyOf(object)) === true;
  return parts?.resources.has(resourceNameOf(object)) === true;
}
