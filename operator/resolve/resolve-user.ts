// Turns a ProjectUser and its Secrets into the hash to publish. argon2 runs only when the password has changed.
//
//   spec names a Secret                      its password is adopted; SecretNotFound where Secret or entry is missing
//   else, by the user's own Secret:
//   a password, no rotation wanted           it is adopted, and the other entries are repaired
//   a password, rotation wanted              it is adopted if it was made for that rotation, else a new one is made
//   none, but a record of its hash           the hash stays in use; a new password is made if a rotation is wanted, or if the former
//                                            password came from a Secret that the spec names no more
//   none, no record, but a published hash    the published hash stays in use, unless a rotation is wanted
//   none, and never made, or a rotation      a new password is made
//   none, but made once                      KeyLost
//
// A foreign Secret that has the name of an own one is refused with SecretConflict. A password whose hash comes later is refused with
// CredentialPending until then: what was served of the user before goes on being served.

import type { UserConfig } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { generatedPasswordCost, PasswordRefused } from "../../core/password/hash-password.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import { usernameOf } from "../model/claimed-name.ts";
import type { PasswordCredential, Resolved } from "../model/credentials.ts";
import type { ProjectUser } from "../model/objects.ts";
import { passwordSecretName, userHashSecretName } from "../model/secret-names.ts";
import { type Notice, refuse } from "../model/verdict.ts";
import { type CredentialEvent, type CredentialEventReason, credentialEvent } from "./credential-event.ts";
import { mintPassword } from "./mint.ts";
import type { Resolution, ResolveTools } from "./resolution.ts";
import { isMarkedFor, markOf, readMark } from "./rotation-mark.ts";
import { claimedRotation, type Sealing, sealRecord } from "./sealed-record.ts";
import { secretConflict } from "./secret-conflict.ts";
import { entryText, type SecretWrite, writeOf } from "./secret-write.ts";
import { macOf, passwordRevision, readUserRecord, type UserRecord } from "./user-record.ts";

export interface UserStatus {
  readonly username: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly passwordChangedAt: string;
}

interface UserContext {
  readonly user: ProjectUser;
  readonly tools: ResolveTools;
  readonly sealing: Sealing;
  readonly hashSecret: Secret | undefined;
  readonly known: UserRecord | undefined;
  readonly published: UserConfig | undefined;
}

type UserResolution = Resolution<PasswordCredential, UserStatus>;

/** `published` = what is live of this user now; the last resort when its Secrets are gone. */
export async function resolveUser(
  user: ProjectUser,
  published: UserConfig | undefined,
  tools: ResolveTools,
): Promise<UserResolution> {
  const hashSecret = tools.findSecret(userHashSecretName(user));
  const conflict = hashSecret && secretConflict(hashSecret, user);
  if (conflict !== undefined) return conflicting(conflict);
  const sealing: Sealing = { key: tools.projectKey, owner: user };
  const known = readUserRecord(hashSecret, sealing);
  const context: UserContext = { user, tools, sealing, hashSecret, known, published };
  const reference = user.spec.passwordSecretRef;
  return reference === undefined ? await fromOwnSecret(context) : await fromReferencedSecret(context, reference);
}

async function fromReferencedSecret(
  context: UserContext,
  { name, key }: { readonly name: string; readonly key: string },
): Promise<UserResolution> {
  const secret = context.tools.findSecret(name);
  if (secret === undefined) {
    const { namespace } = context.user.metadata;
    const message = `Namespace "${namespace}" has no Secret "${name}": create it, with the password in the entry "${key}"`;
    return missing(message, "/spec/passwordSecretRef/name");
  }
  const password = entryText(secret, key);
  if (password === undefined) {
    return missing(`Secret "${name}" has no entry "${key}", or an empty one`, "/spec/passwordSecretRef/key");
  }
  return await adoptPassword(context, { password, secretName: name, given: true });
}

