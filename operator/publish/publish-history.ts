// What this process has published, in all of its sessions as the writer: the last good version of
// each project, and the revision it had reached. Redis may be emptied, be restored from a backup,
// or lose its newest writes in a failover; from this history follows what is missing then.

import { isDeepStrictEqual } from "node:util";
import { isCredentialField, keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import type { Change, PublishedContent } from "./project-fields.ts";

/** A published project in the index that all of them have. */
export interface PublishedEntry extends ProjectRef {
  readonly hosts: readonly string[];
  /** The revision of its newest step. */
  readonly revision: number;
}

/** The revisions that a project had reached. */
interface Progress {
  /** The revision of its newest step. */
  readonly newest: number;
  /**
   * The revision of the newest step that revoked or changed a credential; known once the project
   * was read first.
   */
  readonly revoked: number;
}

/** Withdrawn projects that are remembered, the newest ones; some hundred bytes each. */
const withdrawnRemembered = 10_000;

export class PublishHistory {
  /** By key of the Project, like all of this. */
  readonly #parts = new Map<string, ProjectParts>();
  readonly #progress = new Map<string, Progress>();
  /** With the revision of the withdrawal. */
  readonly #withdrawn = new Map<string, number>();
  /**
   * Projects of which something newer was written, perhaps: what it took away must not come back.
   */
  readonly #uncertain = new Set<string>();
  /**
   * Projects whose credentials were being put back, perhaps not all of them: what Redis holds of
   * these proves nothing.
   */
  readonly #restoring = new Set<string>();

  /** The same history, which goes on by itself. */
  copy(): PublishHistory {
    const copy = new PublishHistory();
    for (const [key, parts] of this.#parts) copy.#parts.set(key, parts);
    for (const [key, progress] of this.#progress) copy.#progress.set(key, progress);
    for (const [key, revision] of this.#withdrawn) copy.#withdrawn.set(key, revision);
    for (const key of this.#uncertain) copy.#uncertain.add(key);
    for (const key of this.#restoring) copy.#restoring.add(key);
    return copy;
  }

  partsOf(key: string): ProjectParts | undefined {
    return this.#parts.get(key);
  }

  isUncertain(key: string): boolean {
    return this.#uncertain.has(key);
  }

  isRestoring(key: string): boolean {
    return this.#restoring.has(key);
  }

  /**
   * Whether Redis, which has this revision of the project, had a later one from this process, or
   * its withdrawal.
   */
  isAhead(key: string, revision: number): boolean {
    return revision < (this.#withdrawn.get(key) ?? this.#progress.get(key)?.newest ?? 0);
  }

  /**
   * Keys of the Projects that Redis lost steps of, where this is all that it holds: first those of
   * which a credential that was revoked or changed is back. None of an emptied Redis, which brings
   * nothing back, and has lost all of them alike.
   */
  lostFrom(published: readonly PublishedEntry[]): readonly string[] {
    if (published.length === 0) return [];
    const held = new Map(published.map((entry) => [keyOfProject(entry), entry.revision]));
    const returned = [...held].filter(([key, revision]) => this.#hasRevived(key, revision)).map(([key]) => key);
    const behind = [...this.#progress].filter(([key, { newest }]) => (held.get(key) ?? 0) < newest);
    return [...new Set([...returned, ...behind.map(([key]) => key)])];
  }

  // -------------------------------------------------------------------------------- what happened

  /** What Redis holds was just read: it counts where it is not older than what was published. */
  wasRead(key: string, { revision, parts }: PublishedContent): void {
    if (this.isAhead(key, revision) || this.#restoring.has(key)) return;
    if (parts !== undefined) this.#parts.set(key, parts);
    if (revision === 0) return;
    // A step that another writer wrote may have revoked something.
    if (this.#progress.get(key)?.newest !== revision) this.#progress.set(key, { newest: revision, revoked: revision });
    this.#withdrawn.delete(key);
  }

  /** A step of the project was written. */
  stepWritten(
    key: string,
    revision: number,
    step: { readonly change: Change; readonly published: PublishedContent },
  ): void {
    const revoked = revokes(step.change, step.published) ? revision : (this.#progress.get(key)?.revoked ?? 0);
    this.#progress.set(key, { newest: revision, revoked });
    this.#withdrawn.delete(key);
  }

  /** All of it was written. */
  published(key: string, parts: ProjectParts): void {
    this.#parts.set(key, parts);
    this.#uncertain.delete(key);
  }

  withdrawn(key: string, revision: number): void {
    this.#parts.delete(key);
    this.#progress.delete(key);
    this.#uncertain.delete(key);
    this.#restoring.delete(key);
    this.#withdrawn.delete(key);
    this.#withdrawn.set(key, revision);
    const [oldest] = this.#withdrawn.keys();
    if (oldest !== undefined && this.#withdrawn.size > withdrawnRemembered) this.#withdrawn.delete(oldest);
  }

  /**
   * It is not known whether, or how far, a change of it was written. What puts back what was there
   * may be written again.
   */
  setUncertain(key: string): void {
    if (!this.#restoring.has(key)) this.#uncertain.add(key);
  }

  beginRestore(key: string): void {
    this.#restoring.add(key);
  }

  /** All of it was put back, or something newer is about to be written. */
  endRestore(key: string): void {
    this.#restoring.delete(key);
  }

  #hasRevived(key: string, revision: number): boolean {
    return revision < (this.#withdrawn.get(key) ?? this.#progress.get(key)?.revoked ?? 0);
  }
}

/** Whether it takes a credential or a signing key away, or makes another one of it. */
function revokes({ changed, removed }: Change, { fields }: PublishedContent): boolean {
  const other = changed.filter(
    ({ field, contentHash }) => (fields.get(field)?.contentHash ?? contentHash) !== contentHash,
  );
  return [...removed, ...other.map(({ field }) => field)].some(
    (field) => isCredentialField(field) || field === "signing",
  );
}

/**
 * The credentials of the project that may be served, of what Redis gave back: those that were
 * published last; none of an earlier Project.
 */
export function withLastCredentials(back: ProjectParts, last: ProjectParts | undefined): ProjectParts {
  const isSame = last?.project.uid === back.project.uid;
  return {
    ...back,
    signing: last?.signing ?? back.signing,
    users: isSame ? last.users : new Map(),
    keys: isSame ? last.keys : new Map(),
  };
}

/**
 * The same where something newer was sent, perhaps, and may have revoked what was published last:
 * of the credentials that Redis gave back those that are still as they were published last. What
 * differs from that was revoked, and nothing takes its place before it is compiled again.
 */
export function withUnrevokedCredentials(back: ProjectParts, last: ProjectParts | undefined): ProjectParts {
  const may = withLastCredentials(back, last);
  return { ...may, users: common(back.users, may.users), keys: common(back.keys, may.keys) };
}

function common<T>(back: ReadonlyMap<string, T>, last: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...back].filter(([name, value]) => isDeepStrictEqual(value, last.get(name))));
}
