// Names of the keys and fields that carry configuration in Redis. All keys share one hash tag, so
// that one script can write them together in a Cluster, too.

import type { ProjectRef } from "./types.ts";

const tag = "{jsonplane}";

export const configKeys = {
  /**
   * Hash: `revision` (the newest that was published), `epoch` (of the leader that may write),
   * `owner` (the installation), `dataset_id` (an id that changes when Redis was emptied and filled
   * again), `format`, `ring` (the key ring's fingerprint, keyring.ts), `complete` (set once every
   * Project is published), and the fields in store-fields.ts.
   */
  meta: `${tag}:meta`,
  /** Hash: `<namespace>/<name>` → revision of the project's last change, and its hosts. */
  projects: `${tag}:projects`,
  /**
   * Stream of hints, trimmed to a length: `{revision, after, project, fields}` for each publish,
   * with `removed` in place of `fields` for each withdrawal, and `{complete}` once every Project is
   * published.
   */
  changes: `${tag}:changes`,
  /** Sorted set: replica ids, scored by the last heartbeat in milliseconds of Redis' clock. */
  replicas: `${tag}:replicas`,
  /** Hash: `<namespace>/<name>` → record of the stored data, of the operator only. */
  data: `${tag}:data`,
  /**
   * Hash: id of an order → which stored data to purge (purge-order.ts), or what else to do with
   * them (order-kind.ts). The operator writes it.
   */
  orders: `${tag}:orders`,
  /** Hash: id of an order → when it was carried out, and what was found. Replicas write it. */
  results: `${tag}:results`,
  /** Hash: `last` → what the last complete backup says of itself (backup-report.ts). */
  backup: `${tag}:backup`,
} as const;

/**
 * Hash, which a replica loads when the project is first requested: fields `project`, `signing`,
 * `resource:<name>`, `rootkey:<name>`, `issuer:<name>`.
 */
export function projectConfigKey(ref: ProjectRef): string {
  return `${tag}:project:${keyOfProject(ref)}`;
}

/**
 * Hash, read when a request has such a credential: fields `user:<keyed hash of the name>`,
 * `key:<sha256 of the key>`.
 */
export function credentialsKey(ref: ProjectRef): string {
  return `${tag}:credentials:${keyOfProject(ref)}`;
}

/**
 * Hash, a replica's acknowledgement: `revision` (it serves nothing older), `refusals` (what it
 * refused to apply), and `kids` (ids of the keys in its key ring). It expires unless the replica
 * renews it.
 */
export function acknowledgementKey(replica: string): string {
  return `${tag}:ack:${replica}`;
}

/**
 * Hash: `<namespace>/<name>` → how much of its quotas the Project uses, as the replica counts it
 * (JSON of quota-uses.ts). The name starts with the acknowledgement's, so that the same rights in
 * Redis cover both. It expires likewise.
 */
export function usageKey(replica: string): string {
  return `${acknowledgementKey(replica)}:usage`;
}

/**
 * Hash: `<namespace>/<name>` → how many objects the Project's resources have, as a replica counted
 * them last. It expires when no replica counts any more. No replica has this name, and the rights
 * in Redis for acknowledgements cover it.
 */
export const storedObjectsKey = acknowledgementKey(":stored-objects");
/**
 * Hash: id of an order to check stored objects → how far the check has come (JSON of
 * CheckProgress). It expires once no replica checks. Its name is like that of storedObjectsKey.
 */
export const checkProgressKey = acknowledgementKey(":object-checks");
/** String with expiry: the replica that checks stored objects now. */
export const checkingLockKey = acknowledgementKey(":object-checks:lock");
/** Hash: id of an order to copy stored data → how far it has come (JSON of CopyProgress). */
export const copyProgressKey = acknowledgementKey(":copies");
/** String with expiry: the replica that copies stored data now. */
export const copyingLockKey = acknowledgementKey(":copies:lock");
/** String with expiry: the replica that purges stored data now. */
export const purgingLockKey = acknowledgementKey(":purges:lock");
/** String with expiry: a replica counts them, or did a moment ago. */
export const countingLockKey = acknowledgementKey(":stored-objects:lock");

/**
 * `<namespace>/<name>`, the key of a Project in queues, maps and hashes. Joined, because V8 keeps a
 * template's result as two strings once it is the key of a map.
 */
export function keyOfProject(ref: ProjectRef): string {
  return [ref.namespace, ref.name].join("/");
}

export function projectOfKey(key: string): ProjectRef {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether a field belongs to the hash credentialsKey, not to projectConfigKey. */
export function isCredentialField(field: string): boolean {
  return field.startsWith("user:") || field.startsWith("key:");
}
