// The configuration as the pipeline sees it: live projects, looked up when a request is decided. Dev mode fills one from a folder
// (memory-directory.ts), a replica in a cluster from Redis (redis-directory.ts). A request keeps the LiveProject it started with, but for a
// write whose body took time to arrive; what is kept for later requests goes by `onChange`.

import type {
  IssuerConfig,
  KeyConfig,
  ProjectConfig,
  ProjectRef,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
  UserConfig,
} from "../../core/config/types.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import type { ConfigFit } from "./config-fit.ts";

export interface LiveResource {
  readonly config: ResourceConfig;
  readonly schema: CompiledSchema;
  /**
   * Revision of the last publication of this resource's config, also where that changed nothing; orders index declarations among replicas.
   */
  readonly revision: number;
}

export interface LiveProject {
  readonly config: ProjectConfig;
  readonly signing: SigningRing;
  readonly resources: ReadonlyMap<string, LiveResource>;
  readonly rootKeys: ReadonlyMap<string, RootKeyConfig>;
  /** By URL, the `iss` of their tokens. One that has not changed is the same object in the next version of the project. */
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
}

/** `unknown` only when the whole index of projects is known; otherwise `unavailable`. */
export type Lookup<T> =
  | { readonly outcome: "found"; readonly value: T }
  | { readonly outcome: "unknown" }
  | { readonly outcome: "unavailable" };

export interface Directory {
  /** Answers immediately for a loaded project. */
  project(ref: ProjectRef): Lookup<LiveProject> | Promise<Lookup<LiveProject>>;
  /** The project that claims this host name (lower case, no port); `unknown` = nobody claims it, so that paths name projects there. */
  host(host: string): Lookup<LiveProject> | Promise<Lookup<LiveProject>>;
  /** Name of that project, `<namespace>/<name>`, whether or not its configuration is in memory. */
  hostHolder(host: string): string | undefined;
  user(project: LiveProject, username: string): Lookup<UserConfig> | Promise<Lookup<UserConfig>>;
  key(project: LiveProject, sha256: string): Lookup<KeyConfig> | Promise<Lookup<KeyConfig>>;
  /** A request went by what was found before: of the projects in memory, this is not the one to forget. */
  noteUse(project: LiveProject): void;
  /**
   * Calls back in the step in which lookups of a project, its users and keys may begin to find something else, and when it leaves memory,
   * with its name. Returns how to end that.
   */
  onChange(listener: (project: string) => void): () => void;
  /** Namespaces and names of all projects, for probes and `/usage`. */
  projects(): readonly ProjectRef[];
  /** Projects whose configuration is in memory; asking loads nothing and keeps nothing. */
  loaded(): readonly LiveProject[];
  /** Readiness: the index of projects is known and as new as the stream's head at start. */
  synced(): boolean;
  /** Whether this replica can read what is published. One that starts doesn't become synced where it can't. */
  fit(): ConfigFit;
  /** Whether Redis no longer holds the stored data that it held, and nobody has accepted that. */
  dataLost(): boolean;
  /** Seconds since the configuration was last known to be current. */
  ageSeconds(): number;
}

export type ChangeListener = (project: string) => void;

export interface ChangeListeners {
  /** `project` = `<namespace>/<name>`. */
  report(project: string): void;
  /** Returns how to end it. */
  add(listener: ChangeListener): () => void;
}

export function createChangeListeners(): ChangeListeners {
  const listeners = new Set<ChangeListener>();
  return {
    report(project) {
      for (const listener of listeners) listener(project);
    },
    add(listener) {
      // Each call its own member of the set, also when one function listens twice.
      const own: ChangeListener = (project) => listener(project);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
