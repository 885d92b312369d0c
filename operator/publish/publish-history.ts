// What this process has published, in all of its sessions as the writer: the last good version of each project, and the revision it had reached.
// Redis may be emptied, be restored from a backup, or lose its newest writes in a failover; from this history follows what is missing then.

import { isDeepStrictEqual } from "node:util";
import { isCredentialField, projectName } from "../../core/config/config-keys.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import type { Change, KnownProject } from "./project-fields.ts";
import type { PublishedEntry } from "./publisher.ts";

/** The revisions that a project had reached. */
interface Progress {
  /** Of its newest step. */
  readonly newest: number;
  /** Of the newest step that revoked or changed a credential, as far as that is known: not before it was first looked at. */
  readonly revoked: number;
}

/** Withdrawn projects that are remembered, the newest ones; some hundred bytes each. */
const withdrawnRemembered = 10_000;

export class PublishHistory {
  /** By name, like all of this. */
  readonly #parts = new Map<string, ProjectParts>();
  readonly #progress = new Map<string, Progress>();
  /** With the revision of the withdrawal. */
  readonly #withdrawn = new Map<string, number>();
  /** Projects of which something newer was written, perhaps: what it took away must not come back. */
  readonly #uncertain = new Set<string>();
  /** Projects whose credentials were being put back, perhaps not all of them: what Redis holds of these proves nothing. */
  readonly #restoring = new Set<string>();

  /** The same history, which goes on by itself. */
  copy(): PublishHistory {
    const copy = new PublishHistory();
    for (const [name, parts] of this.#parts) copy.#parts.set(name, parts);
    for (const [name, progress] of this.#progress) copy.#progress.set(name, progress);
    for (const [name, revision] of this.#withdrawn) copy.#withdrawn.set(name, revision);
    for (const name of this.#uncertain) copy.#uncertain.add(name);
    for (const name of this.#restoring) copy.#restoring.add(name);
    return copy;
  }

  partsOf(name: string): ProjectParts | undefined {
    return this.#parts.get(name);
  }

  isUncertain(name: string): boolean {
    return this.#uncertain.has(name);
  }

  isRestoring(name: string): boolean {
    return this.#restoring.has(name);
  }

  /** Whether Redis, which has this revision of the project, had a later one from this process, or its withdrawal. */
  isAhead(name: string, revision: number): boolean {
    return revision < (this.#withdrawn.get(name) ?? this.#progress.get(name)?.newest ?? 0);
  }

  /**
   * Names of the projects that Redis lost steps of, where this is all that it holds: first those of which a credential that was revoked or
   * changed is back. None of an emptied Redis, which brings nothing back, and has lost all of them alike.
   */
  lostFrom(published: readonly PublishedEntry[]): readonly string[] {
    if (published.length === 0) return [];
    const held = new Map(published.map((entry) => [projectName(entry), entry.revision]));
    const returned = [...held].filter(([name, revision]) => this.#hasRevived(name, revision)).map(([name]) => name);
    const behind = [...this.#progress].filter(([name, { newest }]) => (held.get(name) ?? 0) < newest);
    return [...new Set([...returned, ...behind.map(([name]) => name)])];
  }

  // ------------------------------------------------------------------------------------------------------------- what happened

  /** What Redis holds was just read: it counts where it is not older than what was published. */
  wasRead(name: string, { revision, parts }: KnownProject): void {
    if (this.isAhead(name, revision) || this.#restoring.has(name)) return;
    if (parts !== undefined) this.#parts.set(name, parts);
    if (revision === 0) return;
    // What somebody else wrote may have revoked something.
    if (this.#progress.get(name)?.newest !== revision)
      this.#progress.set(name, { newest: revision, revoked: revision });
    this.#withdrawn.delete(name);
  }

  /** A step of the project was written. */
  stepWritten(name: string, revision: number, step: { readonly change: Change; readonly known: KnownProject }): void {
    const revoked = revokes(step.change, step.known) ? revision : (this.#progress.get(name)?.revoked ?? 0);
    this.#progress.set(name, { newest: revision, revoked });
    this.#withdrawn.delete(name);
  }

  /** All of it was written. */
  published(name: string, parts: ProjectParts): void {
    this.#parts.set(name, parts);
    this.#uncertain.delete(name);
  }

  withdrawn(name: string, revision: number): void {
    this.#parts.delete(name);
    this.#progress.delete(name);
    this.#uncertain.delete(name);
    this.#restoring.delete(name);
    this.#withdrawn.delete(name);
    this.#withdrawn.set(name, revision);
    const [oldest] = this.#withdrawn.keys();
    if (oldest !== undefined && this.#withdrawn.size > withdrawnRemembered) this.#withdrawn.delete(oldest);
  }

  /** It is not known whether, or how far, a change of it was written. What puts back what was there may be written again. */
  setUncertain(name: string): void {
    if (!this.#restoring.has(name)) this.#uncertain.add(name);
  }

  beginRestore(name: string): void {
    this.#restoring.add(name);
  }

  /** All of it was put back, or something newer is about to be written. */
  endRestore(name: string): void {
    this.#restoring.delete(name);
  }

  #hasRevived(name: string, revision: number): boolean {
    return revision < (this.#withdrawn.get(name) ?? this.#progress.get(name)?.revoked ?? 0);
  }
}

/** Whether it takes a credential or a signing key away, or makes another one of it. */
function revokes({ changed, removed }: Change, { fields }: KnownProject): boolean {
  const other = changed.filter(
    ({ field, contentHash }) => (fields.get(field)?.contentHash ?? contentHash) !== contentHash,
  );
  return [...removed, ...other.map(({ field }) => field)].some(
    (field) => isCredentialField(field) || field === "signing",
  );
}

/**
 * The credentials of the project that may be served, of what Redis gave back: those that were published last; none of an earlier Project.
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
 * The same where something newer was sent, perhaps, and may have revoked what was published last: of the credentials that Redis gave back those
 * that are still as they were published last. What differs from that was revoked, and nothing takes its place before it is compiled anew.
 */
export function withUnrevokedCredentials(back: ProjectParts, last: ProjectParts | undefined): ProjectParts {
  const may = withLastCredentials(back, last);
  return { ...may, users: common(back.users, may.users), keys: common(back.keys, may.keys) };
}

function common<T>(back: ReadonlyMap<string, T>, last: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...back].filter(([name, value]) => isDeepStrictEqual(value, last.get(name))));
}
