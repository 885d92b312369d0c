// Writes the status of one object by server-side apply, only when it differs. An object that was
// deleted, or recreated under its name, is skipped; every other failure is thrown.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion, type Kind } from "../../core/manifests/object.ts";
import { ApiFailure, isConflict, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { customTypes } from "../kube/objects.ts";
import { controllerOf, isOthers } from "../model/controller.ts";
import type { CustomResource } from "../model/objects.ts";
import type { Status } from "./object-status.ts";

/**
 * Returns the object as the server has it now, for the cache; undefined when nothing had to be
 * written or there is no such object. `controller` = this installation: what another one has taken
 * meanwhile is left to it.
 */
export async function applyStatus(
  api: Pick<KubeApi, "apply" | "get">,
  object: CustomResource,
  status: Status,
  controller: string,
): Promise<KubeObject | undefined> {
  if (!differs(status, object.status ?? {})) return undefined;
  const { namespace, name, uid } = object.metadata;
  let resourceVersion = object.metadata.resourceVersion;
  for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
    const written = await writeStatus(api, { object, resourceVersion, status })
      .catch(unlessNotFound)
      .catch(unlessConflict);
    if (written !== "conflict") return written;
    // The object was edited, possibly without being queued again: this status is still right.
    const present = await api.get(customTypes[object.kind], { namespace, name });
    if (present?.metadata.uid !== uid || wasTaken(object, present, controller)) return undefined;
    resourceVersion = present.metadata.resourceVersion;
  }
  return writeStatus(api, { object, resourceVersion, status }).catch(unlessNotFound);
}

/** By another installation, since the object was read. */
function wasTaken(object: CustomResource, present: KubeObject, controller: string): boolean {
  return controllerOf(present) !== controllerOf(object) && isOthers(present, controller);
}

interface StatusWrite {
  readonly object: CustomResource;
  /**
   * In a status the server looks at no UID: the version alone keeps it from an object that was
   * recreated.
   */
  readonly resourceVersion: string | undefined;
  readonly status: object;
}

export async function writeStatus(
  api: Pick<KubeApi, "apply">,
  { object: { kind, metadata }, resourceVersion, status }: StatusWrite,
): Promise<KubeObject> {
  const { namespace, name, uid } = metadata;
  const body = { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion }, status };
  try {
    return await api.apply(customTypes[kind], body as unknown as JsonObject, { subresource: "status" });
  } catch (error) {
    throw undeclared(kind, error) ?? error;
  }
}

/** `failed to create typed patch object (…): .status.controller: field not declared in schema` */
const undeclaredField = /(\.status\.\w+)[^:\n]*: field not declared in schema/;

function undeclared(kind: Kind, error: unknown): Error | undefined {
  const field = error instanceof ApiFailure ? undeclaredField.exec(error.message)?.[1] : undefined;
  if (field === undefined) return undefined;
  return new Error(
    `The CustomResourceDefinition of ${kind} in the cluster is of another version and does not declare ${field}: apply the CRDs of this version`,
  );
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function unlessConflict(error: unknown): "conflict" {
  if (isConflict(error)) return "conflict";
  throw error;
}

/**
 * Bounds the retries for an object that is edited all the time; then the queue waits before it
 * tries again.
 */
const maxAttempts = 3;

/**
 * Condition types that only the operator writes. Conditions of other types are compared only where
 * the new status has them.
 */
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

/** Ignores the order of members and conditions. */
export function differs(status: AnyStatus, present: AnyStatus): boolean {
  const types = ownTypes.union(new Set((status.conditions ?? []).map(({ type }) => type)));
  return !isDeepStrictEqual(comparable(status, types), comparable(present, types));
}

function comparable(status: AnyStatus, types: ReadonlySet<string>): unknown {
  const own = (status.conditions ?? []).filter(({ type }) => types.has(type));
  return { ...status, conditions: own.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}
