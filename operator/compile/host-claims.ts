// Which Projects ask for a host, over all Projects of the fleet, and which hold it in what is
// published. Kept as Projects come and go, so that a change costs as much as its own hosts have
// claims. Says which other Projects have to be served again.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { Claimant } from "./award-names.ts";

/**
 * In place of the UID of a Project that is published and not seen: no Project that is seen may have
 * its hosts.
 */
export const unseenHolder = "";

/** The UID that holds a host in what is published. */
export interface Holders {
  get(host: string): string | undefined;
}

/** What Projects have at the hosts that they name. */
class HostIndex<V> {
  readonly #byProject = new Map<string, { readonly value: V; readonly hosts: readonly string[] }>();
  /** By host, then by Project in the order in which they came. */
  readonly #byHost = new Map<string, Map<string, V>>();
  readonly #isSame: (one: V, other: V) => boolean;

  constructor(isSame: (one: V, other: V) => boolean) {
    this.#isSame = isSame;
  }

  of(key: string) {
    return this.#byProject.get(key);
  }

  at(host: string): ReadonlyMap<string, V> {
    return this.#byHost.get(host) ?? new Map();
  }

  /** Returns the hosts at which the Project has something else now. */
  set(key: string, value: V | undefined, hosts: readonly string[]): readonly string[] {
    const before = this.#byProject.get(key);
    const isSame = before !== undefined && value !== undefined && this.#isSame(before.value, value);
    const lost = (before?.hosts ?? []).filter((host) => !isSame || !hosts.includes(host));
    const gained = hosts.filter((host) => !isSame || !before.hosts.includes(host));
    for (const host of lost) {
      const entries = this.#byHost.get(host);
      entries?.delete(key);
      if (entries?.size === 0) this.#byHost.delete(host);
    }
    if (value === undefined || hosts.length === 0) this.#byProject.delete(key);
    else this.#byProject.set(key, { value, hosts });
    if (value === undefined) return lost;
    for (const host of gained) this.#byHost.set(host, (this.#byHost.get(host) ?? new Map<string, V>()).set(key, value));
    return [...new Set([...lost, ...gained])];
  }
}

export type HostClaims = ReturnType<typeof createHostClaims>;

export function createHostClaims() {
  const index = new HostIndex<Claimant>(
    ({ metadata: one }, { metadata: other }) =>
      one.uid === other.uid && one.creationTimestamp === other.creationTimestamp,
  );
  const set = (key: string, claimant: Claimant | undefined, hosts: readonly string[]): readonly string[] => {
    const others = new Set(index.set(key, claimant, hosts).flatMap((host) => [...index.at(host).keys()]));
    others.delete(key);
    return [...others];
  };
  return {
    /** Returns the keys of Projects besides it whose grant may have changed by that. */
    put: (project: Project): readonly string[] => {
      const { metadata } = project;
      return set(keyOfProject(metadata), { metadata }, isDeleting(project) ? [] : [...new Set(hostsOf(project))]);
    },
    /** The Project is gone. Returns those that asked for a host of it. */
    remove: (ref: ProjectRef): readonly string[] => set(keyOfProject(ref), undefined, []),
    claimantsOf: (host: string): readonly Claimant[] => [...index.at(host).values()],
    /** The hosts that the Project of that name claims. */
    claimedBy: (ref: ProjectRef): readonly string[] => index.of(keyOfProject(ref))?.hosts ?? [],
  };
}

export function createHostHolders() {
  const index = new HostIndex<string>((one, other) => one === other);
  const publish = (ref: ProjectRef, uid: string | undefined, hosts: readonly string[]): readonly string[] =>
    index.set(keyOfProject(ref), uid, hosts);
  return {
    /**
     * Takes over which hosts a Project was published with; no UID = it was withdrawn. Returns the
     * hosts that were released or taken: other Projects that claim one have to be served again.
     */
    publish,
    /** For a moment a host may be published twice: the first one holds it. */
    get(host: string): string | undefined {
      const [uid] = index.at(host).values();
      return uid;
    },
    /** The Project of that name is seen now: what it was published with before is its. */
    seen(ref: ProjectRef, uid: string): void {
      const before = index.of(keyOfProject(ref));
      if (before?.value === unseenHolder) publish(ref, uid, before.hosts);
    },
  };
}

/** The hosts that a Project claims, in the order of its manifest. */
export function hostsOf(project: Project): readonly string[] {
  return (project.spec.hosts ?? []).map((host) => host.toLowerCase());
}
