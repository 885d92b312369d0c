// The directory of a replica in a cluster: the index of projects from the start, a project's configuration from its first
// request on, both kept current by following what is published. Refuses with `unavailable` while it lacks information.

import type { Clock } from "../../core/clock.ts";
import { isCredentialField, projectKey, projectName, projectOfName } from "../../core/config/config-keys.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import { createCredentials } from "./credentials.ts";
import type { Directory, LiveProject, Lookup } from "./directory.ts";
import { Follower, type FollowListener } from "./follow.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";
import { type LoadedProject, loadProject, type Nack } from "./load-project.ts";
import { createProjectIndex } from "./project-index.ts";

export interface RedisDirectoryDeps {
  readonly commands: Gateway;
  /** A connection of its own, for blocking reads. */
  readonly waiting: Gateway;
  readonly keyring: FollowedKeyring;
  readonly clock: Clock;
  /** Projects kept loaded at once; the one unused for longest goes. 1,000 by default. */
  readonly maxLoaded?: number;
  /** How often revisions are compared, 5,000 by default. */
  readonly rereadMs?: number | undefined;
  /** Called when the replica can no longer serve anything older than `revision`, and again when its key ring has changed. */
  readonly onApplied: (revision: number, nacks: readonly Nack[]) => void;
}

export interface RedisDirectory {
  readonly directory: Directory;
  stop(): Promise<void>;
}

/** A project with the revision of its index entry that it was read at, or is known to equal. */
interface Held {
  readonly project: LoadedProject;
  readonly revision: number;
}

const unknown = Object.freeze({ outcome: "unknown" } as const);
const unavailable = Object.freeze({ outcome: "unavailable" } as const);

export function createRedisDirectory(deps: RedisDirectoryDeps): RedisDirectory {
  const { commands, keyring, clock } = deps;
  const credentials = createCredentials(commands, keyring);
  const index = createProjectIndex();
  const held = recentlyUsed<Held>(deps.maxLoaded ?? 1_000);
  const loading = new Map<string, Promise<LoadedProject | undefined>>();
  let currentAt = clock.monotonic();
  let applied: number | undefined;

  const fetchProject = async (name: string): Promise<LoadedProject | undefined> => {
    // Noted before the read: a change meanwhile leaves it older than the index, and whoever tells of that reads again.
    const revision = index.get(name)?.revision;
    const ring = keyring.current();
    const ref = projectOfName(name);
    const key = projectKey(ref);
    const values = fieldsOf(await commands.read(key, "HGETALL", key));
    const project = await loadProject(keyring, ref, values, held.peek(name)?.project);
    if (project && revision !== undefined && index.get(name)) held.set(name, { project, revision });
    // The ring changed meanwhile, which what was refused before that has not seen.
    if (project && project.nacks.length > 0 && keyring.current() !== ring) return fetchProject(name);
    return project;
  };

  /** One load at a time per project; who asks while one runs waits for one that began later. */
  const load = (name: string): Promise<LoadedProject | undefined> => {
    const work = (loading.get(name) ?? Promise.resolve()).catch(() => undefined).then(() => fetchProject(name));
    loading.set(name, work);
    const done = () => {
      if (loading.get(name) === work) loading.delete(name);
    };
    work.then(done, done);
    return work;
  };

  const look = (name: string): Lookup<LiveProject> | Promise<Lookup<LiveProject>> => {
    const known = held.get(name);
    if (known) return { outcome: "found", value: known.project.live };
    if (!index.get(name)) return index.whole() ? unknown : unavailable;
    return (loading.get(name) ?? load(name)).then(
      (project) => (project ? { outcome: "found", value: project.live } : unavailable),
      () => unavailable,
    );
  };

  /** Reads anew what is held, or just being read, and older than the index says; forgets what is gone. */
  const refresh = async (name: string): Promise<void> => {
    const entry = index.get(name);
    if (!entry) held.delete(name);
    else if (loading.has(name) || (held.has(name) && held.peek(name)?.revision !== entry.revision)) await load(name);
  };

  const acknowledge = (): void => {
    if (applied === undefined) return;
    const nacks = [...held.values()].flatMap((each) => each.project.nacks);
    deps.onApplied(applied, nacks);
  };

  /** What a former ring could not open, the new one may. What fails now is loaded when it is next asked for, or changes. */
  const onRing = async (): Promise<void> => {
    const lacking = [...held].filter(([, each]) => each.project.nacks.length > 0).map(([name]) => name);
    for (const name of lacking) await load(name).catch(() => undefined);
    acknowledge();
  };
  keyring.onChange(() => void onRing());

  const listener: FollowListener = {
    async onIndex(found, complete) {
      for (const name of index.replace(found, complete)) credentials.forget(name);
      for (const name of [...held.keys()]) await refresh(name);
    },
    async onChange(name, entry, fields) {
      const before = index.get(name)?.revision;
      index.set(name, entry);
      const changed = entry ? fields.filter(isCredentialField) : undefined;
      credentials.forget(name, changed);
      const known = held.peek(name);
      const onlyCredentials = changed?.length === fields.length && known?.revision === before;
      if (known && entry && onlyCredentials) held.set(name, { ...known, revision: entry.revision });
      else await refresh(name);
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
      project: (ref) => look(projectName(ref)),
      host(host) {
        const name = index.ofHost(host);
        return name === undefined ? unknown : look(name);
      },
      user: (project, username) => credentials.user(project, username),
      key: (project, sha256) => credentials.key(project, sha256),
      projects: () => [...index.names()].map(projectOfName),
      loaded: () => [...held.values()].map(({ project }) => project.live),
      synced: () => index.whole(),
      ageSeconds: () => (clock.monotonic() - currentAt) / 1000,
    },
    async stop() {
      follower.stop();
      await running;
    },
  };
}