async function fromOwnSecret(context: UserContext): Promise<UserResolution> {
  const { user, tools, known } = context;
  const secret = tools.findSecret(passwordSecretName(user));
  const conflict = secret && secretConflict(secret, user);
  if (conflict !== undefined) return conflicting(conflict);
  const password = entryText(secret, "password");
  if (password !== undefined) return await fromSecret(context, secret, password);
  // The password from a Secret that the spec names no more stays in use until a new one is made.
  if (known !== undefined && (rotationWanted(user, known.rotationId) || known.given === true)) {
    return await mint(context, secret, known.revision);
  }
  return known === undefined ? await fromPublished(context, secret) : resolutionOf(context, keepRecord(context, known));
}

/** The Secret has a password: that of an interrupted rotation, the one in use, or one that was written by hand. */
async function fromSecret(context: UserContext, secret: Secret | undefined, password: string): Promise<UserResolution> {
  const { user, sealing, known } = context;
  const secretName = passwordSecretName(user);
  const mark = readMark(secret, password, sealing);
  const generated = mark !== undefined;
  const lost = known === undefined ? mark : undefined;
  const lastRotation = lost === undefined ? rememberedRotation(context) : lost.id;
  const writes = repair(context, secret, password);
  if (!rotationWanted(user, lastRotation)) {
    const rotated = lastRotation === undefined ? {} : { rotationId: lastRotation };
    // A password that was made here and is published nowhere was not edited: only its record was lost.
    const remade = lost !== undefined && context.published === undefined;
    const event = remade ? ({ event: "SecretRepaired" } as const) : {};
    const resolution = await adoptPassword(context, { password, secretName, generated, ...rotated, ...event });
    return withWrites(resolution, writes, [repairedPassword(user)]);
  }
  const replaced = known?.revision ?? passwordRevision(password, sealing);
  if (!isMarkedFor(mark, user.spec.rotation?.id, replaced)) return await mint(context, secret, replaced);
  const resolution = await adoptPassword(context, { password, secretName, generated, event: "CredentialRotated" });
  return withWrites(resolution, writes);
}

/** There is neither a Secret with the password nor a readable record of it. */
async function fromPublished(context: UserContext, secret: Secret | undefined): Promise<UserResolution> {
  const { user, hashSecret, published, tools } = context;
  const lastRotation = rememberedRotation(context);
  if (published !== undefined && !rotationWanted(user, lastRotation)) {
    const { passwordHash: hash, credentialRevision: revision } = published;
    const record = withRotation({ hash, revision, changedAt: rfc3339(tools.now) }, lastRotation);
    const events = [repairedHash(user)];
    return resolutionOf(context, { ...keepRecord(context, record), events, writes: [hashWrite(context, record)] });
  }
  // A hash Secret that can't be read proves that a password was made once, as the status does.
  const everMade = user.status?.passwordChangedAt !== undefined || hashSecret !== undefined;
  const claimed = user.status?.rotationID ?? claimedRotation(hashSecret);
  if (!everMade || rotationWanted(user, claimed)) return await mint(context, secret, published?.credentialRevision);
  const message =
    "The password can't be recovered, neither from its Secret nor from what is published; change spec.rotation.id";
  return { credential: refuse("KeyLost", message), writes: [], events: [] };
}

interface AdoptedPassword {
  readonly password: string;
  readonly secretName: string;
  /** True when the spec names the Secret. */
  readonly given?: true;
  /** The rotation that it was made for, if known. */
  readonly rotationId?: string;
  /** It was made here, out of random bytes. */
  readonly generated?: boolean;
  /** The event to record; absent = a person changed the password. */
  readonly event?: CredentialEventReason;
}

