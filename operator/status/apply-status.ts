// Writes the status of one object by server-side apply, only when something of it differs. An object that is gone, or made
// anew under its name, is left alone without a word; every other failure passes through.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import { isConflict, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { CustomResource } from "../model/objects.ts";
import type { Status } from "./object-status.ts";

/**
 * The object as the server has it now, for the cache; undefined when nothing had to be written or there is no such object. `yields` = not
 * over what somebody else has written since: it may be another installation, for which no event has this one write it once more. `drops` = types of
 * conditions that nobody else sees to any more.
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
  /** In a status the server looks at no UID: the version alone keeps it from an object that was made anew. */
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

/** Against somebody who edits an object all the time; then the queue waits before it tries again. */
const maxAttempts = 3;

/** Types of the conditions that are ours alone: others that stand beside them are none of our business, unless we say them. */
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

/** Whatever the order of members and conditions. Those of `drops` count as ours. */
export function differs(status: AnyStatus, present: AnyStatus, drops: readonly string[] = []): boolean {
  const types = ownTypes.union(new Set([...drops, ...(status.conditions ?? []).map(({ type }) => type)]));
  return !isDeepStrictEqual(comparable(status, types), comparable(present, types));
}

function comparable(status: AnyStatus, types: ReadonlySet<string>): unknown {
  const own = (status.conditions ?? []).filter(({ type }) => types.has(type));
  return { ...status, conditions: own.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}
