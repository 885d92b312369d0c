// Turns objects of many Projects into one bundle per Project, keyed `<namespace>/<name>`: a Project that only its children
// name has a bundle too, so that their statuses say that it is missing.

import type {
  ApiKey,
  ApiResource,
  CustomResource,
  Project,
  ProjectUser,
  RootKey,
} from "../../operator/model/objects.ts";
import type { ProjectObjects } from "../../operator/model/project-objects.ts";

interface Bundle {
  readonly ref: ProjectObjects["ref"];
  project?: Project;
  readonly resources: ApiResource[];
  readonly rootKeys: RootKey[];
  readonly users: ProjectUser[];
  readonly keys: ApiKey[];
}

export function groupByProject(objects: readonly CustomResource[]): ReadonlyMap<string, ProjectObjects> {
  const bundles = new Map<string, Bundle>();
  for (const object of objects) {
    const { namespace } = object.metadata;
    const name = object.kind === "Project" ? object.metadata.name : object.spec.projectRef.name;
    const key = `${namespace}/${name}`;
    const bundle = bundles.get(key) ?? { ref: { namespace, name }, resources: [], rootKeys: [], users: [], keys: [] };
    bundles.set(key, bundle);
    add(bundle, object);
  }
  return bundles;
}

function add(bundle: Bundle, object: CustomResource): void {
  switch (object.kind) {
    case "Project":
      bundle.project = object;
      return;
    case "ApiResource":
      bundle.resources.push(object);
      return;
    case "RootKey":
      bundle.rootKeys.push(object);
      return;
    case "ProjectUser":
      bundle.users.push(object);
      return;
    case "ApiKey":
      bundle.keys.push(object);
      return;
  }
}
