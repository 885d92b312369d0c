// What is remembered of a ProjectUser's password: its hash and the revision that tokens carry. Read from the record in its hash Secret.

import { createHmac, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { costOf, generatedPasswordCost, normalisePassword, passwordCost } from "../../core/password/hash-password.ts";
import { isRfc3339 } from "../../core/rfc3339.ts";
import type { ProjectUser } from "../model/objects.ts";
import { isRotationId } from "./rotation-mark.ts";

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

/**
 * Undefined when there is no record, one of another version of this program, and one with what no version writes: that of a restored
 * Secret may be anybody's, and a hash of another cost would take the memory of whoever compares a password with it.
 */
export function readUserRecord(secret: Secret | undefined): UserRecord | undefined {
  const record = parseOrUndefined(entryText(secret, "record") ?? "");
  if (!isObject(record)) return undefined;
  const { hash, revision, mac, rotationId, changedAt, given } = record;
  const isRecord =
    isOwnHash(hash) &&
    isRevision(revision) &&
    (mac === undefined || isRevision(mac)) &&
    isRotationId(rotationId) &&
    isRfc3339(changedAt) &&
    (given === undefined || given === true);
  return isRecord ? (record as unknown as UserRecord) : undefined;
}

function isOwnHash(hash: unknown): boolean {
  const cost = typeof hash === "string" ? costOf(hash) : undefined;
  return [passwordCost, generatedPasswordCost].some((own) => isDeepStrictEqual(cost, { ...own }));
}

/** As long as `passwordRevision` makes them. */
function isRevision(value: unknown): boolean {
  return typeof value === "string" && /^[\w-]{22}$/.test(value);
}

/** What `passwordRevision` answered for the password of this record. */
export function macOf({ mac, revision }: UserRecord): string {
  return mac ?? revision;
}

/**
 * Equal for equal passwords of one user of one Project, and for nothing else; shows without argon2 whether a password has
 * changed. It outlives the object's UID, so that a restored backup ends no session.
 */
export function passwordRevision(password: string, user: ProjectUser, projectKey: Uint8Array | KeyObject): string {
  const text = JSON.stringify(["password", user.kind, user.metadata.name, normalisePassword(password)]);
  return createHmac("sha256", projectKey).update(text).digest("base64url").slice(0, 22);
}
