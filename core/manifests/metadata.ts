// Checks `metadata` as the API server does, and gives an object without a namespace the namespace
// `default`.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import {
  type FieldError,
  forbidden,
  invalid,
  type ManifestPath,
  required,
  tooLong,
  typeName,
  wrongType,
} from "./field-errors.ts";
import type { ObjectMeta } from "./object.ts";
import type { SchemaNode } from "./schema-node.ts";
import { structuralErrors, unknownFields } from "./structure.ts";

export const defaultNamespace = "default";

const text: SchemaNode = { type: "string" };
const time: SchemaNode = { type: "string", format: "date-time", nullable: true };
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
    creationTimestamp: time,
    deletionTimestamp: time,
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
/** Of all annotations of an object. */
export const maxAnnotationBytes = 256 * 1024;
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
  return [
    ...errors,
    ...labelErrors(metadata["labels"], [...path, "labels"]),
    ...annotationErrors(metadata["annotations"], [...path, "annotations"]),
    ...finalizerErrors(metadata["finalizers"], [...path, "finalizers"]),
  ];
}

function labelErrors(labels: Json | undefined, path: ManifestPath): readonly FieldError[] {
  if (!isObject(labels)) return [];
  const values = Object.entries(labels).flatMap(([name, value]) =>
    typeof value === "string" && labelText.test(value)
      ? []
      : [invalid([...path, name], value, "a label's value has letters, digits and - _ . up to 63 of them")],
  );
  return [...nameErrors(Object.keys(labels), path), ...values];
}

function annotationErrors(annotations: Json | undefined, path: ManifestPath): readonly FieldError[] {
  if (!isObject(annotations)) return [];
  const bytes = annotationBytes(annotations);
  // The API server's check is case-sensitive for names of labels only.
  const errors = nameErrors(Object.keys(annotations), path, (name) => name.toLowerCase());
  return bytes > maxAnnotationBytes ? [...errors, tooLong(path, maxAnnotationBytes)] : errors;
}

/** Bytes of all names and values. */
export function annotationBytes(annotations: Json | undefined): number {
  const members = isObject(annotations) ? Object.entries(annotations) : [];
  return members.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)), 0);
}

function finalizerErrors(finalizers: Json | undefined, path: ManifestPath): readonly FieldError[] {
  const names = isArray(finalizers) ? finalizers.map(String) : [];
  return nameErrors(names, path).map((error) => ({
    ...error,
    path: [...path, names.indexOf(String(error.path.at(-1)))],
  }));
}

function nameErrors(
  names: readonly string[],
  path: ManifestPath,
  normalise = (name: string): string => name,
): readonly FieldError[] {
  const rule = "a name has letters, digits and - _ . up to 63 of them, with a domain and / in front or without";
  return names.filter((name) => !isQualifiedName(normalise(name))).map((name) => invalid([...path, name], name, rule));
}

function isQualifiedName(text: string): boolean {
  const [name = "", prefix, ...more] = text.split("/").toReversed();
  return (
    name !== "" && labelText.test(name) && (prefix === undefined || dnsSubdomain.test(prefix)) && more.length === 0
  );
}

/** Secrets may have dots in their names, unlike our own kinds. */
export function secretNameErrors(name: string): readonly FieldError[] {
  const rule = "a Secret's name has lower-case letters, digits, - and .";
  return dnsSubdomain.test(name) ? [] : [invalid(["metadata", "name"], name, rule)];
}

/**
 * `metadata` that passed the checks, with its namespace. Fields of a deletion are dropped, as the
 * API server drops them: a manifest may be what `kubectl get` printed.
 */
export function completeMetadata(manifest: JsonObject): ObjectMeta {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata } = manifest;
  const { namespace } = metadata;
  const known = typeof namespace === "string" && namespace !== "" ? namespace : defaultNamespace;
  return { ...(metadata as unknown as ObjectMeta), namespace: known };
}