/** Uses the password of a Secret; hashes it only when it is not the one that was hashed before. */
async function adoptPassword(context: UserContext, adopted: AdoptedPassword): Promise<UserResolution> {
  const { password, secretName, given, event } = adopted;
  const { user, tools, sealing, known } = context;
  const mac = passwordRevision(password, sealing);
  if (known !== undefined && macOf(known) === mac) return resolutionOf(context, { record: known, secretName });
  const same = await matchingHash(mac, adopted, context);
  if (same === "pending") return { credential: pending, writes: [], events: [] };
  const hashed: Resolved<string> = same === undefined ? await hash(adopted, tools) : { ok: true, value: same.hash };
  if (!hashed.ok) return { credential: hashed, writes: [], events: [] };
  const revision = same?.revision ?? mac;
  const changed: UserRecord = {
    hash: hashed.value,
    revision,
    ...(revision !== mac && { mac }),
    changedAt: same?.changedAt ?? rfc3339(tools.now),
    ...(given && { given }),
  };
  const record = withRotation(changed, user.spec.rotation?.id ?? adopted.rotationId ?? known?.rotationId);
  const credentialEvent = same === undefined ? eventOf(user, event, secretName) : repairedHash(user);
  return resolutionOf(context, { record, secretName, events: [credentialEvent], writes: [hashWrite(context, record)] });
}

type KnownHash = Pick<UserRecord, "hash" | "revision"> & { readonly changedAt?: string };

/**
 * The recorded hash, else the published one, if it is the hash of this password. Its revision may have been made with a lost key of the
 * Project: then argon2 decides, and no session has to end. A password that was made just now has no earlier hash.
 */
async function matchingHash(
  mac: string,
  { password, event }: AdoptedPassword,
  { known, published, tools }: UserContext,
): Promise<KnownHash | "pending" | undefined> {
  const before: KnownHash | undefined =
    known ?? (published && { hash: published.passwordHash, revision: published.credentialRevision });
  if (before === undefined || before.revision === mac) return before;
  const isSame = event === undefined && (await tools.isPasswordOf(before.hash, password));
  if (isSame === undefined) return "pending";
  return isSame ? before : undefined;
}

/** `replaced` = the revision of the password that it replaces. */
async function mint(context: UserContext, secret: Secret | undefined, replaced?: string): Promise<UserResolution> {
  const { user, tools, sealing } = context;
  const password = mintPassword(tools.random);
  const id = user.spec.rotation?.id;
  const after = replaced === undefined ? {} : { after: replaced };
  const mark = markOf({ ...(id !== undefined && { id }), ...after }, password, sealing);
  const write = passwordWrite(user, secret, { password, mark, causeId: JSON.stringify([id, after]) });
  const event = replaced === undefined ? "CredentialMinted" : "CredentialRotated";
  return withWrites(await adoptPassword(context, { password, secretName: write.name, generated: true, event }), [
    write,
  ]);
}

const pending = refuse("CredentialPending", "The password is being hashed; a former one works until then");

async function hash(
  { password, secretName, generated }: AdoptedPassword,
  tools: ResolveTools,
): Promise<Resolved<string>> {
  try {
    const value = await tools.hashPassword(password, generated ? generatedPasswordCost : undefined);
    return value === undefined ? pending : { ok: true, value };
  } catch (error) {
    if (error instanceof PasswordRefused) return refuse("InvalidSecret", `Secret "${secretName}": ${error.message}`);
    throw error;
  }
}

interface ResolvedPassword {
  readonly record: UserRecord;
  readonly secretName: string;
  readonly notices?: readonly Notice[];
  readonly writes?: readonly SecretWrite[];
  readonly events?: readonly CredentialEvent[];
}

function resolutionOf({ user }: UserContext, resolved: ResolvedPassword): UserResolution {
  const { record, secretName, notices = [], writes = [], events = [] } = resolved;
  const value = { passwordHash: record.hash, credentialRevision: record.revision };
  const status = {
    username: usernameOf(user),
    secretName,
    passwordChangedAt: record.changedAt,
    ...(record.rotationId !== undefined && { rotationID: record.rotationId }),
  };
  return { credential: { ok: true, value, notices }, writes, events, status };
}

