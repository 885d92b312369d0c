// The log of changes of a collection or root key: which objects were written or removed, in order,
// without their contents. Each write that changes something leaves one entry in the same step.
// port.ts says what a call may throw.

import type { CollectionRef, DocumentRef, Owner } from "./refs.ts";

/** `changes` of the reference says whether there is a log. */
export type LoggedRef = CollectionRef | DocumentRef;

/**
 * An entry of a log: its id with a checksum of what it holds, `<id>.<checksum>`, where the id has
 * digits and hyphens, and the checksum eight hex digits. It is valid while the log has that entry.
 */
export type LogPosition = string;

export interface Change {
  readonly position: LogPosition;
  /** `none`: the log began here. */
  readonly kind: "put" | "delete" | "none";
  /** Of the object; "" of a root key, whose entries don't say what changed in it. */
  readonly id: string;
  /** Of the object; "" of a root key. */
  readonly owner: Owner;
}

/**
 * `expired`: the position is older than the log. `lost`: the log never had it, or no longer after a
 * failover or restore that lost its end, or a purge.
 */
export type ChangesRead =
  | { readonly outcome: "changes"; readonly changes: readonly Change[] }
  | { readonly outcome: "expired" | "lost" };

export interface ChangeLogs {
  /** The newest entry. Begins the log, with an entry `none`, where there is none. */
  newestChange(of: LoggedRef): Promise<LogPosition>;
  /** Up to `limit` changes behind the position, oldest first. */
  changesAfter(of: LoggedRef, position: LogPosition, limit: number): Promise<ChangesRead>;
  /**
   * Calls back soon after changes, once for several, and possibly without one. It may be silent
   * while the store is away: who follows a log also reads it from time to time. Returns how to end.
   */
  onChanges(of: LoggedRef, call: () => void): () => void;
}
