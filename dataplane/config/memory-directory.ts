// Turns compiled projects in memory into the directory that the pipeline asks: dev mode fills it
// from a folder, tests from builders. A resource whose schema can't be compiled is refused by name;
// its last good version is still served.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type {
  CompiledProject,
  IssuerConfig,
  KeyConfig,
  ProjectRef,
  ResourceConfig,
  SigningRing,
  UserConfig,
} from "../../core/config/types.ts";
import {
  createChangeListeners,
  type Directory,
  type LiveProject,
  type LiveResource,
  type Lookup,
} from "./directory.ts";
import { makeLiveResource } from "./load-project.ts";

/** A resource that is not live. With `keptLastGood` the version before it is served. */
export interface RefusedResource {
  readonly project: ProjectRef;
  readonly resource: string;
  readonly keptLastGood: boolean;
  /** As compileSchema gives them. */
  readonly problems: readonly unknown[];
}

export interface MemoryDirectory {
  readonly directory: Directory;
  /** Makes exactly these projects live, in one step for all lookups, and the directory synced. */
  replace(projects: readonly CompiledProject[]): readonly RefusedResource[];
  /** Makes one more project live. `revisions` overrides the revision of resources by name. */
  put(project: CompiledProject, revisions?: ReadonlyMap<string, number>): readonly RefusedResource[];
  remove(ref: ProjectRef): void;
}

interface Entry {
  readonly live: LiveProject;
  readonly users: ReadonlyMap<string, UserConfig>;
  readonly keys: ReadonlyMap<string, KeyConfig>;
}

interface State {
  /** By namespace and name. */
  readonly entries: ReadonlyMap<string, Entry>;
  /**
   * A Project that was created again under a name has another UID: requests that began with the old
   * one find none of its users and keys.
   */
  readonly byUid: ReadonlyMap<string, Entry>;
  readonly hosts: ReadonlyMap<string, LiveProject>;
  readonly refs: readonly ProjectRef[];
}

const unknown = Object.freeze({ outcome: "unknown" } as const);
const unavailable = Object.freeze({ outcome: "unavailable" } as const);
const noRevisions: ReadonlyMap<string, number> = new Map();

/** An empty directory: every lookup is `unavailable` until the first `replace` or `put`. */
export function createMemoryDirectory(clock: Clock): MemoryDirectory {
  const bornAt = clock.monotonic();
  const listeners = createChangeListeners();
  let state: State | undefined;

  const makeEntry = (
    parts: CompiledProject,
    revisions: ReadonlyMap<string, number>,
    refused: RefusedResource[],
  ): Entry => {
    const before = state?.entries.get(keyOfProject(parts.project))?.live;
    const ref = refOf(parts.project);
    const resources = new Map<string, LiveResource>();
    for (const [name, config] of parts.resources) {
      const kept = before?.resources.get(name);
      const made = makeLiveResource(config, kept, revisions.get(name) ?? revisionOf(config, kept, clock));
      if (made.ok) {
        resources.set(name, made.resource);
        continue;
      }
      refused.push({ project: ref, resource: name, keptLastGood: kept !== undefined, problems: made.problems });
      if (kept !== undefined) resources.set(name, kept);
    }
    const live = Object.freeze({
      config: parts.project,
      signing: sameRing(parts.signing, before?.signing),
      resources,
      rootKeys: parts.rootKeys,
      issuers: sameIssuers(parts.issuers, before?.issuers),
    });
    return { live, users: parts.users, keys: parts.keys };
  };

  const found = <T>(value: T | undefined): Lookup<T> => {
    if (value !== undefined) return { outcome: "found", value };
    return state === undefined ? unavailable : unknown;
  };

  const directory: Directory = {
    project: (ref) => found(state?.entries.get(keyOfProject(ref))?.live),
    host: (host) => found(state?.hosts.get(host)),
    hostOwner(host) {
      const holder = state?.hosts.get(host);
      return holder && keyOfProject(holder.config);
    },
    user: (project, username) => found(state?.byUid.get(project.config.uid)?.users.get(username)),
    key: (project, sha256) => found(state?.byUid.get(project.config.uid)?.keys.get(sha256)),
    touch: () => undefined,
    onChange: listeners.add,
    projects: () => state?.refs ?? [],
    loaded: () => [...(state?.entries.values() ?? [])].map(({ live }) => live),
    synced: () => state !== undefined,
    fit: () => "fits",
    dataLost: () => false,
    ageSeconds: () => (state === undefined ? (clock.monotonic() - bornAt) / 1000 : 0),
  };

  /** All lookups change in one step, and the listeners are called in the same one. */
  const change = (next: State, changed: Iterable<string>): void => {
    state = next;
    for (const name of changed) listeners.report(name);
  };

  return {
    directory,
    replace(projects) {
      const refused: RefusedResource[] = [];
      const next = makeState(projects.map((parts) => makeEntry(parts, noRevisions, refused)));
      change(next, new Set([...(state?.entries.keys() ?? []), ...next.entries.keys()]));
      return refused;
    },
    put(project, revisions = noRevisions) {
      const refused: RefusedResource[] = [];
      const entry = makeEntry(project, revisions, refused);
      const others = [...(state?.entries.values() ?? [])].filter(
        (other) => keyOfProject(other.live.config) !== keyOfProject(project.project),
      );
      change(makeState([...others, entry]), [keyOfProject(project.project)]);
      return refused;
    },
    remove(ref) {
      if (state === undefined) return;
      const others = [...state.entries.values()].filter(
        (entry) => keyOfProject(entry.live.config) !== keyOfProject(ref),
      );
      change(makeState(others), [keyOfProject(ref)]);
    },
  };
}

function makeState(entries: readonly Entry[]): State {
  const hosts = new Map<string, LiveProject>();
  for (const { live } of entries) {
    // `compile` decides who owns a host; should two still name one, the first keeps it.
    for (const host of live.config.hosts) if (!hosts.has(host)) hosts.set(host, live);
  }
  return {
    entries: new Map(entries.map((entry) => [keyOfProject(entry.live.config), entry])),
    byUid: new Map(entries.map((entry) => [entry.live.config.uid, entry])),
    hosts,
    refs: entries.map((entry) => refOf(entry.live.config)),
  };
}

/**
 * Milliseconds for a changed configuration, so that a change made while nothing ran is newer than
 * what the last run declared to the store.
 */
function revisionOf(config: ResourceConfig, before: LiveResource | undefined, clock: Clock): number {
  if (before !== undefined && isDeepStrictEqual(before.config, config)) return before.revision;
  return Math.max(clock.now(), (before?.revision ?? 0) + 1);
}

/** Verified tokens are cached by the ring object, so an unchanged ring stays the same object. */
function sameRing(ring: SigningRing, before: SigningRing | undefined): SigningRing {
  return before !== undefined && isDeepStrictEqual(before, ring) ? before : ring;
}

/** Verified tokens are remembered by their issuer's identity, too. */
function sameIssuers(
  issuers: CompiledProject["issuers"],
  before: LiveProject["issuers"] | undefined,
): LiveProject["issuers"] {
  return new Map([...issuers.values()].map((issuer) => [issuer.url, sameIssuer(issuer, before?.get(issuer.url))]));
}

function sameIssuer(issuer: IssuerConfig, before: IssuerConfig | undefined): IssuerConfig {
  return before !== undefined && isDeepStrictEqual(before, issuer) ? before : issuer;
}

function refOf(config: ProjectRef): ProjectRef {
  return Object.freeze({ namespace: config.namespace, name: config.name });
}
