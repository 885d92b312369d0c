// The projects whose configuration a replica keeps in memory: loaded from Redis at their first
// request, read again when the index says that they have changed, evicted when others were used
// more recently.

import { isDeepStrictEqual } from "node:util";
import { projectConfigKey, projectOfKey } from "../../core/config/config-keys.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";
import { type FieldRefusal, type LoadedProject, loadProject } from "./load-project.ts";
import type { ProjectIndex } from "./project-index.ts";

/** A project with the revision of its index entry that it was read at, or is known to equal. */
interface LoadedVersion {
  readonly project: LoadedProject;
  readonly revision: number;
}

export interface LoadedProjectsDeps {
  readonly commands: RedisClient;
  readonly keyring: FollowedKeyring;
  readonly index: Pick<ProjectIndex, "get">;
  /** How many are kept at once; the least recently used one is evicted. */
  readonly maxLoaded: number;
  /** Called when another version of a project is loaded, and when it is evicted. */
  readonly onChange: (name: string) => void;
  /** Called when what is refused of a project has changed, with what is refused of it now. */
  readonly onRefusals: (refusals: readonly FieldRefusal[]) => void;
}

export class LoadedProjects {
  readonly #deps: LoadedProjectsDeps;
  readonly #loaded: ReturnType<typeof recentlyUsed<LoadedVersion>>;
  readonly #loading = new Map<string, Promise<LoadedProject | undefined>>();

  constructor(deps: LoadedProjectsDeps) {
    this.#deps = deps;
    this.#loaded = recentlyUsed<LoadedVersion>(deps.maxLoaded, (name) => deps.onChange(name));
  }

  all(): readonly LoadedProject[] {
    return [...this.#loaded.values()].map(({ project }) => project);
  }

  /** As it was loaded; undefined where it is not in memory. */
  get(name: string): LoadedProject | undefined {
    return this.#loaded.get(name)?.project;
  }

  /** It is not the one to evict next. */
  use(name: string): void {
    this.#loaded.get(name);
  }

  /** From a load that is under way, or a new one. */
  load(name: string): Promise<LoadedProject | undefined> {
    return this.#loading.get(name) ?? this.#loadAnew(name);
  }

  /**
   * Reads again what is loaded, or being read, and older than the index says; drops what is gone.
   */
  async refresh(name: string): Promise<void> {
    const entry = this.#deps.index.get(name);
    if (!entry) this.#loaded.delete(name);
    else if (this.#loading.has(name) || this.#isOld(name, entry.revision)) await this.#loadAnew(name);
  }

  async refreshAll(): Promise<void> {
    for (const name of [...this.#loaded.keys()]) await this.refresh(name);
  }

  /** Revision `to` is the same as `from`. False where something else, or nothing, is loaded. */
  advance(name: string, from: number | undefined, to: number): boolean {
    const known = this.#loaded.peek(name);
    if (known === undefined || known.revision !== from) return false;
    this.#loaded.set(name, { ...known, revision: to }, { noDisposeOnSet: true });
    return true;
  }

  /** Reads what was refused again. What fails is loaded at its next request or change. */
  async retryRefused(): Promise<void> {
    const refused = [...this.#loaded].filter(([, { project }]) => project.refusals.length > 0).map(([name]) => name);
    for (const name of refused) await this.#loadAnew(name).catch(() => undefined);
  }

  #isOld(name: string, revision: number): boolean {
    return this.#loaded.has(name) && this.#loaded.peek(name)?.revision !== revision;
  }

  /** One load at a time per project; who asks while one runs waits for one that began later. */
  #loadAnew(name: string): Promise<LoadedProject | undefined> {
    const work = (this.#loading.get(name) ?? Promise.resolve()).catch(() => undefined).then(() => this.#fetch(name));
    this.#loading.set(name, work);
    const done = () => {
      if (this.#loading.get(name) === work) this.#loading.delete(name);
    };
    work.then(done, done);
    return work;
  }

  async #fetch(name: string): Promise<LoadedProject | undefined> {
    const { commands, keyring, index, onRefusals } = this.#deps;
    // Before the read: a change meanwhile leaves it older than the index, and its hint has it read
    // again.
    const revision = index.get(name)?.revision;
    const ring = keyring.current();
    const ref = projectOfKey(name);
    const key = projectConfigKey(ref);
    const values = fieldsOf(await commands.read(key, "HGETALL", key));
    const before = this.#loaded.peek(name)?.project;
    const project = await loadProject(keyring, ref, values, before);
    if (project && revision !== undefined && index.get(name)) {
      this.#loaded.set(name, { project, revision });
      if (!isDeepStrictEqual(project.refusals, before?.refusals ?? [])) onRefusals(project.refusals);
    }
    // The ring changed meanwhile, after something was refused.
    if (project && project.refusals.length > 0 && keyring.current() !== ring) return this.#fetch(name);
    return project;
  }
}
