// What Redis holds of one project, as its only writer remembers it: each field's content hash, revision and sealing key, and
// the parts, opened. A field that can't be read or opened counts as absent from the parts and is written anew.

import { credentialsKey, isCredentialField, projectKey } from "../../core/config/config-keys.ts";
import { type ProjectField, readKey, readProjectField, readUser } from "../../core/config/fields.ts";
import type { Keyring } from "../../core/config/keyring.ts";
import { readPublished } from "../../core/config/published-value.ts";
import { open, SealBroken } from "../../core/config/seal.ts";
import type {
  KeyConfig,
  ProjectConfig,
  ProjectParts,
  ProjectRef,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
  UserConfig,
} from "../../core/config/types.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf } from "../../core/redis/reply.ts";

export interface KnownField {
  /** Empty when the field can't be read: it equals nothing. */
  readonly contentHash: string;
  readonly revision: number;
  /** Id of the ring key that sealed it; empty when that can't be told. */
  readonly kid: string;
}

export interface KnownProject {
  readonly fields: Map<string, KnownField>;
  parts: ProjectParts | undefined;
}

export async function readProject(gateway: Gateway, keyring: Keyring, ref: ProjectRef): Promise<KnownProject> {
  const [fields, credentials] = await Promise.all([
    gateway.read(projectKey(ref), "HGETALL", projectKey(ref)),
    gateway.read(credentialsKey(ref), "HGETALL", credentialsKey(ref)),
  ]);
  const texts = [...fieldsOf(fields), ...fieldsOf(credentials)];
  const known = new Map(texts.map(([field, text]) => [field, knownField(text)]));
  const opened = await Promise.all(
    texts.map(async ([field, text]) => ({ field, content: await openField(keyring, { ref, field }, text) })),
  );
  return { fields: known, parts: partsOf(opened) };
}

export function newestRevision({ fields }: KnownProject): number {
  let newest = 0;
  for (const { revision } of fields.values()) newest = Math.max(newest, revision);
  return newest;
}

/** Of a compact JWE: its protected header is plain to read. */
export function kidOf(sealed: string): string {
  const [header = ""] = sealed.split(".", 1);
  try {
    const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid?: unknown };
    return typeof kid === "string" ? kid : "";
  } catch {
    // Whatever stands there is written anew.
    return "";
  }
}

function knownField(text: string): KnownField {
  const value = readPublished(text);
  if (value === undefined) return { contentHash: "", revision: 0, kid: "" };
  return { contentHash: value.contentHash, revision: value.revision, kid: kidOf(value.sealed) };
}

interface Place {
  readonly ref: ProjectRef;
  readonly field: string;
}

async function openField(keyring: Keyring, { ref, field }: Place, text: string): Promise<string | undefined> {
  const value = readPublished(text);
  if (value === undefined) return undefined;
  const place = { namespace: ref.namespace, name: ref.name, field, revision: value.revision };
  try {
    return (await open(keyring, place, value.sealed)).text;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

interface OpenedField {
  readonly field: string;
  readonly content: string | undefined;
}

/** Undefined without the project's own field and its ring: the rest is worth nothing then. */
function partsOf(opened: readonly OpenedField[]): ProjectParts | undefined {
  const found: FoundParts = { resources: new Map(), rootKeys: new Map(), users: new Map(), keys: new Map() };
  for (const { field, content } of opened) if (content !== undefined) put(found, field, content);
  const { project, signing, ...maps } = found;
  return project === undefined || signing === undefined ? undefined : { project, signing, ...maps };
}

interface FoundParts {
  project?: ProjectConfig;
  signing?: SigningRing;
  readonly resources: Map<string, ResourceConfig>;
  readonly rootKeys: Map<string, RootKeyConfig>;
  readonly users: Map<string, UserConfig>;
  readonly keys: Map<string, KeyConfig>;
}

function put(found: FoundParts, field: string, content: string): void {
  if (isCredentialField(field)) putCredential(found, field, content);
  else putProjectField(found, readProjectField(field, content));
}

function putCredential({ users, keys }: FoundParts, field: string, content: string): void {
  if (field.startsWith("user:")) {
    const user = readUser(content);
    users.set(user.username, user);
  } else {
    const key = readKey(content);
    keys.set(key.sha256, key);
  }
}

function putProjectField(found: FoundParts, read: ProjectField | undefined): void {
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
    case undefined:
      return;
  }
}
