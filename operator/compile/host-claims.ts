// Who asks for which host, over all Projects of the fleet, and who holds it in what is published: kept as Projects come and go,
// so that a change costs as much as its own hosts have claims, not as much as there are Projects. Says which other Projects
// have to be looked at again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { Claimant } from "./award-names.ts";

/** In place of the UID of a Project that is published and not seen: no Project that is seen may have its hosts. */
export const unseenHolder = "";

/** The UID that holds a host in what is published. */
export interface Holders {
  get(host: string): string | undefined;
}

export interface HostClaims {
  /** Takes over a Project as it is now. Returns the keys of Projects besides it whose grant may have changed by that. */
  put(project: Project): readonly string[];
  /** The Project is gone. Returns those that asked for a host of it. */
  remove(ref: ProjectRef): readonly string[];
  claimantsOf(host: string): readonly Claimant[];
  /** The hosts that the Project of that name claims. */
  claimedBy(ref: ProjectRef): ReadonlySet<string>;
}

export interface HostHolders extends Holders {
  /**
   * Takes over which hosts a project was published with; none when it was withdrawn. Returns the hosts that were let go of or
   * taken: other Projects that claim one have to be looked at again.
   */
  publish(
    ref: ProjectRef,
    holding: { readonly uid: string; readonly hosts: readonly string[] } | undefined,
  ): readonly string[];
  /** The Project of that name is seen now: what it was published with before is its. */
  seen(ref: ProjectRef, uid: string): void;
}

const noHosts: ReadonlySet<string> = new Set();

interface Claims {
  readonly claimant: Claimant;
  readonly hosts: ReadonlySet<string>;
}

export function createHostClaims(): HostClaims {
  const byProject = new Map<string, Claims>();
  const byHost = new Map<string, Map<string, Claimant>>();

  const replace = (key: string, claims: Claims | undefined): readonly string[] => {
    const before = byProject.get(key);
    if (sameClaims(before, claims)) return [];
    const lost = [...(before?.hosts ?? [])];
    const gained = [...(claims?.hosts ?? [])];
    for (const host of lost) forget(byHost, host, key);
    for (const host of gained) remember(byHost, host, key, claims?.claimant);
    if (claims === undefined || gained.length === 0) byProject.delete(key);
    else byProject.set(key, claims);
    const others = new Set([...lost, ...gained].flatMap((host) => [...(byHost.get(host)?.keys() ?? [])]));
    others.delete(key);
    return [...others];
  };

  return {
    put(project) {
      const hosts = new Set(isDeleting(project) ? [] : hostsOf(project));
      const { metadata } = project;
      return replace(keyOfProject(metadata), { claimant: { metadata }, hosts });
    },
    remove: (ref) => replace(keyOfProject(ref), undefined),
    claimantsOf: (host) => [...(byHost.get(host)?.values() ?? [])],
    claimedBy: (ref) => byProject.get(keyOfProject(ref))?.hosts ?? noHosts,
  };
}

export function createHostHolders(): HostHolders {
  const byProject = new Map<string, { readonly uid: string; readonly hosts: readonly string[] }>();
  /** Holders of a host in the order in which they got it: for a moment it may be published twice. */
  const byHost = new Map<string, Map<string, string>>();

  const publish: HostHolders["publish"] = (ref, holding) => {
    const key = keyOfProject(ref);
    const before = byProject.get(key);
    const sameUid = before?.uid === holding?.uid;
    const hosts = holding?.hosts ?? [];
    const lost = (before?.hosts ?? []).filter((host) => !sameUid || !hosts.includes(host));
    const gained = hosts.filter((host) => !sameUid || !before?.hosts.includes(host));
    for (const host of lost) forget(byHost, host, key);
    for (const host of gained) remember(byHost, host, key, holding?.uid);
    if (holding === undefined || hosts.length === 0) byProject.delete(key);
    else byProject.set(key, holding);
    return [...new Set([...lost, ...gained])];
  };

  return {
    publish,
    get(host) {
      const [uid] = byHost.get(host)?.values() ?? [];
      return uid;
    },
    seen(ref, uid) {
      const before = byProject.get(keyOfProject(ref));
      if (before?.uid === unseenHolder) publish(ref, { uid, hosts: before.hosts });
    },
  };
}

function sameClaims(before: Claims | undefined, after: Claims | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  const [old, now] = [before.claimant.metadata, after.claimant.metadata];
  if (old.uid !== now.uid || old.creationTimestamp !== now.creationTimestamp) return false;
  return before.hosts.size === after.hosts.size && [...after.hosts].every((host) => before.hosts.has(host));
}

function remember<V>(index: Map<string, Map<string, V>>, host: string, key: string, value: V | undefined): void {
  if (value === undefined) return;
  const entries = index.get(host) ?? new Map<string, V>();
  entries.set(key, value);
  index.set(host, entries);
}

function forget<V>(index: Map<string, Map<string, V>>, host: string, key: string): void {
  const entries = index.get(host);
  entries?.delete(key);
  if (entries?.size === 0) index.delete(host);
}

/** The hosts that a Project claims, in the order of its manifest. */
export function hostsOf(project: Project): readonly string[] {
  return (project.spec.hosts ?? []).map((host) => host.toLowerCase());
}
