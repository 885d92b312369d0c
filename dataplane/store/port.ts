// The store as the data plane sees it: objects in collections, one JSON document per root key, sessions, and counters that
// all replicas share. It knows neither HTTP nor Redis. Each call may throw, from core/errors/store-errors.ts, StoreUnavailable
// (nothing was sent, nothing happened) or OutcomeUnknown (a write was sent and its answer never came); no adapter sends a write twice.
// An adapter is done when it passes test/store/contract/.

import type { IndexField, ProjectRef } from "../../core/config/types.ts";
import type { ValueRange } from "./ranges.ts";
import type { SessionStore } from "./session-store.ts";

// ---------------------------------------------------------------------------------------------------------- objects

export interface CollectionRef {
  readonly project: ProjectRef;
  readonly resource: string;
}

/** An owner as stored, `<creator_type>:<creator>`, e.g. `user:alice`, `apikey:frontend`, `anonymous:anonymous`. */
export type Owner = string;

export interface StoredObject {
  /** The served form, canonical JSON text: `id` first, the data, `_metadata` last. */
  readonly text: string;
}

/** What a write leaves behind in the same step, so that its repetition, which has the same key, is told from a new one. */
export interface IdempotencyRecord {
  /** Of its collection or root key. */
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

export interface NewObject {
  /** UUIDv7; sorts by creation. */
  readonly id: string;
  readonly owner: Owner;
  readonly text: string;
}

export type CreateOutcome =
  | { readonly outcome: "created"; readonly text: string }
  | { readonly outcome: "quota_exceeded" }
  | Repeated;

export type ReplaceOutcome =
  | { readonly outcome: "replaced"; readonly text: string }
  /** The stored text is no longer `previous`. */
  | { readonly outcome: "conflict" }
  | { readonly outcome: "not_found" };

/** `conflict`: the stored text is no longer `previous`. */
export type RemoveOutcome = "removed" | "conflict" | "not_found";

export interface IndexState {
  readonly field: IndexField;
  /** `building`: writes keep it true already, objects from before are still being added, it can't answer a query. */
  readonly state: "building" | "ready";
}

/** Which objects a query sees: all of a collection, or one owner's. */
export interface Visibility {
  readonly owner?: Owner;
}

export interface PageRange {
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
  /** A page whose texts are longer together, in UTF-16 units, is cut short and says so; absent = however long. */
  readonly maxLength?: number;
  /** Awaited before a store that reads a long page in parts reads on; what it throws ends the page. */
  readonly beforeMore?: () => Promise<void>;
}

export interface Page {
  /** All objects that the query matches, not only this page's. */
  readonly count: number;
  /** Served texts, in order. */
  readonly texts: readonly string[];
  /** True when `maxLength` kept objects out of it. */
  readonly isCut?: boolean;
}

export interface FieldQuery {
  /** `name` of an index; the store answers `not_ready` when it is unknown or still building. */
  readonly index: string;
  /**
   * Where the index must have its values from, else `not_ready`: while the store takes no writes it keeps those that were declared before.
   */
  readonly field?: IndexField;
  /** Only objects whose value encodes to exactly this (encodeSortValue in order.ts); absent = all. */
  readonly equals?: string;
  /** Only objects whose encoded value lies in one of these: disjoint and ascending (ranges.ts); never beside `equals`. */
  readonly ranges?: readonly ValueRange[];
}

export type FieldPage = ({ readonly outcome: "page" } & Page) | { readonly outcome: "not_ready" };

/** What a page begins behind: an object that may be gone or have another value by now. */
export interface Position {
  /** Encoded; "" in order of creation. */
  readonly value: string;
  readonly id: string;
}

export interface KeysetRange extends Pick<PageRange, "limit" | "descending" | "maxLength" | "beforeMore"> {
  /** Goes on behind it; absent = from the start. */
  readonly after?: Position;
  /** Whether `count` is wanted; it is 0 otherwise. */
  readonly counted: boolean;
}

export interface KeysetPage extends Page {
  /** Where to go on, when there is more. */
  readonly next?: Position;
}

export type Candidates =
  | { readonly outcome: "found"; readonly ids: readonly string[] }
  | { readonly outcome: "too_many" | "not_ready" };

/** `done`: nothing is left, declared indexes included; `gone`: what was named is not there any more, and others' data may be. */
export type PurgeStep = "done" | "more" | "gone";

export interface ObjectStore {
  /**
   * Makes `fields` the collection's indexes when `revision` is newer than the one declared last; new fields, and a name
   * that now stands for another path, start as `building`; in an empty collection all are ready. Equal or older revisions
   * change nothing. Returns the indexes in force.
   */
  declareIndexes(
    collection: CollectionRef,
    fields: readonly IndexField[],
    revision: number,
  ): Promise<readonly IndexState[]>;
  /**
   * Adds the next batch of existing objects to every building index, under a lock shared by all replicas.
   * `done`: no index is building; `more`: call again; `busy`: another replica holds the lock.
   */
  buildIndexes(collection: CollectionRef): Promise<"done" | "more" | "busy">;
  /** The indexes in force, as the store knows them now. */
  indexes(collection: CollectionRef): Promise<readonly IndexState[]>;

