// Takes away for good what belonged to objects that are gone: their generated Secrets, and their data where deletionPolicy
// says Delete. It waits a moment first, because an editor that saves removes and writes.

import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { purgeCollection, purgeProjectSessions, purgeWholeDocument } from "../../dataplane/config/purge-whole.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { resourceNameOf, rootKeyOf } from "../../operator/model/claimed-name.ts";
import type { CustomResource } from "../../operator/model/objects.ts";
import { isOwn, ownSecretNames } from "../../operator/model/secret-names.ts";
import type { Published } from "./compile-folder.ts";
import { type Grave, type Knowledge, storedObject } from "./dev-state.ts";
import type { SecretFiles, SecretReading } from "./secret-files.ts";

export const graceMs = 5_000;

/** A grave is due after its moment, and at once when another object of that name stands in its place. */
export function isDue(grave: Grave, known: Knowledge, now: number): boolean {
  return now >= grave.removedAt + graceMs || known.objects.has(grave.subject);
}

/** Milliseconds until the next grave is due; undefined when there is none. */
export function nextDueIn({ graves }: Knowledge, now: number): number | undefined {
  if (graves.length === 0) return undefined;
  return Math.max(0, Math.min(...graves.map(({ removedAt }) => removedAt + graceMs)) - now);
}

/** Removes the generated Secrets of `graves`, but for one that belongs to another object; answers with what is left. */
export async function removeSecrets(graves: readonly Grave[], files: SecretFiles): Promise<SecretReading> {
  const found = await files.read();
  const own = graves.flatMap((grave) => {
    const object = objectOf(grave);
    const secrets = ownSecretNames(object).map((name) => found.secrets.get(`${object.metadata.namespace}/${name}`));
    return secrets.filter((secret) => secret !== undefined).filter((secret) => isOwn(secret, object));
  });
  for (const secret of own) await files.remove(secret.metadata.namespace, secret.metadata.name);
  return own.length === 0 ? found : await files.read();
}

export interface Burial {
  /** Graves that nothing is left of. */
  readonly done: readonly Grave[];
  readonly news: readonly string[];
}

/** Purges what deletionPolicy says. A store that can't be reached leaves the grave for another pass. */
export async function purgeGraves(graves: readonly Grave[], known: Knowledge, around: Surroundings): Promise<Burial> {
  const done: Grave[] = [];
  const news: string[] = [];
  for (const grave of graves) {
    try {
      await purgeSessions(grave, around);
      for (const object of withData(grave, known)) {
        const path = await purgeOne(object, around);
        if (path !== undefined) news.push(`${path}: its data are deleted`);
      }
      done.push(grave);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      news.push(`${grave.subject}: its data can't be deleted yet: ${error.message}`);
    }
  }
  return { done, news };
}

/** A Project takes the data of its children along, those that stand without it included, unless they say Retain. */
function withData(grave: Grave, known: Knowledge): readonly CustomResource[] {
  if (grave.deletionPolicy === "Retain") return [];
  const object = objectOf(grave);
  if (object.kind !== "Project") return [object];
  const { namespace, name } = object.metadata;
  const standing = [...known.objects.values()].map((each) => storedObject(each, each.manifest));
  return standing.filter(
    (child) =>
      (child.kind === "ApiResource" || child.kind === "RootKey") &&
      child.metadata.namespace === namespace &&
      child.spec.projectRef.name === name &&
      child.spec.deletionPolicy !== "Retain",
  );
}

export interface Surroundings {
  readonly published: Published;
  readonly store: Store;
}

/** Whatever becomes of a Project's data, no token of its sessions is accepted any more. */
async function purgeSessions(grave: Grave, { store }: Surroundings): Promise<void> {
  const { kind, metadata } = objectOf(grave);
  if (kind !== "Project") return;
  const project = { namespace: metadata.namespace, name: metadata.name };
  await purgeProjectSessions(store, { project, projectUid: metadata.uid });
}

/** Another object may serve the same data by now; then they are its own. */
async function purgeOne(object: CustomResource, { published, store }: Surroundings): Promise<string | undefined> {
  if (object.kind !== "ApiResource" && object.kind !== "RootKey") return undefined;
  const project = { namespace: object.metadata.namespace, name: object.spec.projectRef.name };
  const key = `${project.namespace}/${project.name}`;
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

function objectOf({ object }: Grave): CustomResource {
  return storedObject(object, object.manifest);
}
