// Names of the keys and fields that carry configuration in Redis. All keys share one hash tag, so that one script can write
// them together on a Cluster too.

import type { ProjectRef } from "./types.ts";

const tag = "{jsonplane}";

export const configKeys = {
  /**
   * Hash: `revision` (the newest published), `epoch` (the writer's), `owner` (the installation), `instance` (this filling of
   * Redis), `format`, `ring` (ring-mark.ts), `complete` (all is published), and what
   * store-fields.ts names.
   */
  meta: `${tag}:meta`,
  /** Hash: `<namespace>/<name>` → revision of the project's last change, and its hosts. */
  projects: `${tag}:projects`,
  /**
   * Stream: `{revision, after, project, fields}` for each publish, `removed` in place of `fields` for each withdrawal, `{complete}` when all is
   * published; hints, trimmed.
   */
  changes: `${tag}:changes`,
  /** Sorted set: replica id by the time of its last heartbeat, in milliseconds by Redis' clock. */
  replicas: `${tag}:replicas`,
  /** Hash: `<namespace>/<name>` → what is known of the project's stored data, for the operator alone. */
  data: `${tag}:data`,
  /** Hash: order id → what to purge, written by the operator. */
  purges: `${tag}:purges`,
  /** Hash: order id → when a replica had carried it out, written by replicas. */
  purged: `${tag}:purged`,
  /** String with expiry: the replica that carries out purges now. */
  purgeLock: `${tag}:purge-lock`,
} as const;

/** Hash of what is loaded with a project: fields `project`, `signing`, `resource:<name>`, `rootkey:<name>`. */
export function projectConfigKey(ref: ProjectRef): string {
  return `${tag}:project:${keyOfProject(ref)}`;
}

/** Hash of what is read on demand: fields `user:<keyed hash of the name>`, `key:<sha256 of the key>`. */
export function credentialsKey(ref: ProjectRef): string {
  return `${tag}:credentials:${keyOfProject(ref)}`;
}

/**
 * Hash of what a replica has applied: `revision`, `nacks`, and `kids`, the key ids of its ring. Expires when the replica no longer renews
 * it.
 */
export function acknowledgementKey(replica: string): string {
  return `${tag}:ack:${replica}`;
}

/**
 * Hash of what a replica knows of quotas: `<namespace>/<name>` → quota-uses.ts as JSON. It begins as the acknowledgement does, so that
 * the same rights cover it, and expires likewise.
 */
export function usageKey(replica: string): string {
  return `${acknowledgementKey(replica)}:usage`;
}

/** `<namespace>/<name>`: by which queues, maps and hashes know a Project. */
export function keyOfProject(ref: ProjectRef): string {
  return `${ref.namespace}/${ref.name}`;
}

export function projectOfKey(key: string): ProjectRef {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether a field stands in credentialsKey, not in projectConfigKey. */
export function isCredentialField(field: string): boolean {
  return field.startsWith("user:") || field.startsWith("key:");
}
