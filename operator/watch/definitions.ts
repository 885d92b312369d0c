// Asks the API server about the CustomResourceDefinition of a kind: when it goes, all objects of the kind go with it, and nobody
// wanted that of any one of them.

import type { Kind } from "../../core/manifests/object.ts";
import { isForbidden, type KubeReader } from "../kube/api.ts";
import { customTypes, definitionType } from "../kube/resource-types.ts";

export type DefinitionState =
  | { readonly what: "stands"; readonly uid: string; readonly createdAt: number }
  /** Somebody has deleted it: its objects go, and then it goes itself. */
  | { readonly what: "terminating"; readonly uid: string; readonly createdAt: number }
  | { readonly what: "gone" }
  /** The right to ask is missing; `error` = what the API server said. */
  | { readonly what: "unknown"; readonly error: unknown };

/** Consistent readings. Throws what the API server said, unless it is a refusal. */
export type LookAtDefinition = (kind: Kind) => Promise<DefinitionState>;

export function definitionNameOf(kind: Kind): string {
  const { plural, group } = customTypes[kind];
  return `${plural}.${group}`;
}

export function createDefinitionLook(reader: Pick<KubeReader, "get">): LookAtDefinition {
  return async (kind) => {
    try {
      const found = await reader.get(definitionType, { namespace: "", name: definitionNameOf(kind) });
      if (found === undefined) return { what: "gone" };
      const { uid, deletionTimestamp, creationTimestamp } = found.metadata;
      const createdAt = Date.parse(creationTimestamp ?? "") || 0;
      return { what: deletionTimestamp === undefined ? "stands" : "terminating", uid, createdAt };
    } catch (error) {
      if (isForbidden(error)) return { what: "unknown", error };
      throw error;
    }
  };
}
