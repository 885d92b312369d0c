// Who may serve which host, over all Projects: claims as Projects come and go, holders as they are
// published. Names the keys of Projects that must be looked at again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import type { Claimant } from "../compile/award-names.ts";
import { createHostClaims, createHostHolders, type HostClaims, unseenHolder } from "../compile/host-claims.ts";
import { grantFor, type HostGrant, type HostPolicy } from "../compile/hosts.ts";
import type { CustomResource, Project } from "../model/objects.ts";

export interface HostRegistry {
  put(project: Project): readonly string[];
  remove(project: Project): readonly string[];
  grantOf(project: Project): HostGrant;
  /**
   * Takes over what a project is published with; undefined = nothing. `refusedUid`: of the Project,
   * if the platform's rules refuse it. Then it claims no host but those that it is published with.
   */
  published(ref: ProjectRef, config: CompiledProject | undefined, refusedUid?: string): readonly string[];
  /**
   * Adds what was already published when the session began: the hosts belong to the Project of that
   * name. Without a UID, that Project's namespace is not seen: its hosts stay taken until it is
   * seen, or until the Project is withdrawn.
   */
  addPublished(ref: ProjectRef, uid: string | undefined, hosts: readonly string[]): void;
}

export function createHostRegistry(policy: HostPolicy): HostRegistry {
  const claims = createHostClaims();
  const holders = createHostHolders();
  /** UIDs of Projects that the platform's rules refuse, by key. */
  const refused = new Map<string, string>();
  const isInForce = ({ metadata }: Claimant, host: string): boolean =>
    holders.get(host) === metadata.uid || refused.get(keyOfProject(metadata)) !== metadata.uid;
  const claimsInForce: Pick<HostClaims, "claimantsOf"> = {
    claimantsOf: (host) => claims.claimantsOf(host).filter((claimant) => isInForce(claimant, host)),
  };

  /** The hosts that the Project claims, if its claims came into force by that, or ceased to be. */
  const setRefused = (ref: ProjectRef, uid: string | undefined): Iterable<string> => {
    const key = keyOfProject(ref);
    if (refused.get(key) === uid) return [];
    if (uid === undefined) refused.delete(key);
    else refused.set(key, uid);
    return claims.claimedBy(ref);
  };

  return {
    put(project) {
      holders.seen(project.metadata, project.metadata.uid);
      return claims.put(project);
    },
    remove: (project) => claims.remove(project.metadata),
    grantOf: (project) => grantFor(project, claimsInForce, holders, policy),
    published(ref, config, refusedUid) {
      const published = holders.publish(ref, config?.project.uid, config?.project.hosts ?? []);
      const changed = [...published, ...setRefused(ref, refusedUid)];
      const claimants = changed.flatMap((host) =>
        claims.claimantsOf(host).map(({ metadata }) => keyOfProject(metadata)),
      );
      return [...new Set(claimants)].filter((key) => key !== keyOfProject(ref));
    },
    addPublished(ref, uid, hosts) {
      holders.publish(ref, uid ?? unseenHolder, hosts);
    },
  };
}

export function isProject(object: CustomResource): object is Project {
  return object.kind === "Project";
}
