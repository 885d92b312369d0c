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
// A Secret that has the name of an own one is refused with SecretConflict unless it is proved to be this user's, see usable-secret.ts.
// A password whose hash comes later is refused with CredentialPending until then: what was served of the user before goes on being served.

import type { UserConfig } from "../../core/config/types.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { generatedPasswordCost, PasswordRefused } from "../../core/password/hash-password.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { PasswordCredential, Resolved } from "../model/credentials.ts";
import { usernameOf } from "../model/kinds.ts";
import type { ProjectUser } from "../model/objects.ts";
import { isInternalEntry, passwordSecretName, userHashSecretName } from "../model/secret-names.ts";
import { type Notice, refuse } from "../model/verdict.ts";
import { type CredentialEvent, type CredentialEventReason, credentialEvent } from "./credential-event.ts";
import { mintPassword } from "./mint.ts";
import type { Resolution, ResolveTools } from "./resolution.ts";
import { isMarkedFor, markOf, type RotationMark, readMark } from "./rotation-mark.ts";
import { type Sealing, sameText } from "./secret-seal.ts";
import { type SecretWrite, writeOf } from "./secret-write.ts";
import { notProved, rewritten, sealingOf, type UsableSecret, type UseContext, usableSecret } from "./usable-secret.ts";
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
  readonly use: UseContext;
  readonly hashSecret: UsableSecret;
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
  const sealing = sealingOf(user, tools);
  const use: UseContext = { sealing, tools, isPublished: published !== undefined };
  const found = usableSecret(userHashSecretName(user), use);
  if (!found.ok) return unresolved(found);
  const hashSecret = found.value;
  const record = readUserRecord(hashSecret.content);
  const known = hashSecret.origin === "unproved" && !isOfPublished(record, published) ? undefined : record;
  const context: UserContext = { user, tools, sealing, use, hashSecret, known, published };
  const reference = user.spec.passwordSecretRef;
  return reference === undefined ? await fromOwnSecret(context) : await fromReferencedSecret(context, reference);
}

/** Of a Secret that nothing proves: its rotation and its time may be taken, too, for they let nobody in. */
function isOfPublished(record: UserRecord | undefined, published: UserConfig | undefined): boolean {
  if (record === undefined || published === undefined) return false;
  return sameText(record.hash, published.passwordHash) && record.revision === published.credentialRevision;
}

async function fromReferencedSecret(
  context: UserContext,
  { name, key }: { readonly name: string; readonly key: string },
): Promise<UserResolution> {
  const secret = context.tools.findSecret(name);
  if (secret === undefined) {
    const { namespace } = context.user.metadata;
    const message = `Namespace "${namespace}" has no Secret "${name}": create it, with the password in the entry "${key}"`;
    return unresolved(refuse("SecretNotFound", message, "/spec/passwordSecretRef/name"));
  }
  // It changes with each password that is adopted, and would be adopted again for ever.
  if (isInternalEntry(secret, key)) {
    const message = `Secret "${name}" is what jsonplane keeps for itself; name a Secret of your own, with the password`;
    return unresolved(refuse("InvalidSecret", message, "/spec/passwordSecretRef/name"));
  }
  const password = entryText(secret, key);
  if (password === undefined) {
    const message = `Secret "${name}" has no entry "${key}", or an empty one`;
    return unresolved(refuse("SecretNotFound", message, "/spec/passwordSecretRef/key"));
  }
  return await adoptPassword(context, { password, secretName: name, given: true });
}

async function fromOwnSecret(context: UserContext): Promise<UserResolution> {
  const { user, known } = context;
  const secret = usableSecret(passwordSecretName(user), context.use);
  if (!secret.ok) return unresolved(secret);
  const password = entryText(secret.value.content, "password");
  if (password !== undefined) return await fromSecret(context, secret.value, password);
  // The password from a Secret that the spec names no more stays in use until a new one is made.
  if (known !== undefined && (rotationWanted(user, known.rotationId) || known.given === true)) {
    return await mint(context, secret.value, known.revision);
  }
  if (known === undefined) return await fromPublished(context, secret.value);
  return resolutionOf(context, { ...keepRecord(context, known), ...resealed(context, known) });
}

