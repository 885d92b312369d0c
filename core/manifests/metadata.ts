// Checks `metadata` as the API server does, and gives an object without a namespace the namespace `default`.

import type { Json, JsonObject } from "../config/types.ts";
import { isObject } from "../json/json-value.ts";
import type { ManifestPath } from "./field-errors.ts";
import { type FieldError, forbidden, invalid, required, typeName, wrongType } from "./field-errors.ts";
import type { ObjectMeta } from "./object.ts";
import type { SchemaNode } from "./schema-node.ts";
import { structuralErrors } from "./structure.ts";
import { unknownFields } from "./unknown-fields.ts";

export const defaultNamespace = "default";

const text: SchemaNode = { type: "string" };
const texts: SchemaNode = { type: "object", additionalProperties: text };
const free: SchemaNode = { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } };
const objectMeta: SchemaNode = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    selfLink: text,
    resourceVersion: text,
    generation: { type: "integer" },
    creationTimestamp: { ...text, nullable: true },
    deletionTimestamp: { ...text, nullable: true },
    deletionGracePeriodSeconds: { type: "integer", nullable: true },
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: text },
    ownerReferences: free,
    managedFields: free,
  },
};

const label = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
export const dnsLabel = new RegExp(`^${label}$`);
/** A namespace and the name of a Project, as keys and commands have them: `default/shop`. */
export const projectKey = new RegExp(`^${label}/${label}$`);
export const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelText = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;

/** What is wrong with `metadata`; what names our own kinds may have, their CRDs say. */
export function metadataErrors(metadata: Json | undefined): readonly FieldError[] {
  const path = ["metadata"];
  if (metadata === undefined || metadata === null)
    return [required([...path, "name"], "name or generateName is required")];
  if (!isObject(metadata)) return [wrongType(path, "object", typeName(metadata))];
  const typed = structuralErrors(objectMeta, metadata, path);
  return [
    ...typed,
    ...unknownFields(objectMeta, metadata, path),
    ...(typed.length > 0 ? [] : textErrors(metadata, path)),
  ];
}

function textErrors(metadata: JsonObject, path: ManifestPath): readonly FieldError[] {
  const { name, namespace } = metadata;
  const errors: FieldError[] = [];
  if (typeof metadata["generateName"] === "string" && metadata["generateName"] !== "") {
    errors.push(forbidden([...path, "generateName"], "a manifest that is applied again and again needs a name"));
  }
  if (typeof name !== "string" || name === "")
    errors.push(required([...path, "name"], "name or generateName is required"));
  if (typeof namespace === "string" && namespace !== "" && !dnsLabel.test(namespace)) {
    const rule = "a namespace has lower-case letters, digits and -, up to 63 of them";
    errors.push(invalid([...path, "namespace"], namespace, rule));
  }
  return [...errors, ...labelErrors(metadata["labels"], [...path, "labels"])];
}

function labelErrors(labels: Json | undefined, path: ManifestPath): readonly FieldError[] {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([name, value]) =>
    typeof value === "string" && labelText.test(value)
      ? []
      : [invalid([...path, name], value, "a label's value has letters, digits and - _ . up to 63 of them")],
  );
}

/** Secrets may have dots in their names, unlike our own kinds. */
export function secretNameErrors(name: string): readonly FieldError[] {
  const rule = "a Secret's name has lower-case letters, digits, - and .";
  return dnsSubdomain.test(name) ? [] : [invalid(["metadata", "name"], name, rule)];
}

/** `metadata` that has passed the checks above, with its namespace. */
export function completeMetadata(metadata: JsonObject): ObjectMeta {
  const { namespace } = metadata;
  const known = typeof namespace === "string" && namespace !== "" ? namespace : defaultNamespace;
  return { ...(metadata as unknown as ObjectMeta), namespace: known };
}
