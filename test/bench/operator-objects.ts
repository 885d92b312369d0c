// The objects of the operator's benchmark: each project has an ApiResource, a RootKey, two ApiKeys, and every tenth a
// ProjectUser more, spread over namespaces. A user costs an argon2id hash of some 40 ms of one core, by design.

import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
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
      for (const object of objectsOf(index)) {
        await api.create(customTypes[object.kind as keyof typeof customTypes], object);
        made += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return made;
}

function objectsOf(index: number): readonly (JsonObject & { readonly kind: string })[] {
  const { namespace, name } = projectOf(index);
  const object = (kind: string, suffix: string, spec: JsonObject) => ({
    apiVersion,
    kind,
    metadata: { namespace, name: `${name}${suffix}` },
    spec: kind === "Project" ? spec : { projectRef: { name }, ...spec },
  });
  const properties = {
    title: { type: "string", maxLength: 200 },
    price: { type: "number" },
    year: { type: "integer" },
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