/** The Secret has a password: that of an interrupted rotation, the one in use, or one that was written by hand. */
async function fromSecret(context: UserContext, secret: UsableSecret, password: string): Promise<UserResolution> {
  const { user, sealing, known, tools } = context;
  const secretName = passwordSecretName(user);
  const mac = passwordRevision(password, user, tools.projectKey);
  if (secret.origin === "unproved" && (await matchingHash(mac, { password }, context)) === undefined) {
    const { published, use } = context;
    const isWanted = rotationWanted(user, rememberedRotation(context));
    if (isWanted) return await mint(context, secret, known?.revision ?? published?.credentialRevision);
    const message = notProved(secretName, user, { ...tools, isPublished: use.isPublished });
    return unresolved(refuse("SecretConflict", message));
  }
  const mark = readMark(secret.content, password, sealing);
  const generated = mark !== undefined;
  const lost = known === undefined ? mark : undefined;
  const lastRotation = lost === undefined ? rememberedRotation(context) : lost.id;
  const writes = repair(context, secret, password);
  if (!rotationWanted(user, lastRotation)) {
    const rotated = lastRotation === undefined ? {} : { rotationId: lastRotation };
    const event = eventOfUnchanged(context, secret, lost);
    const resolution = await adoptPassword(context, { password, secretName, generated, ...rotated, ...event });
    return withWrites(resolution, writes, rewritten(user, writes, [secret.origin]));
  }
  const replaced = known?.revision ?? mac;
  if (!isMarkedFor(mark, user.spec.rotation?.id, replaced)) return await mint(context, secret, replaced);
  const resolution = await adoptPassword(context, { password, secretName, generated, event: "CredentialRotated" });
  return withWrites(resolution, writes);
}

/** Of a password that nobody edited, as far as is known. */
function eventOfUnchanged(
  { published }: UserContext,
  secret: UsableSecret,
  lost: RotationMark | undefined,
): Pick<AdoptedPassword, "event"> {
  if (secret.origin === "restored") return { event: "CredentialRestored" };
  // A password that was made here and is published nowhere was not edited: only its record was lost.
  return lost !== undefined && published === undefined ? { event: "SecretRepaired" } : {};
}

/** There is neither a Secret with the password nor a readable record of it. */
async function fromPublished(context: UserContext, secret: UsableSecret): Promise<UserResolution> {
  const { user, published, tools } = context;
  const lastRotation = rememberedRotation(context);
  if (published !== undefined && !rotationWanted(user, lastRotation)) {
    const { passwordHash: hash, credentialRevision: revision } = published;
    const record = withRotation({ hash, revision, changedAt: rfc3339(tools.now) }, lastRotation);
    return resolutionOf(context, { ...keepRecord(context, record), ...rewrittenHash(context, record) });
  }
  const everMade = user.status?.passwordChangedAt !== undefined;
  if (!everMade || rotationWanted(user, user.status?.rotationID)) {
    return await mint(context, secret, published?.credentialRevision);
  }
  const message =
    "The password can't be recovered, neither from its Secret nor from what is published; change spec.rotation.id";
  return unresolved(refuse("KeyLost", message));
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
  const { user, tools, known } = context;
  const mac = passwordRevision(password, user, tools.projectKey);
  if (known !== undefined && macOf(known) === mac) {
    return resolutionOf(context, { record: known, secretName, ...resealed(context, known) });
  }
  const same = await matchingHash(mac, adopted, context);
  if (same === "pending") return unresolved(pending);
  const hashed: Resolved<string> = same === undefined ? await hash(adopted, tools) : { ok: true, value: same.hash };
  if (!hashed.ok) return unresolved(hashed);
  const revision = same?.revision ?? mac;
  const changed: UserRecord = {
    hash: hashed.value,
    revision,
    ...(revision !== mac && { mac }),
    changedAt: same?.changedAt ?? rfc3339(tools.now),
    ...(given && { given }),
  };
  const record = withRotation(changed, user.spec.rotation?.id ?? adopted.rotationId ?? known?.rotationId);
  const { writes, events } = rewrittenHash(context, record);
  const news = same === undefined ? [eventOf(user, event, secretName)] : events;
  return resolutionOf(context, { record, secretName, events: news, writes });
}

