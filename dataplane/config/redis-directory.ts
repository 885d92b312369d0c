// The directory of a replica in a cluster: the index of projects from the start, a project's
// configuration from its first request on, both kept current by following what is published.
// Refuses with `unavailable` while information is missing.

import type { Clock } from "../../core/clock.ts";
import { isCredentialField, keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type ConfigFit, createConfigFit } from "./config-fit.ts";
import { createCredentials } from "./credentials.ts";
import { createChangeListeners, type Directory, type LiveProject, type Lookup } from "./directory.ts";
import { Follower, type FollowListener } from "./follow.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";
import type { FieldRefusal } from "./load-project.ts";
import { LoadedProjects } from "./loaded-projects.ts";
import { createProjectIndex } from "./project-index.ts";

export interface RedisDirectoryDeps {
  readonly commands: RedisClient;
  /** A connection of its own, for blocking reads. */
  readonly waiting: RedisClient;
  readonly keyring: FollowedKeyring;
  readonly clock: Clock;
  /** Projects kept loaded at once; the least recently used one is evicted. 1,000 by default. */
  readonly maxLoaded?: number;
  /** How often revisions are compared, 5,000 by default. */
  readonly rereadMs?: number | undefined;
  /**
   * Called before anything published is applied: a loss of stored data is recorded in Redis before
   * that. A rejection counts as a failure to read.
   */
  readonly beforeTaking: () => Promise<void>;
  /** Called when this replica becomes unable, or able, to read the configuration in Redis. */
  readonly onFit?: ((fit: ConfigFit) => void) | undefined;
  /**
   * Called when the replica can no longer serve anything older than `revision`, and again when what
   * it can use has changed.
   */
  readonly onApplied: (revision: number, refusals: readonly FieldRefusal[]) => void;
  /** Called with what is refused of a project, if anything, when that has changed. */
  readonly onRefused?: ((refusals: readonly FieldRefusal[]) => void) | undefined;
}

/** `dataLost` is for those who watch the store. */
export interface RedisDirectory {
  readonly directory: Omit<Directory, "dataLost">;
  stop(): Promise<void>;
}

const unknown = Object.freeze({ outcome: "unknown" } as const);
const unavailable = Object.freeze({ outcome: "unavailable" } as const);

export function createRedisDirectory(deps: RedisDirectoryDeps): RedisDirectory {
  const { commands, keyring, clock } = deps;
  const credentials = createCredentials(commands, keyring);
  const index = createProjectIndex();
  const listeners = createChangeListeners();
  const projects = new LoadedProjects({
    commands,
    keyring,
    index,
    maxLoaded: deps.maxLoaded ?? 1_000,
    onChange: listeners.report,
    onRefusals(refusals) {
      if (refusals.length > 0) deps.onRefused?.(refusals);
      acknowledge();
    },
  });
  let currentAt = clock.monotonic();
  let applied: number | undefined;
  const configFit = createConfigFit(keyring, deps.onFit);

  /** The answer for a name that is not in the index. */
  const missing = () => (index.isComplete() ? unknown : unavailable);
  const lookUp = (name: string): Lookup<LiveProject> | Promise<Lookup<LiveProject>> => {
    const known = projects.get(name)?.live;
    if (known) return { outcome: "found", value: known };
    if (!index.get(name)) return missing();
    return projects.load(name).then(
      (project) => (project?.live ? { outcome: "found", value: project.live } : unavailable),
      () => unavailable,
    );
  };

  const acknowledge = (): void => {
    if (applied === undefined) return;
    const refusals = projects.all().flatMap((project) => project.refusals);
    deps.onApplied(applied, refusals);
  };

  /** Also of a project that is not loaded: it may be being read. */
  const forgetCredentials = (name: string, fields?: readonly string[]): void => {
    credentials.forget(name, fields);
    listeners.report(name);
  };

  /** What the old ring could not open, the new one may. */
  const onRenewedRing = async (): Promise<void> => {
    await projects.retryRefused();
    acknowledge();
  };
  keyring.onChange(() => void onRenewedRing());

  const listener: FollowListener = {
    onMarks: configFit.compare,
    async onIndex(found, complete) {
      await deps.beforeTaking();
      for (const name of index.replace(found, complete)) forgetCredentials(name);
      await projects.refreshAll();
    },
    async onChange(name, entry, fields) {
      await deps.beforeTaking();
      const before = index.get(name)?.revision;
      index.set(name, entry);
      const changed = entry ? fields.filter(isCredentialField) : undefined;
      forgetCredentials(name, changed);
      const onlyCredentials = changed?.length === fields.length;
      const isSame = entry !== undefined && onlyCredentials && projects.advance(name, before, entry.revision);
      if (!isSame) await projects.refresh(name);
    },
    onApplied(revision) {
      applied = revision;
      acknowledge();
    },
    onCurrent() {
      currentAt = clock.monotonic();
    },
  };
  const follower = new Follower(commands, deps.waiting, listener, deps.rereadMs);
  const running = follower.run();

  return {
    directory: {
      project: (ref) => lookUp(keyOfProject(ref)),
      host(host) {
        const name = index.ofHost(host);
        if (name !== undefined) return lookUp(name);
        return index.isComplete() ? unknown : unavailable;
      },
      hostOwner: index.ofHost,
      user: (project, username) => credentials.user(project, username),
      key: (project, sha256) => credentials.key(project, sha256),
      touch: ({ config }) => projects.use(keyOfProject(config)),
      onChange: listeners.add,
      projects: () => [...index.names()].map(projectOfKey),
      loaded: () => projects.all().flatMap(({ live }) => live ?? []),
      synced: () => index.isComplete(),
      fit: configFit.current,
      ageSeconds: () => (clock.monotonic() - currentAt) / 1000,
    },
    async stop() {
      follower.stop();
      await running;
    },
  };
}
