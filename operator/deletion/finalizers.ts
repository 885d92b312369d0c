// Decides whether an object needs the finalizer that keeps it until its data are gone, and sets or
// drops it. It is set only while the deletion of the object would delete data, and dropped from
// everything that has nothing to wait for.

import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import { isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/objects.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import type { CustomResource, DeletionPolicy } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";

export const finalizer = "jsonplane.io/purge";

export function hasFinalizer({
  metadata,
}: {
  readonly metadata: { readonly finalizers?: readonly string[] };
}): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

export interface FinalizerInput {
  readonly object: CustomResource;
  /** As effectiveDeletionPolicy returns it. */
  readonly effectivePolicy: DeletionPolicy;
  /**
   * `namespaced`: the operator's rights go with the namespace, perhaps before its objects, so
   * nothing may wait for it.
   */
  readonly mode: "cluster" | "namespaced";
  /** As it is stored now. */
  readonly inventory: DataInventory | undefined;
}

export function wantsFinalizer({ object, effectivePolicy, mode, inventory }: FinalizerInput): boolean {
  if (mode === "namespaced" || object.kind === "ProjectUser" || object.kind === "ApiKey") return false;
  if (!isDeleting(object)) return effectivePolicy === "Delete";
  // The API server lets none be added now.
  if (!hasFinalizer(object)) return false;
  const { uid } = object.metadata;
  const open = (inventory?.entries ?? []).filter((entry) => entry.purgeFromRevision !== undefined);
  return object.kind === "Project" ? open.length > 0 : open.some((entry) => entry.uid === uid);
}

/** `gone` = that was the last thing the object waited for: it is no more. */
export type FinalizerOutcome =
  | { readonly outcome: "unchanged" | "gone" }
  /** For the cache. */
  | { readonly outcome: "changed"; readonly object: KubeObject };

/**
 * Sets the finalizer or removes it; those of others stay. A Conflict passes through: the object was
 * recreated or changed, and what was decided from its former state no longer counts.
 */
export async function applyFinalizer(
  api: Pick<KubeApi, "apply" | "replace">,
  object: CustomResource,
  wanted: boolean,
): Promise<FinalizerOutcome> {
  if (isAsWanted(object, wanted)) return { outcome: "unchanged" };
  const { namespace, name, uid, resourceVersion } = object.metadata;
  const metadata = { namespace, name, uid, resourceVersion, finalizers: wanted ? [finalizer] : [] };
  const body = { apiVersion, kind: object.kind, metadata } as JsonObject;
  try {
    const applied = await api.apply(customTypes[object.kind], body);
    if (wanted || !hasFinalizer(applied)) return outcomeOf(applied);
    return await replaceWithout(api, object.kind, applied);
  } catch (error) {
    if (isNotFound(error)) return { outcome: "gone" };
    throw error;
  }
}

/** Nothing is to be written for it. */
export function isAsWanted(object: CustomResource, wanted: boolean): boolean {
  // No finalizer can be added to an object that is being deleted.
  return hasFinalizer(object) === wanted || (wanted && isDeleting(object));
}

/**
 * Somebody else set it, perhaps with a restored manifest: then giving up our share of the field
 * doesn't remove it. A Conflict passes through, and the object is tried again as it is then.
 */
async function replaceWithout(
  api: Pick<KubeApi, "replace">,
  kind: CustomResource["kind"],
  applied: KubeObject,
): Promise<FinalizerOutcome> {
  // A replaced object loses the annotation that kubectl keeps and the cache does not. One that is
  // being deleted needs it no more.
  if (!isDeleting(applied)) return { outcome: "unchanged" };
  const finalizers = (applied.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  const replacement = { ...applied, apiVersion, kind, metadata: { ...applied.metadata, finalizers } };
  return outcomeOf(await api.replace(customTypes[kind], replacement as unknown as JsonObject));
}

/**
 * The server removes an object with its last finalizer; to remember what it answered would bring it
 * back.
 */
function outcomeOf(object: KubeObject): FinalizerOutcome {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0
    ? { outcome: "gone" }
    : { outcome: "changed", object };
}
