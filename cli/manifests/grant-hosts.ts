// Which Project of a folder holds each host, by the operator's own rule.

import { createHostClaims, type Holders } from "../../operator/compile/host-claims.ts";
import type { HostPolicy } from "../../operator/compile/host-policy.ts";
import { grantFor, type HostGrant } from "../../operator/compile/hosts.ts";
import type { Project } from "../../operator/model/objects.ts";

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
