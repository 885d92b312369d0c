// Every type of object that the operator reads or writes, as the API addresses it.

import { group, type Kind, kinds, version } from "../../core/manifests/object.ts";
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
