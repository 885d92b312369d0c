// One JSON document per root key, read and changed at any path. port.ts says what a call may throw.

import type { Idempotent, Repeated } from "./idempotency.ts";
import type { DocumentRef, Path } from "./refs.ts";

/** Levels of nesting of a stored value, and so of a body; RedisJSON's own limit is 128. */
export const maxDepth = 64;

export interface DocumentLimits {
  /** Bytes of the entire document's text. */
  readonly maxBytes: number;
  /** Bytes by which it may grow; absent = any. */
  readonly maxGrowth?: number;
}

export interface PutLimits extends DocumentLimits, Expecting {
  readonly mayCreate: boolean;
  /**
   * Fewest members or elements of an entire value that is replaced, else `changed`; absent = any.
   */
  readonly minMembers?: number;
}

export type DocumentRead = { readonly outcome: "found"; readonly text: string } | { readonly outcome: "not_found" };

/**
 * What a write expects at its path: this text, or nothing. `never` is never met: such a write only
 * finds out how it would be refused.
 */
export type Expected = { readonly text: string } | "nothing" | "never";

export interface Expecting {
  /** Absent = whatever is there. */
  readonly expected?: Expected;
}

/**
 * `missing_document`: nothing is stored under the root key: call `initialise`, then repeat (nothing
 * was written). `parent_not_found`: a segment before the last leads nowhere. `not_a_container`: the
 * parent is a scalar. `invalid_index`: the parent is an array and the last segment is no index.
 * `index_out_of_range`, `index_not_found`: it is one, past the end. `create_refused`: it would add
 * a key and `mayCreate` is false. `changed`: not what was expected is there; before `key_exists`,
 * after the others. `repeated`: only of a write with a record, and first.
 *
 * `too_deep` depends on the path and the value alone and comes first, `document_too_large` and then
 * `quota_exceeded` last; nothing is written.
 */
export type DocumentRefusal =
  | { readonly outcome: "missing_document" | "parent_not_found" | "not_a_container" | "invalid_index" }
  | { readonly outcome: "key_exists" | "not_found" | "create_refused" | "changed" }
  | { readonly outcome: "document_too_large" | "quota_exceeded" | "too_deep" }
  | { readonly outcome: "index_out_of_range" | "index_not_found"; readonly length: number }
  | Repeated;

/** `growth` = bytes by which the document grew; there when the write had a `maxGrowth`. */
export type DocumentWrite =
  | { readonly outcome: "created" | "replaced"; readonly text: string; readonly growth?: number }
  | DocumentRefusal;

export interface DocumentReads {
  /** `missing_document`, other than `not_found`: nothing is stored under the root key at all. */
  readAt(document: DocumentRef, path: Path): Promise<DocumentRead | { readonly outcome: "missing_document" }>;
}

export interface DocumentWrites {
  /** Stores `text` as the entire value unless something is stored; true when it did. */
  initialise(document: DocumentRef, text: string): Promise<boolean>;
  /** Adds a key, or inserts into an array at an index ≤ its length (`-` = the end). */
  insertAt(
    document: DocumentRef,
    path: Path,
    text: string,
    limits: DocumentLimits & Expecting & Idempotent,
  ): Promise<DocumentWrite>;
  /** Replaces a value, or adds a missing key with `mayCreate`. An empty path: the entire value. */
  putAt(document: DocumentRef, path: Path, text: string, limits: PutLimits): Promise<DocumentWrite>;
  /**
   * Removes a key or an array element. `missing_document` where nothing is stored, `invalid_index`
   * where the last segment is no index of its array, `not_found` for all else that is missing.
   * `path` is never empty.
   */
  removeAt(
    document: DocumentRef,
    path: Path,
    expecting?: Expecting,
  ): Promise<{ readonly outcome: "removed" } | DocumentRefusal>;
}
