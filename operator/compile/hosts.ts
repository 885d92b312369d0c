// Decides which Project holds each host, over all Projects of the fleet: only hosts that the
// platform lets the namespace claim, one holder each, by the same rule as names. What a Project
// does not get is refused with its place.

import { type HostRule, suffixFor } from "../../core/env/host-rules.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { Fault } from "../model/verdict.ts";
import { awardNames } from "./award-names.ts";
import { type Holders, type HostClaims, hostsOf, unseenHolder } from "./host-claims.ts";

/** Which hosts a namespace may claim. Says nothing about any other namespace. */
export interface HostPolicy {
  mayClaim(namespace: string, host: string): boolean;
  /** What this namespace may claim: each name, and every name below it. */
  suffixesOf(namespace: string): readonly string[];
}

/** `rulesOf` is called each time: the platform may change its rules. */
export function hostPolicy(rulesOf: (namespace: string) => readonly HostRule[]): HostPolicy {
  return {
    mayClaim: (namespace, host) => mayClaim(rulesOf(namespace), namespace, host),
    suffixesOf: (namespace) => suffixesOf(rulesOf(namespace), namespace),
  };
}

/** `host` in lower case. Without a rule for the namespace it may claim nothing. */
export function mayClaim(rules: readonly HostRule[], namespace: string, host: string): boolean {
  return suffixesOf(rules, namespace).some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

function suffixesOf(rules: readonly HostRule[], namespace: string): readonly string[] {
  const own = rules.filter((rule) => rule.namespace === "*" || rule.namespace === namespace);
  return [...new Set(own.map((rule) => suffixFor(rule, namespace)))];
}

export interface RefusedHost extends Fault {
  readonly reason: "HostConflict" | "NotAllowed";
}

export interface HostGrant {
  /** In the order of the manifest. */
  readonly granted: readonly string[];
  readonly refused: readonly RefusedHost[];
}

export const noHosts: HostGrant = Object.freeze({ granted: [], refused: [] });

/**
 * The hosts of one Project. `incumbents` says which UID holds a host in what is published; `policy`
 * is the platform's rule. Costs as much as these hosts have claims, however many Projects there
 * are. The Project counts as it is given, not as `claims` may still have it. One that is being
 * deleted holds nothing.
 */
export function grantFor(
  project: Project,
  claims: Pick<HostClaims, "claimantsOf">,
  incumbents: Holders,
  policy: HostPolicy,
): HostGrant {
  if (isDeleting(project)) return noHosts;
  const { uid, namespace, name } = project.metadata;
  const held = new Set<string>();
  for (const host of hostsOf(project).filter((each) => incumbents.get(each) !== unseenHolder)) {
    const others = claims
      .claimantsOf(host)
      .filter(({ metadata }) => metadata.namespace !== namespace || metadata.name !== name)
      .filter(({ metadata }) => policy.mayClaim(metadata.namespace, host));
    const own = policy.mayClaim(namespace, host) ? [{ metadata: project.metadata }] : [];
    const award = awardNames(
      [...others, ...own],
      () => host,
      () => incumbents.get(host),
    );
    if (award.get(host)?.metadata.uid === uid) held.add(host);
  }
  return grantOf(project, held, policy);
}

function grantOf(project: Project, held: ReadonlySet<string>, policy: HostPolicy): HostGrant {
  const { namespace } = project.metadata;
  const granted: string[] = [];
  const refused: RefusedHost[] = [];
  for (const [position, host] of hostsOf(project).entries()) {
    const pointer = `/spec/hosts/${position}`;
    if (!policy.mayClaim(namespace, host)) {
      refused.push({ reason: "NotAllowed", message: notAllowed(policy, namespace, host), pointer });
    } else if (held.has(host)) granted.push(host);
    // The holder may live in a namespace that this one's users must not know of, so it is not
    // named.
    else refused.push({ reason: "HostConflict", message: `Another Project holds the host "${host}"`, pointer });
  }
  return { granted, refused };
}

/** Suffixes that one message names. */
const maxNamed = 5;

function notAllowed(policy: HostPolicy, namespace: string, host: string): string {
  const refused = `The platform does not let namespace "${namespace}" claim the host "${host}"`;
  const suffixes = policy.suffixesOf(namespace);
  if (suffixes.length === 0) return `${refused}: it allows this namespace no host at all`;
  const more = suffixes.length > maxNamed ? " and others" : "";
  return `${refused}: it allows ${suffixes.slice(0, maxNamed).join(", ")}${more}, and names below`;
}
