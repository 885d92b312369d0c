// Records that writes leave behind, by which a repetition is known.

import type { CollectionRef, DocumentRef } from "./refs.ts";

/** What a write leaves behind in the same step, by which its repetition, which has the same key, is recognised. */
export interface IdempotencyRecord {
  /** Unique in its collection or root key. */
  readonly key: string;
  readonly text: string;
  /** How long it is kept. */
  readonly seconds: number;
}

export interface Idempotent {
  /** Absent = none is left, and none is looked for. */
  readonly record?: IdempotencyRecord;
}

/** A record of this key is there: nothing was written. */
export interface Repeated {
  readonly outcome: "repeated";
  /** Its text. */
  readonly record: string;
}

export interface IdempotencyRecords {
  /** The text of a record that a write of this collection or root key left, as long as it is kept. */
  idempotencyRecord(of: CollectionRef | DocumentRef, key: string): Promise<string | undefined>;
}
