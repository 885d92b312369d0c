// Records that writes leave behind, by which a repetition is known.

import type { CollectionRef, DocumentRef } from "./refs.ts";

/**
 * What a write leaves in the same step, by which its repetition with the same key is recognised.
 */
export interface IdempotencyRecord {
  /** Unique in its collection or root key. */
  readonly key: string;
  readonly text: string;
  /** Seconds until it expires. */
  readonly seconds: number;
}

export interface Idempotent {
  /** Absent = none is left, and none is read. */
  readonly record?: IdempotencyRecord;
}

/** A record of this key exists: nothing was written. */
export interface Repeated {
  readonly outcome: "repeated";
  /** Its text. */
  readonly record: string;
}

export interface IdempotencyRecords {
  /** The text of the record that a write of this collection or root key left, until it expires. */
  idempotencyRecord(of: CollectionRef | DocumentRef, key: string): Promise<string | undefined>;
}
