// The objects of the operator's benchmark: each project has an ApiResource with a schema of 4 KiB, a RootKey, two ApiKeys or, every tenth,
// one and a ProjectUser, spread over namespaces.

import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion, type Kind } from "../../core/manifests/object.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes, namespaceType } from "../../operator/kube/resource-types.ts";

const namespaces = 20;
/** Projects that are made at a time. */
const atOnce = 16;

export function projectOf(index: number): ProjectRef {
  return { namespace: `bench-${index % namespaces}`, name: `p${index}` };
}

/** Makes all objects; answers with how many. */
export async function declareMany(api: KubeApi, projects: number): Promise<number> {
  for (let index = 0; index < namespaces; index += 1) {
    await api.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: `bench-${index}` } });
  }
  let made = 0;
  const refs = Array.from({ length: projects }, (_, index) => projectOf(index));
  await declareAll(api, refs, {
    atOnce,
    onMade: () => {
      made += 1;
    },
  });
  return made;
}

export interface DeclareOptions {
  /** How many Projects are made at a time. */
  readonly atOnce: number;
  /** Called for each object. */
  readonly onMade: () => void;
  /** Once it says so, no Project is begun; never by default. */
  readonly stopped?: () => boolean;
}

export async function declareAll(
  api: KubeApi,
  refs: readonly ProjectRef[],
  { atOnce, onMade, stopped = () => false }: DeclareOptions,
): Promise<void> {
  await mapLimited([...refs.entries()], atOnce, async ([index, ref]) => {
    if (stopped()) return;
    for (const object of objectsOfProject(ref, index)) {
      await api.create(customTypes[object.kind], object);
      onMade();
    }
  });
}

/** Twenty of them are 4 KiB. */
const describedField = {
  type: "string",
  maxLength: 200,
  description: "What a team writes about one of its fields. ".repeat(3),
};

type Declared = JsonObject & { readonly kind: Kind };

/** Every tenth `index` has a ProjectUser. */
function objectsOfProject({ namespace, name }: ProjectRef, index: number): readonly Declared[] {
  const object = (kind: Kind, suffix: string, spec: JsonObject): Declared => ({
    apiVersion,
    kind,
    metadata: { namespace, name: `${name}${suffix}` },
    spec: kind === "Project" ? spec : { projectRef: { name }, ...spec },
  });
  const properties = {
    title: { type: "string", maxLength: 200 },
    price: { type: "number" },
    year: { type: "integer" },
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, describedField])),
  };
  return [
    object("Project", "", {}),
    object("ApiResource", "-books", {
      resourceName: "books",
      access: { read: "Anyone" },
      schema: { type: "object", required: ["title"], additionalProperties: false, properties },
    }),
    object("RootKey", "-flags", { key: "flags", initialValue: { beta: false } }),
    object("ApiKey", "-a", { role: "Administrators", access: "Write" }),
    ...(index % 10 === 0 ? [object("ProjectUser", "-user", { access: "Write" })] : [object("ApiKey", "-b", {})]),
  ];
}