  create(collection: CollectionRef, object: NewObject & Idempotent, maxObjects: number): Promise<CreateOutcome>;
  /** Undefined when there is none, or `visible.owner` doesn't own it. */
  read(collection: CollectionRef, id: string, visible: Visibility): Promise<StoredObject | undefined>;
  /** Compare-and-set: writes `text` only while the stored text is `previous.text`. The owner never changes. */
  replace(collection: CollectionRef, object: NewObject, previous: StoredObject): Promise<ReplaceOutcome>;
  /** False when there is none, or `visible.owner` doesn't own it. */
  remove(collection: CollectionRef, id: string, visible: Visibility): Promise<boolean>;
  /** Removes an object while its stored text is `previous.text`. */
  removeUnchanged(collection: CollectionRef, id: string, previous: StoredObject): Promise<RemoveOutcome>;

  /** A page in order of creation, and the count. */
  pageByCreation(collection: CollectionRef, visible: Visibility, range: PageRange): Promise<Page>;
  /** A page in order of an indexed field (then of id), optionally of one value only. */
  pageByField(collection: CollectionRef, visible: Visibility, query: FieldQuery, range: PageRange): Promise<FieldPage>;
  /**
   * The next objects behind a position, in order of creation, or of an indexed field when there is a query: whatever is written
   * meanwhile, who goes from page to page sees every object once that is there all the time with the same value.
   */
  pageAfter(
    collection: CollectionRef,
    visible: Visibility,
    query: FieldQuery | undefined,
    range: KeysetRange,
  ): Promise<({ readonly outcome: "page" } & KeysetPage) | { readonly outcome: "not_ready" }>;
  /** The ids of all objects that an index has for the query, in any order; `too_many` when they are more than `most`. */
  candidates(collection: CollectionRef, visible: Visibility, query: FieldQuery, most: number): Promise<Candidates>;
  /** Served texts of these objects, in this order, in batches of at most 4 MiB; those that are gone are left out. */
  readObjects(collection: CollectionRef, ids: readonly string[]): AsyncIterable<readonly string[]>;
  count(collection: CollectionRef, visible: Visibility): Promise<number>;
  /** Served texts of all visible objects, in order of creation, in batches of at most 4 MiB. For bounded scans. */
  scan(collection: CollectionRef, visible: Visibility): AsyncIterable<readonly string[]>;
  /** Names what the collection holds now, for its purge; undefined when it holds nothing. What is stored after a purge has another name. */
  collectionIdentity(collection: CollectionRef): Promise<string | undefined>;
  /** Removes up to `batch` objects, with their index entries, of a collection that still is the one that was named so. */
  purge(collection: CollectionRef, identity: string, batch: number): Promise<PurgeStep>;
}

// -------------------------------------------------------------------------------------------------------- documents

export interface DocumentRef {
  readonly project: ProjectRef;
  readonly rootKey: string;
}

/** Decoded path segments below the root; whether one is a key or an index, the container's type decides. */
export type Path = readonly string[];

export interface DocumentLimits {
  /** Bytes of the whole document's text. */
  readonly maxBytes: number;
  /** Bytes by which it may grow; absent = any. */
  readonly maxGrowth?: number;
}

export interface PutLimits extends DocumentLimits, Expecting {
  readonly mayCreate: boolean;
  /** Members or elements that must at least be at the top of a whole value that is replaced, else `changed`; absent = any. */
  readonly minMembers?: number;
}

export type DocumentRead = { readonly outcome: "found"; readonly text: string } | { readonly outcome: "not_found" };

/** What a write wants to find at its path: this text, nothing, or, to hear only what else refuses it, what is never there. */
export type Expected = { readonly text: string } | "nothing" | "never";

export interface Expecting {
  /** Absent = whatever is there. */
  readonly expected?: Expected;
}

/**
 * `missing_document`: nothing is stored under the root key: call `initialise`, then repeat (nothing was written).
 * `parent_not_found`: a segment before the last leads nowhere. `not_a_container`: the parent is a scalar.
 * `invalid_index`: the parent is an array and the last segment is no index. `index_out_of_range`, `index_not_found`: it
 * is one, past the end. `create_refused`: it would add a key and `mayCreate` is false. `changed`: not what was expected is
 * there; before `key_exists`, after the others. `repeated`: only of a write with a record, and first.
 *
 * `too_deep` depends on the path and the value alone and comes first, `document_too_large` and then `quota_exceeded` last;
 * nothing is written.
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

export interface DocumentStore {
  /** Stores `text` as the whole value unless something is stored; true when it did. */
  initialise(document: DocumentRef, text: string): Promise<boolean>;
  /** `missing_document` is told from `not_found`: then nothing is stored under the root key at all. */
  readAt(document: DocumentRef, path: Path): Promise<DocumentRead | { readonly outcome: "missing_document" }>;
  /** Adds a new key, or inserts into an array at an index ≤ its length (`-` = the end). `path` is never empty. */
  insertAt(
    document: DocumentRef,
    path: Path,
    text: string,
    limits: DocumentLimits & Expecting & Idempotent,
  ): Promise<DocumentWrite>;
  /** Replaces a value; adds a missing last key of an object when `mayCreate`. An empty path replaces the whole value. */
  putAt(document: DocumentRef, path: Path, text: string, limits: PutLimits): Promise<DocumentWrite>;
  /** Removes a key or an array element; everything that is missing is `not_found`. `path` is never empty. */
  removeAt(
    document: DocumentRef,
    path: Path,
    expecting?: Expecting,
  ): Promise<{ readonly outcome: "removed" } | DocumentRefusal>;
  /** Names what is stored now, for its purge; undefined when nothing is. What is stored after a purge has another name. */
  documentIdentity(document: DocumentRef): Promise<string | undefined>;
  /** Removes a document that still is the one that was named so. */
  purgeDocument(document: DocumentRef, identity: string): Promise<Exclude<PurgeStep, "more">>;
}

