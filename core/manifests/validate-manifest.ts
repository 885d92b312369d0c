// Turns a manifest of one of the five kinds into the object that a cluster would store, defaults
// filled in, or into the list of what is wrong with it, in the words of the API server.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { nearest } from "../nearest.ts";
import { type FieldError, invalid, type ManifestProblem, problemOf, required } from "./field-errors.ts";
import { type ApiKey, apiKeySchema } from "./generated/apikey.generated.ts";
import { type ApiResource, apiResourceSchema } from "./generated/apiresource.generated.ts";
import { type Project, projectSchema } from "./generated/project.generated.ts";
import { type ProjectUser, projectUserSchema } from "./generated/projectuser.generated.ts";
import { type RootKey, rootKeySchema } from "./generated/rootkey.generated.ts";
import { completeMetadata, metadataErrors } from "./metadata.ts";
import { apiVersion, isKind, isServed, type Kind, kinds, type UncheckedObject } from "./object.ts";
import { ruleErrors } from "./rules.ts";
import { nodeOf, type SchemaNode } from "./schema-node.ts";
import { structuralErrors, unknownFields } from "./structure.ts";

/** An object of one of the five kinds, checked and with its defaults. */
export type Manifest = Project | ApiResource | ProjectUser | ApiKey | RootKey;

export type ManifestResult =
  | { readonly ok: true; readonly object: Manifest }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const schemas: { readonly [kind in Kind]: SchemaNode } = {
  Project: projectSchema,
  ApiResource: apiResourceSchema,
  ProjectUser: projectUserSchema,
  ApiKey: apiKeySchema,
  RootKey: rootKeySchema,
};

/**
 * `previous` is the last accepted version of the same object, as an earlier call returned it:
 * immutable fields are compared with it. Neither argument is changed. `status` is dropped, as the
 * API server drops it, and the object has the version that is stored.
 */
export function validateManifest(object: UncheckedObject, previous?: Manifest): ManifestResult {
  const { kind } = object;
  if (!isKind(kind) || !isServed(object["apiVersion"])) return refuse(kindErrors(object));
  const schema = schemas[kind];
  const { status: _, metadata, ...given } = object;
  const rest = { ...given, apiVersion };
  const unknown = [...metadataErrors(metadata), ...unknownFields(schema, rest)];
  if (!isObject(metadata) || unknown.some((error) => error.blocking)) {
    return refuse([...unknown, ...structuralErrors(schema, withDefaults(schema, rest))]);
  }
  const complete = withDefaults(schema, { ...rest, metadata: completeMetadata(metadata) } as unknown as Json);
  const structural = structuralErrors(schema, complete);
  const rules = structural.some((error) => error.blocking)
    ? []
    : ruleErrors(schema, { value: complete, old: previous as unknown as Json | undefined });
  const errors = [...unknown, ...structural, ...rules];
  return errors.length === 0 ? { ok: true, object: complete as unknown as Manifest } : refuse(errors);
}

function kindErrors(object: UncheckedObject): readonly FieldError[] {
  const { kind } = object;
  const version = object["apiVersion"];
  if (typeof version !== "string" || version === "") return [required(["apiVersion"], `write ${apiVersion}`)];
  if (typeof kind !== "string" || kind === "") return [required(["kind"], `one of ${kinds.join(", ")}`)];
  const start = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(version)}`;
  if (isKind(kind)) return [invalid(["apiVersion"], version, `${start}, write ${apiVersion}`)];
  const meant = nearest(kind, kinds);
  const hint = meant === undefined ? `the kinds are ${kinds.join(", ")}` : `did you mean ${meant}?`;
  return [invalid(["kind"], kind, `${start}, ${hint}`)];
}

function refuse(errors: readonly FieldError[]): ManifestResult {
  return { ok: false, problems: errors.map(problemOf) };
}

/**
 * `value` with the defaults of a CRD's schema, as the API server fills them in: a null that is not
 * allowed counts as absent.
 */
function withDefaults(schema: SchemaNode, value: Json): Json {
  if (isArray(value)) return value.map((item) => withDefaults(schema.items ?? {}, withoutNull(schema.items, item)));
  if (value === null || typeof value !== "object") return value;
  return objectWithDefaults(schema, value);
}

function objectWithDefaults(schema: SchemaNode, value: JsonObject): JsonObject {
  const properties = schema.properties ?? {};
  const members = new Map(Object.entries(value).filter(([name, member]) => !isStrayNull(nodeOf(schema, name), member)));
  for (const [name, property] of Object.entries(properties)) {
    if (!members.has(name) && property.default !== undefined) members.set(name, property.default);
  }
  return Object.fromEntries(
    Array.from(members, ([name, member]) => [name, withDefaults(nodeOf(schema, name) ?? {}, member)]),
  );
}

/** A null for a field that can't be null is dropped, and its default takes the place. */
function isStrayNull(node: SchemaNode | undefined, member: Json): boolean {
  return member === null && node !== undefined && node.nullable !== true;
}

function withoutNull(node: SchemaNode | undefined, item: Json): Json {
  return isStrayNull(node, item) ? (node?.default ?? null) : item;
}
