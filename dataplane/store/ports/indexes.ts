// The indexes of a collection: declared, and built over existing objects. port.ts says what a call
// may throw.

import type { ExpiryConfig, FieldPath, IndexField, UniqueRule } from "../../../core/config/types.ts";
import type { CollectionRef } from "./refs.ts";

/** What an index serves other than lists. */
export type IndexPurpose =
  /** Its entries are those of this rule (uniqueValue in entry-values.ts). */
  | { readonly unique: UniqueRule }
  /** Its entries are the times at which objects expire (expiry.ts). */
  | { readonly expiry: ExpiryConfig };

/**
 * An index of a collection. One with a purpose has no part in lists: it may leave objects out, and
 * has no entries of owners.
 */
export interface StoreIndex extends IndexField {
  readonly purpose?: IndexPurpose;
}

export interface IndexState {
  readonly field: StoreIndex;
  /** `building`: writes update it, existing objects are being added, queries can't use it. */
  readonly state: "building" | "ready";
}

/** Stands in the states of indexes for the entries of owners while a store adds or removes them. */
export const ownersField: FieldPath = Object.freeze({ name: "_metadata.creator", path: ["_metadata", "creator"] });

/**
 * Whether lists may be limited to one owner's objects; `left out` = such a list is scanned. A store
 * may keep the entries anyway.
 */
export type OwnersEntries = "kept" | "left out";

export interface ObjectIndexes {
  /**
   * Makes `fields` the collection's indexes when `revision` is newer than the last declared one.
   * New fields, and a name that now stands for another path, start as `building`; in an empty
   * collection all are ready. An equal revision replaces only what an older version of this program
   * made, and an older one nothing. Returns the indexes in force. The same revisions decide whether
   * there are entries of owners; while these are added or removed, the states have `ownersField`.
   */
  declareIndexes(
    collection: CollectionRef,
    fields: readonly StoreIndex[],
    revision: number,
    owners?: OwnersEntries,
  ): Promise<readonly IndexState[]>;
  /**
   * Adds the next batch of existing objects to every building index, or adds or removes its owners'
   * entries, under a lock shared by all replicas. `done`: no index is building; `more`: call again;
   * `busy`: another replica has the lock, or one of another version has to build them.
   */
  buildIndexes(collection: CollectionRef): Promise<"done" | "more" | "busy">;
  /**
   * Refuses from now on to write objects for a reference with an older revision, with
   * WriteConflict: its writer has not read the configuration that the reference is of.
   */
  refuseOlderWriters(collection: CollectionRef): Promise<void>;
  /** The indexes in force, as the store knows them now. */
  indexes(collection: CollectionRef): Promise<readonly IndexState[]>;
}
