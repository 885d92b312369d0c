// Names of everything that the store keeps in Redis. Keys that one script touches share a hash tag,
// so that they are in one slot of a Cluster. A name that could end a tag early is refused with
// RangeError.

import type { ChangeLogConfig, ProjectRef } from "../../../core/config/types.ts";
import type { CollectionRef, DocumentRef, Owner } from "../ports/refs.ts";

/** Separates a member's fields; no id, owner or value contains it, except between two values. */
export const separator = "\0";

/** The log of changes of a collection or document. */
export interface LogKeys {
  /** Stream: the log, and the channel that tells replicas to look. */
  readonly log: string;
  /** The log that the reference declares, as scripts take it (includes/change-log.lua). */
  readonly declaredLog: string;
}

export interface CollectionKeys extends LogKeys {
  /** The hash tag's content: the collection's name in caches. */
  readonly tag: string;
  /** Hash: which indexes there are (index-set.ts). */
  readonly indexSet: string;
  /** String: token of the replica that builds indexes. */
  readonly buildLock: string;
  /** Sorted set of `<id> 0 <owner>`. */
  readonly ids: string;
  /** What each object's key begins with; its id follows. */
  readonly objectKeyPrefix: string;
  /** RedisJSON value: the object of this id. */
  objectKey(id: string): string;
  /** String: idempotency record of a write (includes/idempotent.lua). */
  record(key: string): string;
  /** Sorted set of one owner's ids. */
  owned(owner: Owner): string;
  /** Sorted set of `<value> 0 <id>`, or of `<value> 0 <value> 0 <id>` for two fields. */
  index(indexNumber: number): string;
  /** Sorted set of `<owner> 0 <value> 0 <id>` of index `indexNumber`. */
  ownIndex(indexNumber: number): string;
}

const keysByCollection = new WeakMap<CollectionRef, CollectionKeys>();

/** Requests with one plan share a reference, so its keys are made once. */
export function collectionKeys(collection: CollectionRef): CollectionKeys {
  const known = keysByCollection.get(collection);
  if (known !== undefined) return known;
  const keys = makeCollectionKeys(collection);
  keysByCollection.set(collection, keys);
  return keys;
}

function makeCollectionKeys(collection: CollectionRef): CollectionKeys {
  const tag = `${projectTag(collection.project)}/${safe(collection.resource)}`;
  const base = `jp:{${tag}}:`;
  return {
    tag,
    indexSet: `${base}indexes`,
    buildLock: `${base}build-lock`,
    ids: `${base}ids`,
    log: `${base}changes`,
    declaredLog: declaredLog(collection.changes),
    objectKeyPrefix: `${base}doc:`,
    objectKey: (id) => `${base}doc:${id}`,
    record: (key) => `${base}idempotency:${key}`,
    owned: (owner) => `${base}owned:${owner}`,
    index: (indexNumber) => `${base}index:${indexNumber}`,
    ownIndex: (indexNumber) => `${base}own-index:${indexNumber}`,
  };
}

export interface DocumentKeys extends LogKeys {
  readonly value: string;
  /**
   * Bytes of the value's canonical text, and whether there is a log (includes/document-size.lua).
   */
  readonly size: string;
  /** String: what a purge under way has named the value. */
  readonly identity: string;
  /** String: idempotency record of a write (includes/idempotent.lua). */
  record(key: string): string;
}

export function documentKeys(document: DocumentRef): DocumentKeys {
  const base = `jp:{${projectTag(document.project)}/json/${safe(document.rootKey)}}:`;
  return {
    value: `${base}value`,
    size: `${base}size`,
    identity: `${base}id`,
    log: `${base}changes`,
    declaredLog: declaredLog(document.changes),
    record: (key) => `${base}idempotency:${key}`,
  };
}

export interface SessionKeys {
  /** Sorted set of `<created> 0 <id>`. */
  readonly byCreation: string;
  /** Sorted set of `<user name> 0 <created> 0 <id>`. */
  readonly byUser: string;
  /** Sorted set of `<user name> 0 <created> 0 <id>`, scored by expiry. */
  readonly byExpiry: string;
  session(id: string): string;
}

export function sessionKeys(project: ProjectRef): SessionKeys {
  const base = `jp:{${projectTag(project)}}:`;
  return {
    byCreation: `${base}sessions:by-creation`,
    byUser: `${base}sessions:by-user`,
    byExpiry: `${base}sessions:by-expiry`,
    session: (id) => `${base}session:${id}`,
  };
}

/** The stream and the sorted set by which every replica finds out which sessions were ended. */
export const revocations = { stream: "{jsonplane}:revocations", set: "{jsonplane}:revocations:live" } as const;

/**
 * The sorted set of collections whose objects expire, `<namespace>/<project>/<resource>`, by the
 * time in Unix milliseconds at which a replica looks at them next.
 */
export const expiring = "jp:{expiring}:collections";

/** Keys of ours with the same one are in the same slot. */
export function hashTagOf(key: string): string {
  return key.slice(key.indexOf("{") + 1, key.indexOf("}"));
}

/** `scope` decides the slot, `digest` names the budget in it; both are hex. */
export function counterKey(scope: string, digest: string): string {
  return `jp:{budget/${scope}}:${digest}`;
}

/** `digest`, in hex, names the bucket, and decides its slot. */
export function bucketKey(digest: string): string {
  return `jp:{bucket/${digest}}`;
}

function declaredLog(changes: ChangeLogConfig | undefined): string {
  return changes === undefined ? "" : `${changes.maxEntries} ${Math.ceil(changes.retentionSeconds * 1_000)}`;
}

function projectTag(project: ProjectRef): string {
  return `${safe(project.namespace)}/${safe(project.name)}`;
}

function safe(name: string): string {
  if (!/^[A-Za-z0-9._-]{1,253}$/.test(name)) throw new RangeError(`"${name}" can't be part of a key's name`);
  return name;
}
