// Custom resources as the API server gives them back, with the defaults of their CRD, for tests
// that need some and don't care what else stands in them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../../../core/config/types.ts";
import type {
  ApiKey,
  ApiResource,
  CustomResource,
  Project,
  ProjectUser,
  RootKey,
  StoredMeta,
} from "../../../operator/model/objects.ts";
import type { ProjectObjects } from "../../../operator/model/project-objects.ts";
import { crdFolder } from "../../../tools/read-crds.ts";

interface Kinds {
  readonly Project: Project;
  readonly ApiResource: ApiResource;
  readonly ProjectUser: ProjectUser;
  readonly ApiKey: ApiKey;
  readonly RootKey: RootKey;
}

export interface Given {
  readonly metadata?: Partial<StoredMeta>;
  readonly spec?: JsonObject;
  readonly status?: object;
}

/**
 * Its UID is `<kind> <name>` and it belongs to the Project `shop`, unless the test says otherwise.
 */
export function stored<K extends keyof Kinds>(kind: K, name: string, { metadata, spec, status }: Given = {}): Kinds[K] {
  const needed = kind === "Project" ? {} : { projectRef: { name: "shop" } };
  const schema = kind === "ApiResource" ? { schema: { type: "object" } } : {};
  const object = {
    apiVersion: "jsonplane.io/v1alpha1",
    kind,
    metadata: {
      namespace: "default",
      name,
      uid: `${kind} ${name}`,
      resourceVersion: "7",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
    spec: withDefaults({ ...needed, ...schema, ...spec }, specSchema(kind)),
    ...(status !== undefined && { status }),
  };
  return object as unknown as Kinds[K];
}

/** Metadata of an object that is on its way out. */
export const terminating = { deletionTimestamp: "2026-11-21T12:00:00Z" } as const;

export function projectObjects(name: string, ...objects: readonly CustomResource[]): ProjectObjects {
  const of = <K extends keyof Kinds>(kind: K): readonly Kinds[K][] =>
    objects.filter((object) => object.kind === kind) as unknown as readonly Kinds[K][];
  const [project] = of("Project");
  return {
    ref: { namespace: "default", name },
    ...(project !== undefined && { project }),
    resources: of("ApiResource"),
    rootKeys: of("RootKey"),
    users: of("ProjectUser"),
    keys: of("ApiKey"),
  };
}

const specSchemas = new Map<keyof Kinds, JsonObject>();

function specSchema(kind: keyof Kinds): JsonObject {
  const known = specSchemas.get(kind) ?? readSpecSchema(kind);
  specSchemas.set(kind, known);
  return known;
}

function readSpecSchema(kind: keyof Kinds): JsonObject {
  const file = join(crdFolder, `${kind.toLowerCase()}.yaml`);
  const schema = parse(readFileSync(file, "utf8")).spec.versions[0].schema.openAPIV3Schema as JsonObject;
  return (schema.properties as JsonObject).spec as JsonObject;
}

function withDefaults(value: unknown, schema: JsonObject): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, JsonObject>)) {
    if (filled[name] === undefined && property.default !== undefined) filled[name] = property.default;
    if (filled[name] !== undefined) filled[name] = withDefaults(filled[name], property);
  }
  return filled;
}
