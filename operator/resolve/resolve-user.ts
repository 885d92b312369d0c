// Turns a ProjectUser and its Secrets into the hash to publish: the password comes from the Secret that the spec names, or
// is generated once. argon2 runs only when the password has changed. Refuses missing and foreign Secrets.

import type { UserConfig } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { PasswordRefused } from "../../core/password/hash-password.ts";
import { usernameOf } from "../claimed-name.ts";
import type { PasswordCredential, Resolved } from "../credentials.ts";
import type { ProjectUser } from "../objects.ts";
import { isOwn, passwordSecretName, userHashSecretName } from "../secret-names.ts";
import { type Notice, refuse } from "../verdict.ts";
import { mintPassword } from "./mint.ts";
import { type Resolution, type ResolveTools, rfc3339 } from "./resolution.ts";
import { sealRecord } from "./sealed-record.ts";
import { entryText, type SecretWrite, writeOf } from "./secret-write.ts";
import { passwordRevision, readUserRecord, type UserRecord } from "./user-record.ts";

export interface UserStatus {
  readonly username: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly passwordChangedAt: string;
}

interface Situation {
  readonly user: ProjectUser;
  readonly tools: ResolveTools;
  readonly hashSecret: Secret | undefined;
  readonly known: UserRecord | undefined;
}

type UserResolution = Resolution<PasswordCredential, UserStatus>;

/** `published` = what is live of this user now; the last resort when its Secrets are gone. */
export async function resolveUser(
  user: ProjectUser,
  published: UserConfig | undefined,
  tools: ResolveTools,
): Promise<UserResolution> {
  const hashSecret = tools.findSecret(userHashSecretName(user));
  if (hashSecret !== undefined && !isOwn(hashSecret, user)) return conflict(hashSecret);
  const known = readUserRecord(hashSecret, { key: tools.projectKey, owner: user });
  const situation: Situation = { user, tools, hashSecret, known };
  const reference = user.spec.passwordSecretRef;
  return reference === undefined ? await generated(situation, published) : await referenced(situation, reference);
}

async function referenced(
  situation: Situation,
  { name, key }: { readonly name: string; readonly key: string },
): Promise<UserResolution> {
  const secret = situation.tools.findSecret(name);
  if (secret === undefined) return missing(`Namespace "${situation.user.metadata.namespace}" has no Secret "${name}"`);
  const password = entryText(secret, key);
  if (password === undefined) return missing(`Secret "${name}" has no entry "${key}", or an empty one`);
  return await adopt(situation, password, name);
}

async function generated(situation: Situation, published: UserConfig | undefined): Promise<UserResolution> {
  const { user, tools, known } = situation;
  const name = passwordSecretName(user);
  const secret = tools.findSecret(name);
  if (secret !== undefined && !isOwn(secret, user)) return conflict(secret);
  if (known !== undefined && rotationWanted(user, known.rotationId)) return await mint(situation, secret);

  const password = entryText(secret, "password");
  if (password !== undefined) {
    const repaired = repair(situation, secret, password);
    const resolution = await adopt(situation, password, name);
    return { ...resolution, writes: [...repaired, ...resolution.writes] };
  }
  const notices = [goesOnWorking(name)];
  if (known !== undefined) return answer(situation, { record: known, secretName: name, notices });
  if (published !== undefined) {
    const { passwordHash: hash, credentialRevision: revision } = published;
    const record = withRotation(user, { hash, revision, changedAt: rfc3339(tools.now) });
    return answer(situation, { record, secretName: name, notices, writes: [hashWrite(situation, record)] });
  }
  if (user.status?.passwordChangedAt === undefined || rotationWanted(user, user.status.rotationID)) {
    return await mint(situation, secret);
  }
  const message =
    "The password can't be recovered, neither from its Secret nor from what is published; change spec.rotation.id";
  return { credential: refuse("KeyLost", message), writes: [] };
}

/** Uses a password as it stands in a Secret; hashes it only when it is not the one that was hashed before. */
async function adopt(situation: Situation, password: string, secretName: string): Promise<UserResolution> {
  const { user, tools, known } = situation;
  const revision = passwordRevision(password, { key: tools.projectKey, owner: user });
  if (known !== undefined && known.revision === revision) return answer(situation, { record: known, secretName });
  const hashed = await hash(password, secretName, tools);
  if (!hashed.ok) return { credential: hashed, writes: [] };
  const record = withRotation(user, { hash: hashed.value, revision, changedAt: rfc3339(tools.now) });
  return answer(situation, { record, secretName, writes: [hashWrite(situation, record)] });
}

async function mint(situation: Situation, secret: Secret | undefined): Promise<UserResolution> {
  const password = mintPassword(situation.tools.random);
  const write = passwordWrite(situation.user, secret, password);
  // The record of the former password is out of date, whatever it says.
  const resolution = await adopt({ ...situation, known: undefined }, password, write.name);
  return { ...resolution, writes: [write, ...resolution.writes] };
}

async function hash(password: string, secretName: string, tools: ResolveTools): Promise<Resolved<string>> {
  try {
    return { ok: true, value: await tools.hashPassword(password) };
  } catch (error) {
    if (error instanceof PasswordRefused) return refuse("SecretNotFound", `Secret "${secretName}": ${error.message}`);
    throw error;
  }
}

interface Settled {
  readonly record: UserRecord;
  readonly secretName: string;
  readonly notices?: readonly Notice[];
  readonly writes?: readonly SecretWrite[];
}

function answer({ user }: Situation, { record, secretName, notices = [], writes = [] }: Settled): UserResolution {
  const value = { passwordHash: record.hash, credentialRevision: record.revision };
  const status = {
    username: usernameOf(user),
    secretName,
    passwordChangedAt: record.changedAt,
    ...(record.rotationId !== undefined && { rotationID: record.rotationId }),
  };
  return { credential: { ok: true, value, notices }, writes, status };
}

function rotationWanted(user: ProjectUser, known: string | undefined): boolean {
  const id = user.spec.rotation?.id;
  return id !== undefined && id !== known;
}

function withRotation(user: ProjectUser, record: UserRecord): UserRecord {
  return user.spec.rotation === undefined ? record : { ...record, rotationId: user.spec.rotation.id };
}

function repair({ user }: Situation, secret: Secret | undefined, password: string): readonly SecretWrite[] {
  return entryText(secret, "username") === usernameOf(user) ? [] : [passwordWrite(user, secret, password)];
}

function passwordWrite(user: ProjectUser, secret: Secret | undefined, password: string): SecretWrite {
  const entries = { username: usernameOf(user), password };
  return writeOf(user, secret, { name: passwordSecretName(user), type: "kubernetes.io/basic-auth", entries });
}

function hashWrite({ user, tools, hashSecret }: Situation, record: UserRecord): SecretWrite {
  const entries = sealRecord({ ...record }, { key: tools.projectKey, owner: user });
  return writeOf(user, hashSecret, { name: userHashSecretName(user), entries });
}

function goesOnWorking(secretName: string): Notice {
  const message = `Secret "${secretName}" no longer holds the password; the login goes on working; change spec.rotation.id for a new one`;
  return { reason: "KeyNotRetrievable", message };
}

function missing(message: string): UserResolution {
  return { credential: refuse("SecretNotFound", message), writes: [] };
}

function conflict(secret: Secret): UserResolution {
  const message = `Secret "${secret.metadata.name}" was not made for this ProjectUser; delete it, or rename the ProjectUser`;
  return { credential: refuse("SecretConflict", message), writes: [] };
}
