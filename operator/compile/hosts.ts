// Decides which Project holds each host, over all Projects of the fleet: only hosts that the platform lets the namespace
// claim, one holder each, by the same rule as names. What a Project does not get is refused with its place.

import type { Project } from "../objects.ts";
import type { Fault } from "../verdict.ts";
import { awardNames } from "./claims.ts";

export interface RefusedHost extends Fault {
  readonly reason: "HostConflict" | "InvalidSpec";
}

export interface HostGrant {
  /** In the order of the manifest. */
  readonly granted: readonly string[];
  readonly refused: readonly RefusedHost[];
}

export const noHosts: HostGrant = Object.freeze({ granted: [], refused: [] });

interface HostClaim {
  readonly metadata: Project["metadata"];
  readonly host: string;
}

/**
 * The hosts of each Project, by its UID. `incumbents` says which UID holds a host in what is published; `mayClaim` is the
 * platform's rule. A Project that is being deleted holds nothing.
 */
export function assignHosts(
  projects: readonly Project[],
  incumbents: ReadonlyMap<string, string>,
  mayClaim: (namespace: string, host: string) => boolean,
): ReadonlyMap<string, HostGrant> {
  const standing = projects.filter((project) => project.metadata.deletionTimestamp === undefined);
  const claims = standing.flatMap(claimsOf).filter(({ metadata, host }) => mayClaim(metadata.namespace, host));
  const holders = awardNames(
    claims,
    (claim) => claim.host,
    (host) => incumbents.get(host),
  );
  return new Map(standing.map((project) => [project.metadata.uid, grantOf(project, holders, mayClaim)]));
}

function claimsOf(project: Project): readonly HostClaim[] {
  return hostsOf(project).map((host) => ({ metadata: project.metadata, host }));
}

function hostsOf(project: Project): readonly string[] {
  return (project.spec.hosts ?? []).map((host) => host.toLowerCase());
}

function grantOf(
  project: Project,
  holders: ReadonlyMap<string, HostClaim>,
  mayClaim: (namespace: string, host: string) => boolean,
): HostGrant {
  const { namespace, uid } = project.metadata;
  const granted: string[] = [];
  const refused: RefusedHost[] = [];
  for (const [position, host] of hostsOf(project).entries()) {
    const pointer = `/spec/hosts/${position}`;
    if (!mayClaim(namespace, host)) {
      const message = `The platform does not let namespace "${namespace}" claim the host "${host}"`;
      refused.push({ reason: "InvalidSpec", message, pointer });
    } else if (holders.get(host)?.metadata.uid === uid) granted.push(host);
    // The holder may live in a namespace that this one's users must not learn about, so it is not named.
    else refused.push({ reason: "HostConflict", message: `Another Project holds the host "${host}"`, pointer });
  }
  return { granted, refused };
}
