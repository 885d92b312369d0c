// Every type of object that the operator reads or writes, as the API addresses it, and annotations
// of objects.

import type { JsonObject } from "../../core/config/types.ts";
import { group, type Kind, kinds, type ObjectMeta, version } from "../../core/manifests/object.ts";
import type { ResourceType } from "./api.ts";

export const fieldManager = "jsonplane-operator";

/** The five kinds of the product, by kind. */
export const customTypes = Object.fromEntries(
  kinds.map((kind) => [kind, { group, version, plural: `${kind.toLowerCase()}s`, kind }]),
) as Readonly<Record<Kind, ResourceType>>;

export const secretType: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };
export const namespaceType: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace" };
export const configMapType: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" };
export const leaseType: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
};
export const eventType: ResourceType = { group: "events.k8s.io", version: "v1", plural: "events", kind: "Event" };
export const definitionType: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
};

/** An object that is there, or one that is about to be created. */
export interface Annotated {
  readonly metadata: Pick<ObjectMeta, "annotations">;
}

/** Empty where it has none, or where there is no object. */
export function annotationsOf(object: Annotated | undefined): Readonly<Record<string, string>> {
  return object?.metadata.annotations ?? {};
}

/** Words with spaces, commas or line breaks between them; none where there is no annotation. */
export function wordsIn(text: string | undefined): readonly string[] {
  return (text ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

/**
 * A copy for PUT or POST that has these annotations as well as its others; undefined removes one.
 */
export function withAnnotations(object: Annotated, changes: Readonly<Record<string, string | undefined>>): JsonObject {
  const all = Object.entries({ ...annotationsOf(object), ...changes });
  const annotations = Object.fromEntries(all.filter(([, value]) => value !== undefined));
  return { ...object, metadata: { ...object.metadata, annotations } } as unknown as JsonObject;
}
