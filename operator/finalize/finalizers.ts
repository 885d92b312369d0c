// Decides whether an object needs the finalizer that keeps it until its data are gone, and sets or drops it. It is set only
// while the deletion of the object would delete data, and dropped from everything that has nothing to wait for.

import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import type { DataRecord } from "../data-record.ts";
import { finalizer } from "../finalizer.ts";
import { isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { CustomResource, DeletionPolicy } from "../objects.ts";

export interface FinalizerInput {
  readonly object: CustomResource;
  /** Of effectiveDeletionPolicy. */
  readonly effectivePolicy: DeletionPolicy;
  /** `namespaced`: the operator's rights go with the namespace, perhaps before its objects, so nothing may wait for it. */
  readonly mode: "cluster" | "namespaced";
  /** As it is stored now. */
  readonly record: DataRecord | undefined;
}

export function wantsFinalizer({ object, effectivePolicy, mode, record }: FinalizerInput): boolean {
  if (mode === "namespaced" || object.kind === "ProjectUser" || object.kind === "ApiKey") return false;
  if (object.metadata.deletionTimestamp === undefined) return effectivePolicy === "Delete";
  // The API server lets none be added now.
  if (!hasFinalizer(object)) return false;
  const { uid } = object.metadata;
  const open = (record?.entries ?? []).filter((entry) => entry.doomedAt !== undefined);
  return object.kind === "Project" ? open.length > 0 : open.some((entry) => entry.uid === uid);
}

/** `gone` = that was the last thing the object waited for: it is no more. */
export type FinalizerOutcome =
  | { readonly outcome: "unchanged" | "gone" }
  /** For the cache. */
  | { readonly outcome: "changed"; readonly object: KubeObject };

/** A Conflict passes through: the object was made anew, or changed, and is looked at again. */
export async function applyFinalizer(
  api: Pick<KubeApi, "apply" | "replace">,
  object: CustomResource,
  wanted: boolean,
): Promise<FinalizerOutcome> {
  if (hasFinalizer(object) === wanted) return { outcome: "unchanged" };
  const { namespace, name, uid } = object.metadata;
  const metadata = { namespace, name, uid, finalizers: wanted ? [finalizer] : [] };
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

/**
 * Somebody else set it, perhaps with a restored manifest, so that giving up our share of it does not take it away. A Conflict
 * passes through: it is tried again with what is there then.
 */
async function replaceWithout(
  api: Pick<KubeApi, "replace">,
  kind: CustomResource["kind"],
  applied: KubeObject,
): Promise<FinalizerOutcome> {
  // A replaced object loses the annotation that kubectl keeps and the cache does not; one that is going needs it no more.
  if (applied.metadata.deletionTimestamp === undefined) return { outcome: "unchanged" };
  const finalizers = (applied.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  const replacement = { ...applied, apiVersion, kind, metadata: { ...applied.metadata, finalizers } };
  return outcomeOf(await api.replace(customTypes[kind], replacement as unknown as JsonObject));
}

/** The server removes an object with its last finalizer; to remember what it answered would bring it back. */
function outcomeOf(object: KubeObject): FinalizerOutcome {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0
    ? { outcome: "gone" }
    : { outcome: "changed", object };
}

export function hasFinalizer({
  metadata,
}: {
  readonly metadata: { readonly finalizers?: readonly string[] };
}): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}
