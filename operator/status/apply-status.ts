// Writes the status of one object by server-side apply, only when it differs. An object that was deleted, or recreated under its
// name, is skipped; every other failure is thrown.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import { isConflict, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { CustomResource } from "../model/objects.ts";
import type { Status } from "./object-status.ts";

/**
 * Returns the object as the server has it now, for the cache; undefined when nothing had to be written or there is no such object.
 * `yields` = gives up when the object was written meanwhile: that may have been another installation, which decides about it.
 * `drops` = types of conditions to remove, which no other writer maintains any more.
 */
export async function applyStatus(
  api: Pick<KubeApi, "apply" | "get">,
  object: CustomResource,
  status: Status,
  { yields = false, drops = [] }: { readonly yields?: boolean; readonly drops?: readonly string[] } = {},
): Promise<KubeObject | undefined> {
  if (!differs(status, object.status ?? {}, drops)) return undefined;
  const { namespace, name, uid } = object.metadata;
  let resourceVersion = object.metadata.resourceVersion;
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    const written = await applyTo(api, { object, resourceVersion, status }).catch(unlessConflict);
    if (written !== "conflict") return written;
    if (yields) return undefined;
    // Edited meanwhile, perhaps in a way that enqueues nothing: what was found of it holds all the same.
    const present = await api.get(customTypes[object.kind], { namespace, name });
    if (present?.metadata.uid !== uid) return undefined;
    resourceVersion = present.metadata.resourceVersion;
  }
  return applyTo(api, { object, resourceVersion, status });
}

interface StatusWrite {
  readonly object: CustomResource;
  /** In a status the server looks at no UID: the version alone keeps it from an object that was recreated. */
  readonly resourceVersion: string | undefined;
  readonly status: Status;
}

/** Undefined when there is no such object. */
async function applyTo(
  api: Pick<KubeApi, "apply">,
  { object, resourceVersion, status }: StatusWrite,
): Promise<KubeObject | undefined> {
  const { namespace, name, uid } = object.metadata;
  const body = { apiVersion, kind: object.kind, metadata: { namespace, name, uid, resourceVersion }, status };
  try {
    return await api.apply(customTypes[object.kind], body as unknown as JsonObject, { subresource: "status" });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function unlessConflict(error: unknown): "conflict" {
  if (isConflict(error)) return "conflict";
  throw error;
}

/** Bounds the retries for an object that is edited all the time; then the queue waits before it tries again. */
const maxAttempts = 3;

/** Condition types that only the operator writes. Conditions of other types are compared only where the new status has them. */
const ownTypes: ReadonlySet<string> = new Set([
  "Accepted",
  "Programmed",
  "Ready",
  "Available",
  "Reconciling",
  "Stalled",
]);

interface AnyStatus {
  readonly conditions?: readonly { readonly type: string }[];
}

/** Ignores the order of members and conditions. Types in `drops` count as the operator's own. */
export function differs(status: AnyStatus, present: AnyStatus, drops: readonly string[] = []): boolean {
  const types = ownTypes.union(new Set([...drops, ...(status.conditions ?? []).map(({ type }) => type)]));
  return !isDeepStrictEqual(comparable(status, types), comparable(present, types));
}

function comparable(status: AnyStatus, types: ReadonlySet<string>): unknown {
  const own = (status.conditions ?? []).filter(({ type }) => types.has(type));
  return { ...status, conditions: own.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}
