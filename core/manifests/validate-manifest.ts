// Turns a manifest of one of the five kinds into the object that a cluster would store, defaults filled in, or into the
// list of what is wrong with it, in the words of the API server.

import type { Json } from "../config/types.ts";
import { isObject } from "../json/json-value.ts";
import { withDefaults } from "./defaults.ts";
import { type FieldFault, invalid, type Problem, problemOf, required } from "./faults.ts";
import { type ApiKey, apiKeySchema } from "./generated/apikey.generated.ts";
import { type ApiResource, apiResourceSchema } from "./generated/apiresource.generated.ts";
import { type Project, projectSchema } from "./generated/project.generated.ts";
import { type ProjectUser, projectUserSchema } from "./generated/projectuser.generated.ts";
import { type RootKey, rootKeySchema } from "./generated/rootkey.generated.ts";
import { completeMetadata, metadataFaults } from "./metadata.ts";
import { nearest } from "./nearest.ts";
import { apiVersion, isKind, type Kind, kinds, type UncheckedObject } from "./object.ts";
import { ruleFaults } from "./rules.ts";
import type { SchemaNode } from "./schema-node.ts";
import { structuralFaults } from "./structure.ts";
import { unknownFields } from "./unknown-fields.ts";

/** An object of one of the five kinds, checked and with its defaults. */
export type Manifest = Project | ApiResource | ProjectUser | ApiKey | RootKey;

export type ManifestResult =
  | { readonly ok: true; readonly object: Manifest }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const schemas: { readonly [kind in Kind]: SchemaNode } = {
  Project: projectSchema,
  ApiResource: apiResourceSchema,
  ProjectUser: projectUserSchema,
  ApiKey: apiKeySchema,
  RootKey: rootKeySchema,
};

/**
 * `previous` is the last accepted version of the same object, as an earlier call returned it: fields that can't be changed
 * are compared with it. Neither argument is changed. `status` is dropped, as the API server drops it.
 */
export function validateManifest(object: UncheckedObject, previous?: Manifest): ManifestResult {
  const { kind } = object;
  if (!isKind(kind) || object["apiVersion"] !== apiVersion) return refuse(kindFaults(object));
  const schema = schemas[kind];
  const { status: _, metadata, ...rest } = object;
  const unknown = [...metadataFaults(metadata), ...unknownFields(schema, rest)];
  if (!isObject(metadata) || unknown.some((fault) => fault.blocking)) {
    return refuse([...unknown, ...structuralFaults(schema, withDefaults(schema, rest))]);
  }
  const complete = withDefaults(schema, { ...rest, metadata: completeMetadata(metadata) } as unknown as Json);
  const structural = structuralFaults(schema, complete);
  const rules = structural.some((fault) => fault.blocking)
    ? []
    : ruleFaults(schema, { value: complete, old: previous as unknown as Json | undefined });
  const faults = [...unknown, ...structural, ...rules];
  return faults.length === 0 ? { ok: true, object: complete as unknown as Manifest } : refuse(faults);
}

function kindFaults(object: UncheckedObject): readonly FieldFault[] {
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

function refuse(faults: readonly FieldFault[]): ManifestResult {
  return { ok: false, problems: faults.map(problemOf) };
}
