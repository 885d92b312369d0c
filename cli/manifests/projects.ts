// Groups the objects of a folder by Project, and decides which Project owns each host, by the
// operator's own rule.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { createHostClaims, type Holders } from "../../operator/compile/host-claims.ts";
import { grantFor, type HostGrant, type HostPolicy } from "../../operator/compile/hosts.ts";
import { childrenByKind } from "../../operator/model/kinds.ts";
import type { CustomResource, Project } from "../../operator/model/objects.ts";
import { type ProjectObjects, projectRefOf } from "../../operator/model/project-objects.ts";

/** By `<namespace>/<name>`, with Projects that only children name: statuses say what is missing. */
export function groupByProject(objects: readonly CustomResource[]): ReadonlyMap<string, ProjectObjects> {
  const groups = Map.groupBy(objects, (object) => keyOfProject(projectRefOf(object)));
  return new Map(
    [...groups].map(([key, group]) => {
      const project = group.find((object) => object.kind === "Project");
      return [key, { ref: projectOfKey(key), ...(project !== undefined && { project }), ...childrenByKind(group) }];
    }),
  );
}

/** On one's own machine every host may be claimed; two Projects still can't have the same one. */
export const everyHost: HostPolicy = Object.freeze({ mayClaim: () => true, suffixesOf: () => [] });

/** The hosts of each Project, by its UID. `incumbents`: which UID has a host now. */
export function grantHosts(
  projects: readonly Project[],
  incumbents: Holders,
  policy: HostPolicy = everyHost,
): ReadonlyMap<string, HostGrant> {
  const claims = createHostClaims();
  for (const project of projects) claims.put(project);
  return new Map(projects.map((project) => [project.metadata.uid, grantFor(project, claims, incumbents, policy)]));
}
