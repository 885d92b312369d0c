// Groups the objects of a folder by Project, and decides which Project holds each host, by the operator's own rule.

import { keyOfProject } from "../../core/config/config-keys.ts";
import { createHostClaims, type Holders } from "../../operator/compile/host-claims.ts";
import type { HostPolicy } from "../../operator/compile/host-policy.ts";
import { grantFor, type HostGrant } from "../../operator/compile/hosts.ts";
import type {
  ApiKey,
  ApiResource,
  CustomResource,
  Project,
  ProjectUser,
  RootKey,
} from "../../operator/model/objects.ts";
import { type ProjectObjects, projectRefOf } from "../../operator/model/project-objects.ts";

interface Bundle {
  readonly ref: ProjectObjects["ref"];
  project?: Project;
  readonly resources: ApiResource[];
  readonly rootKeys: RootKey[];
  readonly users: ProjectUser[];
  readonly keys: ApiKey[];
}

/** By `<namespace>/<name>`. A Project that only its children name is there too, so that their statuses say that it is missing. */
export function groupByProject(objects: readonly CustomResource[]): ReadonlyMap<string, ProjectObjects> {
  const bundles = new Map<string, Bundle>();
  for (const object of objects) {
    const ref = projectRefOf(object);
    const key = keyOfProject(ref);
    const bundle = bundles.get(key) ?? { ref, resources: [], rootKeys: [], users: [], keys: [] };
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

/** On one's own machine every host may be claimed; two Projects still can't have the same one. */
export const everyHost: HostPolicy = Object.freeze({ mayClaim: () => true, suffixesOf: () => [] });

/** The hosts of each Project, by its UID. `incumbents` says which UID holds a host in what is served already. */
export function grantHosts(
  projects: readonly Project[],
  incumbents: Holders,
  policy: HostPolicy = everyHost,
): ReadonlyMap<string, HostGrant> {
  const claims = createHostClaims();
  for (const project of projects) claims.put(project);
  return new Map(projects.map((project) => [project.metadata.uid, grantFor(project, claims, incumbents, policy)]));
}