/** The recorded password stays in use although the Secret no longer holds it. */
function keepRecord({ user }: UserContext, record: UserRecord): ResolvedPassword {
  const secretName = passwordSecretName(user);
  const message = `Secret "${secretName}" no longer holds the password; the login keeps working; change spec.rotation.id for a new one`;
  return { record, secretName, notices: [{ reason: "KeyNotRetrievable", message }] };
}

/** Writes `first` before the rest; `events` say so. */
function withWrites(
  resolution: UserResolution,
  first: readonly SecretWrite[],
  events: readonly CredentialEvent[] = [],
): UserResolution {
  if (first.length === 0 || !resolution.credential.ok) return resolution;
  return { ...resolution, writes: [...first, ...resolution.writes], events: [...events, ...resolution.events] };
}

function rotationWanted(user: ProjectUser, known: string | undefined): boolean {
  const id = user.spec.rotation?.id;
  return id !== undefined && id !== known;
}

/** The rotation of the password in force; without record and status, none is outstanding. */
function rememberedRotation({ user, known }: UserContext): string | undefined {
  if (known !== undefined) return known.rotationId;
  return user.status?.passwordChangedAt === undefined ? user.spec.rotation?.id : user.status.rotationID;
}

function withRotation(record: UserRecord, rotationId: string | undefined): UserRecord {
  return rotationId === undefined ? record : { ...record, rotationId };
}

function repair({ user }: UserContext, secret: Secret | undefined, password: string): readonly SecretWrite[] {
  const right = entryText(secret, "username") === usernameOf(user);
  return right || secret?.immutable === true ? [] : [passwordWrite(user, secret, { password })];
}

interface PasswordContent {
  readonly password: string;
  readonly mark?: Readonly<Record<string, string>>;
  readonly causeId?: string;
}

function passwordWrite(
  user: ProjectUser,
  secret: Secret | undefined,
  { password, ...more }: PasswordContent,
): SecretWrite {
  const content = { name: passwordSecretName(user), type: "kubernetes.io/basic-auth" as const };
  const entries = { username: usernameOf(user), password };
  return writeOf(user, secret, { ...content, entries, ...more });
}

function hashWrite({ user, hashSecret, sealing }: UserContext, record: UserRecord): SecretWrite {
  const causeId = JSON.stringify([macOf(record), record.rotationId]);
  const entries = sealRecord({ ...record }, sealing);
  // Of a new password it is asked in vain, which is nothing beside argon2.
  return writeOf(user, hashSecret, { name: userHashSecretName(user), entries, causeId, isRestored: true });
}

function repairedPassword(user: ProjectUser): CredentialEvent {
  return credentialEvent(user, "SecretRepaired", `Entries of Secret "${passwordSecretName(user)}" were restored`);
}

function repairedHash(user: ProjectUser): CredentialEvent {
  return credentialEvent(user, "SecretRepaired", `Secret "${userHashSecretName(user)}" was recreated`);
}

function eventOf(user: ProjectUser, event: CredentialEventReason | undefined, secretName: string): CredentialEvent {
  switch (event) {
    case "CredentialMinted":
      return credentialEvent(user, event, `Created a password in Secret "${secretName}"`);
    case "CredentialRotated":
      return credentialEvent(user, event, `Secret "${secretName}" holds a new password; former sessions have ended`);
    case "SecretRepaired":
      return repairedHash(user);
    default:
      return credentialEvent(
        user,
        "PasswordAdopted",
        `The password in Secret "${secretName}" is now used; earlier sessions ended`,
      );
  }
}

function missing(message: string, pointer: string): UserResolution {
  return { credential: refuse("SecretNotFound", message, pointer), writes: [], events: [] };
}

function conflicting(message: string): UserResolution {
  return { credential: refuse("SecretConflict", message), writes: [], events: [] };
}
