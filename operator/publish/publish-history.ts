// What this process has published, in all of its sessions as the writer: the last version of each
// project, and the revision that it reached. Redis may be emptied, be restored from a backup, or
// lose its newest writes in a failover: docs/adr/0070.

import { isDeepStrictEqual } from "node:util";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import type { PublishedContent } from "./project-fields.ts";

/** A published project in the index that all of them have. */
export interface PublishedEntry extends ProjectRef {
  readonly hosts: readonly string[];
  /** The revision of its newest step. */
  readonly revision: number;
}

/** Withdrawn projects that are remembered, the newest ones; some hundred bytes each. */
const withdrawnRemembered = 10_000;

/** Everything is by key of the Project. */
export class PublishHistory {
  /**
   * As it was sent last, answered or not, until Redis is read: then what Redis has, unless it went
   * back.
   */
  readonly #config = new Map<string, CompiledProject>();
  /** Of the newest step that Redis has confirmed, or had when it was read. */
  readonly #revisions = new Map<string, number>();
  /** With the revision of the withdrawal. */
  readonly #withdrawn = new Map<string, number>();

  /** The same history, which goes on by itself. */
  copy(): PublishHistory {
    const copy = new PublishHistory();
    for (const [key, config] of this.#config) copy.#config.set(key, config);
    for (const [key, revision] of this.#revisions) copy.#revisions.set(key, revision);
    for (const [key, revision] of this.#withdrawn) copy.#withdrawn.set(key, revision);
    return copy;
  }

  configOf(key: string): CompiledProject | undefined {
    return this.#config.get(key);
  }

  /**
   * Whether Redis, which has this revision of the project, had a later one from this process, or
   * its withdrawal.
   */
  isAhead(key: string, revision: number): boolean {
    return revision < (this.#withdrawn.get(key) ?? this.#revisions.get(key) ?? 0);
  }

  /**
   * Keys of the Projects that Redis lost steps of, where `published` is all that it holds. None of
   * an emptied Redis, which brings nothing back, and has lost all of them alike.
   */
  lostFrom(published: readonly PublishedEntry[]): readonly string[] {
    if (published.length === 0) return [];
    const present = new Map(published.map((entry) => [keyOfProject(entry), entry.revision]));
    const returned = [...this.#withdrawn.keys()].filter((key) =>
      this.isAhead(key, present.get(key) ?? Number.POSITIVE_INFINITY),
    );
    const behind = [...this.#revisions.keys()].filter((key) => this.isAhead(key, present.get(key) ?? 0));
    return [...returned, ...behind];
  }

  // -------------------------------------------------------------------------------- what happened

  /** What Redis holds was just read. It counts unless Redis went back. */
  wasRead(key: string, { revision, config }: PublishedContent): void {
    if (this.isAhead(key, revision)) return;
    if (config !== undefined) this.#config.set(key, config);
    if (revision > 0) this.#reached(key, revision);
  }

  /** A step of this version was sent; undefined = the withdrawal. */
  sent(key: string, config: CompiledProject | undefined): void {
    if (config === undefined) this.#config.delete(key);
    else this.#config.set(key, config);
  }

  /** Redis has confirmed the step. */
  written(key: string, config: CompiledProject | undefined, revision: number): void {
    this.sent(key, config);
    if (config === undefined) this.#wasWithdrawn(key, revision);
    else this.#reached(key, revision);
  }

  #reached(key: string, revision: number): void {
    this.#revisions.set(key, revision);
    this.#withdrawn.delete(key);
  }

  #wasWithdrawn(key: string, revision: number): void {
    this.#revisions.delete(key);
    this.#withdrawn.delete(key);
    this.#withdrawn.set(key, revision);
    const [oldest] = this.#withdrawn.keys();
    if (oldest !== undefined && this.#withdrawn.size > withdrawnRemembered) this.#withdrawn.delete(oldest);
  }
}

/**
 * The credentials of the project that may be served, of what Redis gave back: those that were
 * published last; none of an earlier Project.
 */
export function withLastCredentials(back: CompiledProject, last: CompiledProject | undefined): CompiledProject {
  const isSame = last?.project.uid === back.project.uid;
  return {
    ...back,
    signing: last?.signing ?? back.signing,
    users: isSame ? last.users : new Map(),
    keys: isSame ? last.keys : new Map(),
    issuers: isSame ? last.issuers : new Map(),
  };
}

/** Of these only what Redis gave back: what is left once the others are removed. */
export function withoutRevoked(back: CompiledProject, last: CompiledProject | undefined): CompiledProject {
  const may = withLastCredentials(back, last);
  return {
    ...may,
    users: common(back.users, may.users),
    keys: common(back.keys, may.keys),
    issuers: common(back.issuers, may.issuers),
  };
}

function common<T>(back: ReadonlyMap<string, T>, last: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...back].filter(([name, value]) => isDeepStrictEqual(value, last.get(name))));
}