/** The hash Secret with what is in use already. */
function rewrittenHash(context: UserContext, record: UserRecord): Pick<UserResolution, "writes" | "events"> {
  const writes = [hashWrite(context, record)];
  return { writes, events: rewritten(context.user, writes, [context.hashSecret.origin]) };
}

function resealed(context: UserContext, known: UserRecord): Partial<Pick<UserResolution, "writes" | "events">> {
  const { found, isMarked } = context.hashSecret;
  return isMarked || found?.immutable === true ? {} : rewrittenHash(context, known);
}

type KnownHash = Pick<UserRecord, "hash" | "revision"> & { readonly changedAt?: string | undefined };

/**
 * The recorded hash, else the published one, if it is the hash of this password. Its revision tells, unless it may have been made with a lost key of
 * the Project: then argon2 decides, and no session has to end. A password that was made just now has no earlier hash.
 */
async function matchingHash(
  mac: string,
  { password, event }: Pick<AdoptedPassword, "password" | "event">,
  { user, hashSecret, known, published, tools }: UserContext,
): Promise<KnownHash | "pending" | undefined> {
  const before: KnownHash | undefined =
    known ?? (published && { hash: published.passwordHash, revision: published.credentialRevision });
  if (before === undefined) return undefined;
  const isMade = event === "CredentialMinted" || event === "CredentialRotated";
  const isComparable = known !== undefined && hashSecret.origin === "own" && tools.isProjectKeyWritten !== true;
  const isSame =
    before.revision === mac || (!isMade && (await tools.isPasswordOf(before.hash, password, !isComparable)));
  if (isSame === undefined) return "pending";
  return isSame ? { changedAt: user.status?.passwordChangedAt, ...before } : undefined;
}

/** `replaced` = the revision of the password that it replaces. */
async function mint(context: UserContext, secret: UsableSecret, replaced?: string): Promise<UserResolution> {
  const { user, tools, sealing } = context;
  const password = mintPassword(tools.random);
  const id = user.spec.rotation?.id;
  const after = replaced === undefined ? {} : { after: replaced };
  const mark = markOf({ ...(id !== undefined && { id }), ...after }, password, sealing);
  const write = passwordWrite(context, secret, { password, mark, causeId: JSON.stringify([id, after]) });
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

function repair(context: UserContext, secret: UsableSecret, password: string): readonly SecretWrite[] {
  const isRight = secret.isMarked && entryText(secret.content, "username") === usernameOf(context.user);
  return isRight || secret.found?.immutable === true ? [] : [passwordWrite(context, secret, { password })];
}

interface PasswordContent {
  readonly password: string;
  readonly mark?: Readonly<Record<string, string>>;
  readonly causeId?: string;
}

function passwordWrite(
  { user, sealing }: UserContext,
  { found }: UsableSecret,
  { password, ...more }: PasswordContent,
): SecretWrite {
  const content = { name: passwordSecretName(user), type: "kubernetes.io/basic-auth" as const };
  const entries = { username: usernameOf(user), password };
  return writeOf(sealing, found, { ...content, entries, ...more });
}

function hashWrite({ user, hashSecret, sealing }: UserContext, record: UserRecord): SecretWrite {
  const causeId = JSON.stringify([macOf(record), record.rotationId]);
  const entries = { record: JSON.stringify(record) };
  return writeOf(sealing, hashSecret.found, { name: userHashSecretName(user), entries, causeId });
}

function eventOf(user: ProjectUser, event: CredentialEventReason | undefined, secretName: string): CredentialEvent {
  switch (event) {
    case "CredentialMinted":
      return credentialEvent(user, event, `Created a password in Secret "${secretName}"`);
    case "CredentialRotated":
      return credentialEvent(user, event, `Secret "${secretName}" holds a new password; former sessions have ended`);
    case "CredentialRestored":
      return credentialEvent(user, event, `Took over the password in Secret "${secretName}"`);
    case "SecretRepaired":
      return credentialEvent(user, event, `Wrote Secret "${userHashSecretName(user)}" again`);
    default:
      return credentialEvent(
        user,
        "PasswordAdopted",
        `The password in Secret "${secretName}" is now used; earlier sessions ended`,
      );
  }
}

function unresolved(credential: ReturnType<typeof refuse>): UserResolution {
  return { credential, writes: [], events: [] };
}
