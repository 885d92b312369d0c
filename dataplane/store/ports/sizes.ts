// How much collections and documents hold. port.ts says what a call may throw.

import type { CollectionRef, DocumentRef } from "./refs.ts";

export interface CollectionSize {
  readonly objects: number;
  /**
   * UTF-8 bytes of the objects' texts, of those that are counted, and bytes of a log of changes.
   */
  readonly bytes: number;
  /** False while `countBytes` has not come to the end. */
  readonly isCounted: boolean;
}

export interface DocumentSize {
  /** UTF-8 bytes of the text, and bytes of a log of changes; 0 when nothing is stored. */
  readonly bytes: number;
  /** Keys of an object or elements of an array; 0 of anything else. */
  readonly members: number;
}

export interface Sizes {
  collectionSize(collection: CollectionRef): Promise<CollectionSize>;
  documentSize(document: DocumentRef): Promise<DocumentSize>;
}

export interface ByteCounts {
  /** Counts the next batch of existing objects; from `done` on every write keeps the sum exact. */
  countBytes(collection: CollectionRef): Promise<"done" | "more">;
}
