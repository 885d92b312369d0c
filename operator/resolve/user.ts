// Turns a ProjectUser and its Secrets into the hash to publish. The password comes from the Secret
// that the spec names, or from the user's own. There a new one is made where the Secret has none,
// or has no valid HMAC, and where rotation.id is another one than it was made for. The HMAC doesn't
// cover the password: people may write another one into the Secret.
//
// argon2 runs only for a password that is neither on stored nor published. Until the hash is
// ready the user is CredentialPending, and its published version stays live.

import { createHmac, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { UserConfig } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import {
  costOf,
  generatedPasswordCost,
  normalisePassword,
  PasswordRefused,
  passwordCost,
} from "../../core/password/hash-password.ts";
import { isRfc3339, rfc3339 } from "../../core/rfc3339.ts";
import type { PasswordCredential, Resolved } from "../model/credentials.ts";
import { usernameOf } from "../model/kinds.ts";
import type { ProjectUser } from "../model/objects.ts";
import { isInternalEntry, passwordSecretName, userHashSecretName } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { type CredentialEvent, credentialEvent } from "./credential-event.ts";
import { mintPassword } from "./mint.ts";
import { type OwnSecret, ownSecret, readRotation, rewritten, writeOf } from "./own-secret.ts";
import { deferred, type Resolution, type ResolveTools, type SecretWrite, unresolved } from "./resolution.ts";

export interface UserStatus {
  readonly username: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly passwordChangedAt: string;
}

type UserResolution = Resolution<PasswordCredential, UserStatus>;

/** `published`: what is live of this user now. */
export async function resolveUser(
  user: ProjectUser,
  published: UserConfig | undefined,
  tools: ResolveTools,
): Promise<UserResolution> {
  const isPublished = published !== undefined;
  const hashSecret = ownSecret(user, userHashSecretName(user), tools, isPublished);
  if (!hashSecret.ok) return unresolved(hashSecret);
  const found = passwordOf(user, tools, isPublished);
  if (!found.ok) return unresolved(found);
  const password = found.value;
  // It would be thrown away: its Secret isn't written in this pass.
  if (password.isGenerated && tools.writesUsedUp === true) return deferred;

  const known = readStoredHash(hashSecret.value.content);
  const revision = passwordRevision(password.text, user, tools.hmacKey);
  const inUse = [known, publishedHash(user, published, tools.now)].filter((stored) => stored !== undefined);
  const same = inUse.find((stored) => stored.revision === revision);
  const stored = same === undefined ? await newHash(password, revision, tools) : ok(same);
  if (!stored.ok) return unresolved(stored);
  const isWritten =
    known?.revision !== revision || (!hashSecret.value.hasOwnAnnotations && hashSecret.value.found?.immutable !== true);
  const hashWrites = isWritten ? [hashWrite(user, hashSecret.value, stored.value, tools)] : [];
  const events =
    same === undefined
      ? [password.event ?? newPassword(user, password, inUse.length > 0)]
      : rewritten(user, hashWrites, hashSecret.value.isRestored);
  const { hash: passwordHash, changedAt: passwordChangedAt } = stored.value;
  const { secretName, rotationID } = password;
  return {
    credential: { ok: true, value: { passwordHash, credentialRevision: revision } },
    writes: [...password.writes, ...hashWrites],
    events: [...password.repairs, ...events],
    status: {
      username: usernameOf(user),
      secretName,
      passwordChangedAt,
      ...(rotationID !== undefined && { rotationID }),
    },
  };
}

interface Password {
  readonly text: string;
  readonly secretName: string;
  readonly rotationID?: string | undefined;
  readonly isGenerated: boolean;
  /** Of the Secret with the password, before that with its hash. */
  readonly writes: readonly SecretWrite[];
  /** Of those writes, where they keep the password. */
  readonly repairs: readonly CredentialEvent[];
  /** Where the password is new; absent: somebody wrote it. */
  readonly event?: CredentialEvent;
}

function passwordOf(user: ProjectUser, tools: ResolveTools, isPublished: boolean): Result<Password> {
  const { passwordSecretRef } = user.spec;
  return passwordSecretRef === undefined
    ? ownPassword(user, tools, isPublished)
    : referencedPassword(user, passwordSecretRef, tools);
}

function referencedPassword(
  { metadata: { namespace } }: ProjectUser,
  { name, key }: { readonly name: string; readonly key: string },
  { findSecret }: ResolveTools,
): Result<Password> {
  const secret = findSecret(name);
  if (secret === undefined) {
    const message = `Namespace "${namespace}" has no Secret "${name}": create it, with the password in the entry "${key}"`;
    return refuse("SecretNotFound", message, "/spec/passwordSecretRef/name");
  }
  // The hash changes with each password that is adopted, and would be adopted again for ever.
  if (isInternalEntry(secret, key)) {
    const message = `Secret "${name}" is what jsonplane keeps for itself; name a Secret of your own, with the password`;
    return refuse("InvalidSecret", message, "/spec/passwordSecretRef/name");
  }
  const text = entryText(secret, key);
  if (text === undefined) {
    const message = `Secret "${name}" has no entry "${key}", or an empty one`;
    return refuse("SecretNotFound", message, "/spec/passwordSecretRef/key");
  }
  return ok({ text, secretName: name, isGenerated: false, writes: [], repairs: [] });
}

function ownPassword(user: ProjectUser, tools: ResolveTools, isPublished: boolean): Result<Password> {
  const secretName = passwordSecretName(user);
  const secret = ownSecret(user, secretName, tools, isPublished);
  if (!secret.ok) return secret;
  const { content, found, hasOwnAnnotations, isRestored } = secret.value;
  const text = entryText(content, "password");
  const wanted = user.spec.rotation?.id;
  const rotation = readRotation(content);
  // A restored password without the annotation counts as made for the present rotation.
  const id = rotation === undefined && isRestored ? wanted : rotation?.id;
  if (text === undefined || (wanted !== undefined && wanted !== id))
    return ok(mint(user, secret.value, tools, isPublished));
  const isRight =
    (hasOwnAnnotations && entryText(content, "username") === usernameOf(user)) || found?.immutable === true;
  const kept = rotation ?? { ...(id !== undefined && { id }), rotatedAt: rfc3339(tools.now) };
  const entries = { username: usernameOf(user), password: text };
  const writes = isRight ? [] : [writeOf(user, tools, found, { name: secretName, type, entries, rotation: kept })];
  const repairs = rewritten(user, writes, isRestored);
  const event = isRestored
    ? { event: credentialEvent(user, "CredentialRestored", `Took over the password in Secret "${secretName}"`) }
    : {};
  return ok({ text, secretName, rotationID: id, isGenerated: false, writes, repairs, ...event });
}

const type = "kubernetes.io/basic-auth";

function mint(user: ProjectUser, { found, content }: OwnSecret, tools: ResolveTools, isPublished: boolean): Password {
  const secretName = passwordSecretName(user);
  const text = mintPassword(tools.random);
  const id = user.spec.rotation?.id;
  const rotation = { ...(id !== undefined && { id }), rotatedAt: rfc3339(tools.now) };
  const entries = { username: usernameOf(user), password: text };
  // Of something that changes the Secret again and again, each repair makes another password.
  const causeId = JSON.stringify([id]);
  const hadPassword = isPublished || content !== undefined || user.status?.passwordChangedAt !== undefined;
  const event = hadPassword
    ? credentialEvent(
        user,
        "CredentialRotated",
        `Secret "${secretName}" holds a new password; former sessions have ended`,
      )
    : credentialEvent(user, "CredentialMinted", `Created a password in Secret "${secretName}"`);
  const writes = [writeOf(user, tools, found, { name: secretName, type, entries, rotation, causeId })];
  return { text, secretName, rotationID: id, isGenerated: true, writes, repairs: [], event };
}

/** Of a password that somebody wrote, or that was made by a pass that was interrupted. */
function newPassword(user: ProjectUser, { secretName }: Password, hadPassword: boolean): CredentialEvent {
  const isOwn = user.spec.passwordSecretRef === undefined;
  if (isOwn && !hadPassword) {
    return credentialEvent(user, "CredentialMinted", `Created a password in Secret "${secretName}"`);
  }
  const note = `The password in Secret "${secretName}" is now used; earlier sessions ended`;
  return credentialEvent(user, "PasswordAdopted", note);
}

async function newHash(password: Password, revision: string, tools: ResolveTools): Promise<Resolved<StoredHash>> {
  try {
    const hash = await tools.hashPassword(password.text, password.isGenerated ? generatedPasswordCost : undefined);
    return hash === undefined ? pending : ok({ hash, revision, changedAt: rfc3339(tools.now) });
  } catch (error) {
    if (!(error instanceof PasswordRefused)) throw error;
    return refuse("InvalidSecret", `Secret "${password.secretName}": ${error.message}`);
  }
}

const pending = refuse("CredentialPending", "The password is being hashed; a former one works until then");

/** In the hash Secret. */
export interface StoredHash {
  /** argon2id string. */
  readonly hash: string;
  /** Tokens carry it; another one means another password. */
  readonly revision: string;
  /** RFC 3339. */
  readonly changedAt: string;
}

function publishedHash(
  { status }: ProjectUser,
  published: UserConfig | undefined,
  now: number,
): StoredHash | undefined {
  if (published === undefined) return undefined;
  const { passwordHash: hash, credentialRevision: revision } = published;
  return { hash, revision, changedAt: status?.passwordChangedAt ?? rfc3339(now) };
}

/**
 * Undefined unless the operator could have written it: that of a restored Secret may be anybody's,
 * and a hash of another cost would take the memory of whoever compares a password with it.
 */
export function readStoredHash(secret: Secret | undefined): StoredHash | undefined {
  const stored = parseOrUndefined(entryText(secret, "record") ?? "");
  if (!isObject(stored)) return undefined;
  const { hash, revision, changedAt } = stored;
  const isStoredHash =
    isOwnHash(hash) && typeof revision === "string" && /^[\w-]{22}$/.test(revision) && isRfc3339(changedAt);
  return isStoredHash ? (stored as unknown as StoredHash) : undefined;
}

function isOwnHash(hash: unknown): boolean {
  const cost = typeof hash === "string" ? costOf(hash) : undefined;
  return [passwordCost, generatedPasswordCost].some((own) => isDeepStrictEqual(cost, { ...own }));
}

function hashWrite(user: ProjectUser, { found }: OwnSecret, stored: StoredHash, tools: ResolveTools): SecretWrite {
  const entries = { record: JSON.stringify(stored) };
  return writeOf(user, tools, found, { name: userHashSecretName(user), entries, causeId: stored.revision });
}

/**
 * Equal for equal passwords of one user of one Project, and for nothing else: it shows without
 * argon2 whether a password has changed. It is made with the installation's key, which only the
 * operator has, because an HMAC is much faster to try passwords against than argon2. It doesn't
 * contain UIDs, so that a restored backup ends no session.
 */
export function passwordRevision(password: string, user: ProjectUser, hmacKey: KeyObject): string {
  const { kind, metadata, spec } = user;
  const owner = [kind, metadata.namespace, spec.projectRef.name, metadata.name];
  const text = JSON.stringify(["password", ...owner, normalisePassword(password)]);
  return createHmac("sha256", hmacKey).update(text).digest("base64url").slice(0, 22);
}

function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}
