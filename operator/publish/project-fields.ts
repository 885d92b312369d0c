// What Redis holds of one project, as its only writer remembers it: each field's content hash and
// sealing key, the opened configuration and the revision; and what has to be written so that it
// holds another one. A field that can't be read or opened is left out and written again.

import {
  configKeys,
  credentialsKey,
  isCredentialField,
  keyOfProject,
  projectConfigKey,
} from "../../core/config/config-keys.ts";
import { fieldTexts, type ProjectField, readKey, readProjectField, readUser } from "../../core/config/fields.ts";
import { type Keyring, keyedHash } from "../../core/config/keyring.ts";
import { readEntry, readPublished } from "../../core/config/published-value.ts";
import { open, type SealBinding, SealBroken } from "../../core/config/seal.ts";
import type {
  CompiledProject,
  IssuerConfig,
  KeyConfig,
  ProjectRef,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
  UserConfig,
} from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, optionalText } from "../../core/redis/reply.ts";

export interface PublishedField {
  /** Empty when the field can't be read or opened: it equals nothing. */
  readonly contentHash: string;
  /** Id of the ring key that sealed it; empty when that can't be found out. */
  readonly kid: string;
}

export interface PublishedContent {
  readonly fields: Map<string, PublishedField>;
  /**
   * The revision of the newest step, removals included; 0 when the index of projects does not name
   * it.
   */
  revision: number;
  config: CompiledProject | undefined;
}

export interface ChangedField {
  readonly field: string;
  readonly text: string;
  readonly contentHash: string;
}

export interface Change {
  readonly changed: readonly ChangedField[];
  readonly removed: readonly string[];
  /** True for the step after which all of it is written. */
  readonly last: boolean;
}

export async function readProject(
  redisClient: RedisClient,
  keyring: Keyring,
  ref: ProjectRef,
): Promise<PublishedContent> {
  const { projects } = configKeys;
  const [fields, credentials, entry] = await Promise.all([
    redisClient.read(projectConfigKey(ref), "HGETALL", projectConfigKey(ref)),
    redisClient.read(credentialsKey(ref), "HGETALL", credentialsKey(ref)),
    redisClient.read(projects, "HGET", projects, keyOfProject(ref)),
  ]);
  const texts = [...fieldsOf(fields), ...fieldsOf(credentials)];
  const read = texts.map(([field, text]) => readField(keyring, { ref, field }, text));
  return {
    fields: new Map(read.map(({ field, published }) => [field, published])),
    revision: readEntry(optionalText(entry) ?? "")?.revision ?? 0,
    config: configOf(read),
  };
}

/** The key id of a compact JWE, whose protected header is not encrypted. */
export function kidOf(sealed: string): string {
  const [header = ""] = sealed.split(".", 1);
  const parsed = parseOrUndefined(Buffer.from(header, "base64url").toString()) as { kid?: unknown } | null | undefined;
  // A field without a key id is sealed again.
  return typeof parsed?.kid === "string" ? parsed.kid : "";
}

/**
 * A part of a string that V8 keeps by itself: as a slice it would keep the whole string in memory,
 * here the sealed value.
 */
function unsliced(part: string): string {
  return Buffer.from(part).toString();
}

interface FieldLocation {
  readonly ref: ProjectRef;
  readonly field: string;
}

interface ReadField {
  readonly field: string;
  readonly published: PublishedField;
  /** Undefined when it can't be opened. */
  readonly content: string | undefined;
}

function readField(keyring: Keyring, { ref, field }: FieldLocation, text: string): ReadField {
  const value = readPublished(text);
  if (value === undefined) return { field, published: { contentHash: "", kid: "" }, content: undefined };
  const { revision, sealed } = value;
  const sealedBy = kidOf(sealed);
  // The ring's own string, of which all fields keep one.
  const kid = keyring.keys.find((key) => key.kid === sealedBy)?.kid ?? sealedBy;
  const content = opened(keyring, { namespace: ref.namespace, name: ref.name, field, revision }, sealed);
  // The hash is not sealed: alone it says nothing of what stands beside it.
  const contentHash = content === undefined ? "" : unsliced(value.contentHash);
  return { field, published: { contentHash, kid }, content };
}

