// Decides whether an object needs the finalizer that keeps it until its data are gone, and sets or drops it. It is set only
// while the deletion of the object would delete data, and dropped from everything that has nothing to wait for.

import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import { isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { DataRecord } from "../model/data-record.ts";
import { finalizerOf, purgeFinalizersOf, setterAnnotationOf, setterOf } from "../model/finalizer.ts";
import type { CustomResource, DeletionPolicy } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";

/** Which finalizers are this operator's, on one object. */
export interface OwnFinalizers {
  readonly mine: string;
  /** Those that it may take away, `mine` among them. */
  readonly droppable: ReadonlySet<string>;
  /** The installation that is recorded to have set `mine`; absent = the record stays as it is. */
  readonly installation?: string;
}

/** `installation`: this one; undefined = not known yet. */
export function ownFinalizers(className: string | undefined, installation?: string): OwnFinalizers {
  const mine = finalizerOf(className);
  return { mine, droppable: new Set([mine]), ...(installation !== undefined && { installation }) };
}

export interface FinalizerInput {
  readonly object: CustomResource;
  /** As effectiveDeletionPolicy returns it. */
  readonly effectivePolicy: DeletionPolicy;
  /** `namespaced`: the operator's rights go with the namespace, perhaps before its objects, so nothing may wait for it. */
  readonly mode: "cluster" | "namespaced";
  /** As it is stored now. */
  readonly record: DataRecord | undefined;
  readonly own: OwnFinalizers;
}

export function wantsFinalizer({ object, effectivePolicy, mode, record, own }: FinalizerInput): boolean {
  if (mode === "namespaced" || object.kind === "ProjectUser" || object.kind === "ApiKey") return false;
  if (!isDeleting(object)) return effectivePolicy === "Delete";
  // The API server lets none be added now.
  if (!holdsOneOf(object, own)) return false;
  const { uid } = object.metadata;
  const open = (record?.entries ?? []).filter((entry) => entry.purgeFromRevision !== undefined);
  return object.kind === "Project" ? open.length > 0 : open.some((entry) => entry.uid === uid);
}

/** `gone` = that was the last thing the object waited for: it is no more. */
export type FinalizerOutcome =
  | { readonly outcome: "unchanged" | "gone" }
  /** For the cache. */
  | { readonly outcome: "changed"; readonly object: KubeObject };

/**
 * Sets the finalizer, or takes away those that are this operator's; others' stay. A Conflict passes through: the object was
 * recreated or changed, and is looked at again, for what was decided from what stood there would take away what has come since.
 */
export async function applyFinalizer(
  api: Pick<KubeApi, "apply" | "replace">,
  object: CustomResource,
  { wanted, own }: { readonly wanted: boolean; readonly own: OwnFinalizers },
): Promise<FinalizerOutcome> {
  if (isAsWanted(object, wanted, own)) return { outcome: "unchanged" };
  const { namespace, name, uid, resourceVersion } = object.metadata;
  // All operators apply under one name: what one leaves out is taken away, whichever of them has set it.
  const others = purgeFinalizersOf(object).filter((each) => !own.droppable.has(each));
  const finalizers = wanted ? [...others, own.mine] : others;
  const metadata = { namespace, name, uid, resourceVersion, finalizers, ...settersOf(object, finalizers, own) };
  const body = { apiVersion, kind: object.kind, metadata } as JsonObject;
  try {
    const applied = await api.apply(customTypes[object.kind], body);
    if (wanted || !holdsOneOf(applied, own)) return outcomeOf(applied);
    return await replaceWithout(api, { kind: object.kind, applied, own });
  } catch (error) {
    if (isNotFound(error)) return { outcome: "gone" };
    throw error;
  }
}

/** Nothing is to be written for it. */
export function isAsWanted(object: CustomResource, wanted: boolean, own: OwnFinalizers): boolean {
  if (!wanted) return !holdsOneOf(object, own);
  // No finalizer can be added to an object that is being deleted.
  if (isDeleting(object)) return true;
  const { mine, installation } = own;
  const isNamed = installation === undefined || setterOf(object, mine) === installation;
  return isNamed && purgeFinalizersOf(object).includes(mine);
}

/** The installations that set these finalizers. As with finalizers, an annotation that is left out is removed. */
function settersOf(
  object: CustomResource,
  finalizers: readonly string[],
  { mine, installation }: OwnFinalizers,
): { readonly annotations?: Readonly<Record<string, string>> } {
  const setters = finalizers.flatMap((name) => {
    const setter = (name === mine ? installation : undefined) ?? setterOf(object, name);
    return setter === undefined ? [] : [[setterAnnotationOf(name), setter]];
  });
  return setters.length === 0 ? {} : { annotations: Object.fromEntries(setters) };
}

interface Replaced {
  readonly kind: CustomResource["kind"];
  readonly applied: KubeObject;
  readonly own: OwnFinalizers;
}

/**
 * Somebody else set it, perhaps with a restored manifest, so that giving up our share of it does not take it away. A Conflict
 * passes through: it is tried again with what is there then.
 */
async function replaceWithout(
  api: Pick<KubeApi, "replace">,
  { kind, applied, own }: Replaced,
): Promise<FinalizerOutcome> {
  // A replaced object loses the annotation that kubectl keeps and the cache does not; one that is going needs it no more.
  if (!isDeleting(applied)) return { outcome: "unchanged" };
  const finalizers = (applied.metadata.finalizers ?? []).filter((name) => !own.droppable.has(name));
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

function holdsOneOf(object: Parameters<typeof purgeFinalizersOf>[0], { droppable }: OwnFinalizers): boolean {
  return purgeFinalizersOf(object).some((name) => droppable.has(name));
}
