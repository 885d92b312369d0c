// The objects of the operator's benchmark: each Project has an ApiResource with a schema of 4 KiB,
// a RootKey, and two ApiKeys; every tenth has a ProjectUser instead of the second key.

import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion, type Kind } from "../../core/manifests/object.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes, namespaceType } from "../../operator/kube/objects.ts";

const namespaces = 20;
const atOnce = 16;

export function projectOf(index: number): ProjectRef {
  return { namespace: `bench-${index % namespaces}`, name: `p${index}` };
}

/** Returns how many objects it created. */
export async function declareMany(api: KubeApi, projects: number): Promise<number> {
  for (let index = 0; index < namespaces; index += 1) {
    await api.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: `bench-${index}` } });
  }
  let created = 0;
  await mapLimited(
    Array.from({ length: projects }, (_, index) => index),
    atOnce,
    async (index) => {
      for (const object of objectsOfProject(index)) {
        await api.create(customTypes[object.kind], object);
        created += 1;
      }
    },
  );
  return created;
}

/** Twenty of them are 4 KiB. */
const describedField = {
  type: "string",
  maxLength: 200,
  description: "What a team writes about one of its fields. ".repeat(3),
};

type Declared = JsonObject & { readonly kind: Kind };

function objectsOfProject(index: number): readonly Declared[] {
  const { namespace, name } = projectOf(index);
  const object = (kind: Kind, suffix: string, spec: JsonObject): Declared => ({
    apiVersion,
    kind,
    metadata: { namespace, name: `${name}${suffix}` },
    spec: kind === "Project" ? spec : { projectRef: { name }, ...spec },
  });
  const properties = {
    title: { type: "string", maxLength: 200 },
    price: { type: "number" },
    ...Object.fromEntries(Array.from({ length: 20 }, (_, field) => [`field${field}`, describedField])),
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
