// What is known of passwords and keys when `compile` runs: hashes only, one answer per object, made
// by the resolve stage.

import { type Result, refuse } from "./verdict.ts";

export interface PasswordCredential {
  /** argon2id string. */
  readonly passwordHash: string;
  /** Changes when the password does. */
  readonly credentialRevision: string;
}

export interface KeyCredential {
  /** Lower-case hex SHA-256 of the key. */
  readonly sha256: string;
  /** Unix seconds; set on a key that was rotated away and lives out its grace period. */
  readonly retiresAt?: number;
}

/** The current key first, then those that live out their grace period. */
export type LiveKeys = readonly [KeyCredential, ...KeyCredential[]];

/** The credential, or why there is none: `SecretNotFound`, `InvalidSecret`, `SecretConflict` … */
export type Resolved<T> = Result<T>;

export interface Credentials {
  /** By name of the ProjectUser object. */
  readonly users: ReadonlyMap<string, Resolved<PasswordCredential>>;
  /** By name of the ApiKey object. */
  readonly keys: ReadonlyMap<string, Resolved<LiveKeys>>;
}

/** The answer for an object that the resolve stage did not resolve. */
export function unresolved(kind: string): ReturnType<typeof refuse> {
  return refuse("SecretNotFound", `The Secret of this ${kind} has not been read yet`);
}
