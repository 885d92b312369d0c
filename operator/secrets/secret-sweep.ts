// Deletes the Secrets of deleted objects: at once where the watch reported the deletion, otherwise
// after an hour, because a backup restores Secrets before their objects. Copies in other namespaces
// stay. Each decision asks the API server, not the cache.

import { isKind, type Kind } from "../../core/manifests/object.ts";
import type { Definitions } from "../deletion/definitions.ts";
import { isConflict, isForbidden, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { customTypes, secretType } from "../kube/objects.ts";
import type { CustomResource } from "../model/objects.ts";
import {
  hasLabelsOf,
  kindLabel,
  nameLabel,
  namespaceAnnotation,
  ownerAnnotation,
  ownSecretNames,
} from "../model/secret-names.ts";
import type { AuditLog } from "../observe/audit-log.ts";
import type { Watched } from "../watch/object-cache.ts";
import { unreadSecret } from "./secret-object.ts";

export interface SecretSweep {
  /**
   * For an object that the watch reported as DELETED. Returns the names of the Secrets that it
   * deleted: those with the UID of this object. Throws when the API server fails: call again.
   */
  sweepSubject(object: CustomResource): Promise<readonly string[]>;
  /** Returns how many Secrets were deleted. Does nothing until every cache is complete. */
  sweepOrphans(): Promise<number>;
}

export interface SecretSweepDeps {
  readonly api: KubeApi;
  /** Secrets with the label app.kubernetes.io/managed-by=jsonplane. */
  readonly own: Watched;
  /** Metadata of all other Secrets: somebody may have removed that label. */
  readonly foreign: Watched;
  readonly objects: Readonly<Record<Kind, Watched>>;
  readonly definitions: Definitions;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that only grow. */
  readonly monotonic: () => number;
  readonly audit: AuditLog;
}

export const orphanAgeMs = 3_600_000;

export function createSecretSweep(deps: SecretSweepDeps): SecretSweep {
  const { api, own, foreign, objects, definitions, now, monotonic } = deps;
  /** UID of a Secret → when it was first seen without its object. */
  const orphanedSince = new Map<string, number>();

  const isGone = async ({ kind, namespace, name }: Owner): Promise<boolean> =>
    (await api.get(customTypes[kind], { namespace, name })) === undefined && (await definitions.stands(kind));

  const isOrphan = (secret: KubeObject): boolean => {
    const owner = ownerOf(secret);
    if (owner === undefined) return false;
    return objects[owner.kind].get(owner.namespace, owner.name) === undefined;
  };

  /** False where the operator has lost its rights: other namespaces are swept all the same. */
  const sweepOrphan = async (owner: Owner, secret: KubeObject): Promise<boolean> => {
    try {
      return (await isGone(owner)) && (await remove(secret, "Orphaned", deps));
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  };

  return {
    async sweepSubject(object) {
      const { kind } = object;
      const { namespace, name } = object.metadata;
      const secrets = ownSecretNames(object)
        .map((secretName) => own.get(namespace, secretName) ?? foreign.get(namespace, secretName))
        .filter((secret) => secret !== undefined)
        .filter((secret) => hasLabelsOf(object, unreadSecret(secret)) && ownerOf(secret) !== undefined)
        .filter(({ metadata }) => metadata.annotations?.[ownerAnnotation] === object.metadata.uid);
      if (secrets.length === 0) return [];
      const live = await api.get(customTypes[kind], { namespace, name });
      if (live?.metadata.uid === object.metadata.uid) return [];
      const removed: string[] = [];
      for (const secret of secrets) if (await remove(secret, "Deleted", deps)) removed.push(secret.metadata.name);
      return removed;
    },
    async sweepOrphans() {
      if (!own.synced() || !Object.values(objects).every((watched) => watched.synced())) return 0;
      const orphans = [...own.all()].filter(isOrphan);
      const expired = orphanedLongEnough(orphanedSince, orphans, monotonic()).filter(
        (secret) => ageOf(secret, now()) >= orphanAgeMs,
      );
      let removed = 0;
      for (const secret of expired) {
        const owner = ownerOf(secret);
        if (owner !== undefined && (await sweepOrphan(owner, secret))) removed += 1;
      }
      return removed;
    },
  };
}

/**
 * Those of `orphans` that have been seen for an hour. `orphanedSince`: when each was seen first.
 */
function orphanedLongEnough(
  orphanedSince: Map<string, number>,
  orphans: readonly KubeObject[],
  moment: number,
): readonly KubeObject[] {
  const uids = new Set(orphans.map(({ metadata }) => metadata.uid));
  for (const uid of orphanedSince.keys()) if (!uids.has(uid)) orphanedSince.delete(uid);
  for (const uid of uids) if (!orphanedSince.has(uid)) orphanedSince.set(uid, moment);
  return orphans.filter(({ metadata }) => moment - (orphanedSince.get(metadata.uid) ?? moment) >= orphanAgeMs);
}

interface Owner extends ObjectName {
  readonly kind: Kind;
}

/** Undefined for copies from other namespaces, and for Secrets that belong to no object. */
function ownerOf({ metadata }: KubeObject): Owner | undefined {
  const { namespace, labels = {}, annotations = {} } = metadata;
  const [kind, name] = [labels[kindLabel], labels[nameLabel]];
  if (!isKind(kind) || name === undefined || name === "" || annotations[namespaceAnnotation] !== namespace) {
    return undefined;
  }
  return { kind, namespace, name };
}

/** False when it was gone already, or has changed since: then the next sweep decides. */
async function remove(
  secret: KubeObject,
  why: "Deleted" | "Orphaned",
  { api, own, foreign, audit }: SecretSweepDeps,
): Promise<boolean> {
  const { namespace, name, uid, resourceVersion } = secret.metadata;
  try {
    const removed = await api.remove(secretType, { namespace, name }, { uid, resourceVersion });
    for (const watched of [own, foreign]) watched.applyOwnDelete(secret);
    if (removed) audit.write({ action: "secret_deleted", facts: { ...factsOf(secret), why } });
    return removed;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** Whose it was: of the object, the UID that the Secret says. */
function factsOf(secret: KubeObject) {
  const { namespace, name, annotations = {} } = secret.metadata;
  const owner = ownerOf(secret);
  return { kind: owner?.kind, namespace, name: owner?.name, uid: annotations[ownerAnnotation], secret: name };
}

/** Milliseconds; 0 for an age that can't be known. */
function ageOf({ metadata }: KubeObject, now: number): number {
  const created = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? 0 : now - created;
}