function opened(keyring: Keyring, binding: Omit<SealBinding, "uid">, sealed: string): string | undefined {
  try {
    return open(keyring, binding, sealed).text;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

/** Undefined without the project's own field and its ring: the rest is worth nothing then. */
function configOf(read: readonly ReadField[]): CompiledProject | undefined {
  const found: FoundConfig = {
    resources: new Map(),
    rootKeys: new Map(),
    users: new Map(),
    keys: new Map(),
    issuers: new Map(),
  };
  for (const { field, content } of read) if (content !== undefined) put(found, field, content);
  const { project, signing, ...maps } = found;
  return project === undefined || signing === undefined ? undefined : { project, signing, ...maps };
}

interface FoundConfig {
  project?: ProjectSettings;
  signing?: SigningRing;
  readonly resources: Map<string, ResourceConfig>;
  readonly rootKeys: Map<string, RootKeyConfig>;
  readonly users: Map<string, UserConfig>;
  readonly keys: Map<string, KeyConfig>;
  readonly issuers: Map<string, IssuerConfig>;
}

function put(found: FoundConfig, field: string, content: string): void {
  if (isCredentialField(field)) putCredential(found, field, content);
  else putProjectField(found, readProjectField(field, content));
}

function putCredential({ users, keys }: FoundConfig, field: string, content: string): void {
  if (field.startsWith("user:")) {
    const user = readUser(content);
    users.set(user.username, user);
  } else {
    const key = readKey(content);
    keys.set(key.sha256, key);
  }
}

function putProjectField(found: FoundConfig, read: ProjectField | undefined): void {
  switch (read?.kind) {
    case "project":
      found.project = read.value;
      return;
    case "signing":
      found.signing = read.value;
      return;
    case "resource":
      found.resources.set(read.value.name, read.value);
      return;
    case "rootkey":
      found.rootKeys.set(read.value.key, read.value);
      return;
    case "issuer":
      found.issuers.set(read.value.name, read.value);
      return;
    case undefined:
      return;
  }
}

// -------------------------------------------------------------------------- what is to be written

/** Values that one script writes at most: some 200 KiB, a few milliseconds of Redis. */
const fieldsPerStep = 200;

type PublishedFields = ReadonlyMap<string, PublishedField>;

/**
 * In steps of a few milliseconds of Redis each. The first one has all removals: these are
 * revocations.
 */
export function changesOf(config: CompiledProject, keyring: Keyring, published: PublishedContent): readonly Change[] {
  const texts = hashedTexts(config, keyring);
  const present = new Set(texts.map(({ field }) => field));
  const removed = [...published.fields.keys()].filter((field) => !present.has(field));
  const steps = inSteps(
    texts.filter(({ field, contentHash }) => published.fields.get(field)?.contentHash !== contentHash),
    removed,
  );
  // All of it is there, and the index of projects does not name it.
  return steps.length === 0 && published.revision === 0 ? [{ changed: [], removed: [], last: true }] : steps;
}

/** Fields that another key than the ring's first has sealed, whatever their content. */
export function resealsOf(config: CompiledProject, keyring: Keyring, published: PublishedFields): readonly Change[] {
  const [sealing] = keyring.keys;
  const texts = hashedTexts(config, keyring);
  return inSteps(
    texts.filter(({ field }) => published.get(field)?.kid !== sealing.kid),
    [],
  );
}

function hashedTexts(config: CompiledProject, keyring: Keyring): readonly ChangedField[] {
  return [...fieldTexts(config, keyring)].map(([field, text]) => ({
    field,
    text,
    contentHash: keyedHash(keyring, "content", `${config.project.uid}\n${field}\n${text}`),
  }));
}

function inSteps(changed: readonly ChangedField[], removed: readonly string[]): readonly Change[] {
  const steps: Change[] = [];
  for (let at = 0; at < changed.length || (at === 0 && removed.length > 0); at += fieldsPerStep) {
    const end = at + fieldsPerStep;
    steps.push({ changed: changed.slice(at, end), removed: at === 0 ? removed : [], last: end >= changed.length });
  }
  return steps;
}
