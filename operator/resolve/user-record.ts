// What is remembered of a ProjectUser's password: its hash and the revision that tokens carry. Read from the sealed record
// of its hash Secret.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { normalisePassword } from "../../core/password/hash-password.ts";
import { openRecord, type Sealing, sealOf } from "./sealed-record.ts";

export interface UserRecord {
  /** argon2id string. */
  readonly hash: string;
  /** What tokens carry; another one means another password. */
  readonly revision: string;
  /**
   * HMAC of the password where `revision` isn't it: that was made with a key of the Project that was lost since. The key is
   * published nowhere: with it, a data plane could try passwords against revisions, at a fraction of what argon2 makes it cost.
   */
  readonly mac?: string;
  readonly rotationId?: string;
  /** RFC 3339. */
  readonly changedAt: string;
  /** The password came from a Secret that the spec named. */
  readonly given?: true;
}

/** Undefined when there is no record, or its seal is not from jsonplane. */
export function readUserRecord(secret: Secret | undefined, sealing: Sealing): UserRecord | undefined {
  const record = openRecord(secret, sealing);
  return isUserRecord(record) ? (record as unknown as UserRecord) : undefined;
}

/** What `passwordRevision` answered for the password of this record. */
export function macOf({ mac, revision }: UserRecord): string {
  return mac ?? revision;
}

/**
 * Equal for equal passwords of one user of one Project, and for nothing else; shows without argon2 whether a password has
 * changed. It outlives the object's UID, so that a restored backup ends no session.
 */
export function passwordRevision(password: string, sealing: Sealing): string {
  return sealOf("password", [normalisePassword(password)], sealing).slice(0, 22);
}

function isUserRecord(record: Json | undefined): record is JsonObject {
  return (
    isObject(record) && [record.hash, record.revision, record.changedAt].every((field) => typeof field === "string")
  );
}
