// The configuration as the pipeline sees it: live projects, read when a request is decided. Dev
// mode fills one from a folder (memory-directory.ts), a replica in a cluster from Redis
// (redis-directory.ts). A request keeps its LiveProject, except a write whose body took time to
// arrive. What is kept for later requests depends on `onChange`.

import type {
  IssuerConfig,
  KeyConfig,
  ProjectRef,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
  UserConfig,
} from "../../core/config/types.ts";
import type { Operation } from "../../core/json/read-json-patch.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import type { Defaults } from "../../core/schema/defaults/compile-defaults.ts";
import type { ConfigFit } from "./config-fit.ts";

export interface LiveResource {
  readonly config: ResourceConfig;
  /** What writes have to meet: the schema, and `nextSchema` where that binds. */
  readonly schema: CompiledSchema;
  /** Present where defaults are filled in. */
  readonly defaults?: Defaults;
  /** What stored objects are checked against before it is live. */
  readonly nextSchema?: CompiledSchema;
  /** What objects go through that don't meet that. */
  readonly migration?: readonly Operation[];
  /** Those of `nextSchema`, for new objects in the form that it wants. */
  readonly nextDefaults?: Defaults;
  /**
   * Revision of the last publication of this resource's config, also where that changed nothing;
   * orders index declarations among replicas.
   */
  readonly revision: number;
}

export interface LiveProject {
  readonly config: ProjectSettings;
  readonly signing: SigningRing;
  readonly resources: ReadonlyMap<string, LiveResource>;
  readonly rootKeys: ReadonlyMap<string, RootKeyConfig>;
  /** By the `iss` of their tokens. An unchanged issuer stays the same object. */
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
}

/** `unknown` only when the entire index of projects is known; otherwise `unavailable`. */
export type Lookup<T> =
  | { readonly outcome: "found"; readonly value: T }
  | { readonly outcome: "unknown" }
  | { readonly outcome: "unavailable" };

export interface Directory {
  /** Answers immediately for a loaded project. */
  project(ref: ProjectRef): Lookup<LiveProject> | Promise<Lookup<LiveProject>>;
  /**
   * Who claims this host name (lower case, no port); `unknown` = nobody, so paths name projects.
   */
  host(host: string): Lookup<LiveProject> | Promise<Lookup<LiveProject>>;
  /** Name of that project, `<namespace>/<name>`, whether or not its configuration is in memory. */
  hostOwner(host: string): string | undefined;
  user(project: LiveProject, username: string): Lookup<UserConfig> | Promise<Lookup<UserConfig>>;
  key(project: LiveProject, sha256: string): Lookup<KeyConfig> | Promise<Lookup<KeyConfig>>;
  /** A request used what was found before: this is not the project to evict. */
  touch(project: LiveProject): void;
  /**
   * Calls back in the step in which a project, its users or keys may have changed, and when it
   * leaves memory, with its name. Returns how to end that.
   */
  onChange(listener: (project: string) => void): () => void;
  /** Namespaces and names of all projects, for probes and `/usage`. */
  projects(): readonly ProjectRef[];
  /** Projects whose configuration is in memory; asking loads nothing and keeps nothing. */
  loaded(): readonly LiveProject[];
  /** Readiness: the index of projects is known and as new as the stream's head at start. */
  synced(): boolean;
  /** Whether this replica can read what is published; otherwise it does not become synced. */
  fit(): ConfigFit;
  /** Whether Redis has lost the stored data, and nobody has accepted that. */
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
