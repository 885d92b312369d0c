// The objects of the operator's benchmark: each project has an ApiResource with a schema of 4 KiB, a RootKey, two ApiKeys or, every tenth,
// one and a ProjectUser, spread over namespaces.

import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion, type Kind } from "../../core/manifests/object.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes, namespaceType } from "../../operator/kube/resource-types.ts";

const namespaces = 20;
const atOnce = 16;

export function projectOf(index: number): ProjectRef {
  return { namespace: `bench-${index % namespaces}`, name: `p${index}` };
}

/** Makes all objects; answers with how many. */
export async function declareMany(api: KubeApi, projects: number): Promise<number> {
  for (let index = 0; index < namespaces; index += 1) {
    await api.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: `bench-${index}` } });
  }
  let next = 0;
  let made = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < projects; index = next++) {
      for (const object of objectsOfProject(projectOf(index), index)) {
        await api.create(customTypes[object.kind], object);
        made += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return made;
}

/** Twenty of them are 4 KiB. */
const describedField = {
  type: "string",
  maxLength: 200,
  description: "What a team writes about one of its fields. ".repeat(3),
};

type Declared = JsonObject & { readonly kind: Kind };

/** Every tenth `index` has a ProjectUser. */
export function objectsOfProject({ namespace, name }: ProjectRef, index: number): readonly Declared[] {
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
    ...Object.fromEntries(Array.from({ length: 20 }, (_, place) => [`field${place}`, describedField])),
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
