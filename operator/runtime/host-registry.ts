// Who may serve which host, over all Projects: claims as Projects come and go, holders as they are published. Names the keys of
// Projects that must be looked at again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import { createHostClaims, createHostHolders, unseenHolder } from "../compile/host-claims.ts";
import type { HostPolicy } from "../compile/host-policy.ts";
import { grantFor, type HostGrant } from "../compile/hosts.ts";
import type { CustomResource, Project } from "../model/objects.ts";

export interface HostRegistry {
  put(project: Project): readonly string[];
  remove(project: Project): readonly string[];
  grantOf(project: Project): HostGrant;
  /** Takes over what a project is published with; undefined = nothing. */
  published(ref: ProjectRef, parts: ProjectParts | undefined): readonly string[];
  /**
   * Adds what was already published when the session began: the hosts belong to the Project of that name. Without a UID, that Project's
   * namespace is not seen: its hosts stay taken until it is seen, or until the Project is withdrawn.
   */
  addPublished(ref: ProjectRef, uid: string | undefined, hosts: readonly string[]): void;
}

export function createHostRegistry(policy: HostPolicy): HostRegistry {
  const claims = createHostClaims();
  const holders = createHostHolders();
  return {
    put(project) {
      holders.seen(project.metadata, project.metadata.uid);
      return claims.put(project);
    },
    remove: (project) => claims.remove(project.metadata),
    grantOf: (project) => grantFor(project, claims, holders, policy),
    published(ref, parts) {
      const changed = holders.publish(ref, parts && { uid: parts.project.uid, hosts: parts.project.hosts });
      const claimants = changed.flatMap((host) =>
        claims.claimantsOf(host).map(({ metadata }) => keyOfProject(metadata)),
      );
      return [...new Set(claimants)].filter((key) => key !== keyOfProject(ref));
    },
    addPublished(ref, uid, hosts) {
      holders.publish(ref, { uid: uid ?? unseenHolder, hosts });
    },
  };
}

export function isProject(object: CustomResource): object is Project {
  return object.kind === "Project";
}