// ---------------------------------------------------------------------------------------------------------- figures

export interface CollectionFigures {
  readonly objects: number;
  /** UTF-8 bytes of the objects' texts, of those that are counted. */
  readonly bytes: number;
  /** False while `countBytes` has not come to the end. */
  readonly isCounted: boolean;
}

export interface DocumentFigures {
  /** UTF-8 bytes of the text; 0 when nothing is stored. */
  readonly bytes: number;
  /** Keys of an object or elements of an array; 0 of anything else. */
  readonly members: number;
}

export interface FiguresStore {
  collectionFigures(collection: CollectionRef): Promise<CollectionFigures>;
  /** Counts the bytes of a next batch of existing objects; from `done` on every write keeps the sum exactly. */
  countBytes(collection: CollectionRef): Promise<"done" | "more">;
  documentFigures(document: DocumentRef): Promise<DocumentFigures>;
}

// --------------------------------------------------------------------------------------------------------- counters

export interface Budget {
  /** What is counted, e.g. `login:<namespace>/<project>:<address>`; hashed by the adapter, never shown. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export type SpendOutcome =
  | { readonly outcome: "spent" }
  | { readonly outcome: "exhausted"; readonly retryAfterSeconds: number };

export interface CounterStore {
  /**
   * Takes one from every budget, or, when one is exhausted, from none and says after how many seconds all have something
   * again. A window opens with the first spending, and ends by the store's own time, whatever the replicas' clocks say.
   */
  spend(budgets: readonly Budget[]): Promise<SpendOutcome>;
  /** Gives one back to each. */
  refund(budgets: readonly Budget[]): Promise<void>;
}

/** A bucket that fills by `perSecond` tokens a second of the store's own time up to `burst`, and is full when it is first asked. */
export interface TokenBucket {
  /** Whose it is, as a budget's name: `<kind>:<namespace>/<project>:…`. */
  readonly name: string;
  readonly perSecond: number;
  readonly burst: number;
}

export interface Draw {
  readonly taken: number;
  /** Whole tokens that are left for everybody. */
  readonly left: number;
  /** Milliseconds until there is one to take; 0 = there is one. */
  readonly waitMs: number;
}

export interface BucketStore {
  /** Takes as many of `wanted` tokens as there are, 0 included. WritesRefused = the store can't count now, and may be read. */
  drawTokens(bucket: TokenBucket, wanted: number): Promise<Draw>;
}

// -------------------------------------------------------------------------------------------------------- the whole

export interface StoreHealth {
  /** True when a command could be sent now. */
  readonly reachable: boolean;
}

export interface IdempotencyStore {
  /** The text of a record that a write of this collection or root key left, as long as it is kept. */
  idempotencyRecord(of: CollectionRef | DocumentRef, key: string): Promise<string | undefined>;
}

export interface Store
  extends ObjectStore,
    DocumentStore,
    IdempotencyStore,
    FiguresStore,
    SessionStore,
    CounterStore,
    BucketStore {
  health(): StoreHealth;
  /** Waits for calls under way, then lets go of connections and files. */
  close(): Promise<void>;
}

/** What an adapter reports of each call; the program turns it into a metric. */
export interface StoreObservation {
  readonly operation: string;
  readonly seconds: number;
  readonly outcome: "ok" | "unavailable" | "unknown" | "error";
}
