// Builds projects as `compile` would leave them, from sentences: project("bookshop",
// withUser("alice"), withKey("ci")). Hashes and signing keys are real, only cheap, so that
// authentication runs as it does in production.

import { argon2Sync, createHash, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import type {
  Access,
  ChangeLogConfig,
  CompiledProject,
  ExpiryConfig,
  IndexField,
  JsonObject,
  OperationAccess,
  ProjectSettings,
  ResourceConfig,
  Role,
  RootKeyConfig,
  Scope,
  SigningKey,
  UniqueRule,
  UserConfig,
} from "../../../core/config/types.ts";
import { generatedPasswordCost, type PasswordCost } from "../../../core/password/hash-password.ts";

export type Modifier = (parts: CompiledProject) => CompiledProject;

export function project(name: string, ...modifiers: readonly Modifier[]): CompiledProject {
  const bare: CompiledProject = {
    project: {
      namespace: "default",
      name,
      uid: randomUUID(),
      authentication: "Enabled",
      serving: "ReadWrite",
      hosts: [],
      sessions: { accessTokenSeconds: 300, refreshTokenSeconds: 72 * 3600, maxPerUser: 100, maxPerProject: 10_000 },
      limits: {
        maxBodyBytes: 1 << 20,
        maxDocumentBytes: 1 << 20,
        maxPageSize: 100,
        anonymousWritesPerMinute: 600,
      },
      cors: { allowedOrigins: ["*"], maxAgeSeconds: 600 },
      openapi: "Authenticated",
      console: "Nobody",
    },
    signing: { keys: [signingKey()] },
    resources: new Map(),
    rootKeys: new Map(),
    users: new Map(),
    keys: new Map(),
    issuers: new Map(),
  };
  return changed(bare, ...modifiers);
}

/**
 * The same project with more modifiers applied; everything else, ring and UID included, stays the
 * same object.
 */
export function changed(parts: CompiledProject, ...modifiers: readonly Modifier[]): CompiledProject {
  return modifiers.reduce((built, modify) => modify(built), parts);
}

/**
 * Any member of the project's own config: namespace, uid, hosts, serving, authentication, sessions
 * …
 */
export function withConfig(config: Partial<ProjectSettings>): Modifier {
  return (parts) => ({ ...parts, project: { ...parts.project, ...config } });
}

export function inNamespace(namespace: string): Modifier {
  return withConfig({ namespace });
}

export function withHosts(...hosts: readonly string[]): Modifier {
  return withConfig({ hosts });
}

export function withAuthenticationDisabled(): Modifier {
  return withConfig({ authentication: "Disabled" });
}

export function withServing(serving: ProjectSettings["serving"]): Modifier {
  return withConfig({ serving });
}

export function withLimits(limits: Partial<ProjectSettings["limits"]>): Modifier {
  return (parts) => withConfig({ limits: { ...parts.project.limits, ...limits } })(parts);
}

export function withSessions(sessions: Partial<ProjectSettings["sessions"]>): Modifier {
  return (parts) => withConfig({ sessions: { ...parts.project.sessions, ...sessions } })(parts);
}

// --------------------------------------------------------------------------------------------
// credentials

export interface UserOptions {
  /** Its password was made by the operator, and is hashed as such. */
  readonly generated?: boolean;
  readonly password?: string;
  readonly role?: Role;
  readonly access?: Access;
  /** By default a hash of the password, so that another password is another revision. */
  readonly credentialRevision?: string;
}

/** A user of role Users with Write; the password is `passwordOf(username)` unless given. */
export function withUser(username: string, options: UserOptions = {}): Modifier {
  const password = options.password ?? passwordOf(username);
  const user: UserConfig = {
    username,
    uid: `uid-of-user-${username}`,
    role: options.role ?? "Users",
    access: options.access ?? "Write",
    passwordHash: cheapHash(password, options.generated === true ? generatedPasswordCost : cheapCost),
    credentialRevision: options.credentialRevision ?? sha256(password).slice(0, 16),
  };
  return (parts) => ({ ...parts, users: new Map(parts.users).set(username, user) });
}

export function withoutUser(username: string): Modifier {
  return (parts) => ({ ...parts, users: new Map([...parts.users].filter(([name]) => name !== username)) });
}

export interface KeyOptions {
  /** The key as a client sends it; `keyOf(name)` unless given. */
  readonly key?: string;
  readonly description?: string;
  readonly role?: Role;
  readonly access?: Access;
  readonly expiresAt?: number;
}

/** An API key of role Users with Write. */
export function withKey(name: string, options: KeyOptions = {}): Modifier {
  const hash = sha256(options.key ?? keyOf(name));
  return (parts) => ({
    ...parts,
    keys: new Map(parts.keys).set(hash, {
      name,
      uid: `uid-of-key-${name}`,
      description: options.description ?? `Key of ${name}`,
      role: options.role ?? "Users",
      access: options.access ?? "Write",
      sha256: hash,
      ...(options.expiresAt === undefined ? {} : { expiresAt: options.expiresAt }),
    }),
  });
}

export function withoutKey(name: string): Modifier {
  return (parts) => ({ ...parts, keys: new Map([...parts.keys].filter(([, key]) => key.name !== name)) });
}

/** Replaces the ring: the first of the keys that `signs` signs, all verify. */
export function withSigningKeys(...keys: readonly SigningKey[]): Modifier {
  return (parts) => ({ ...parts, signing: { keys } });
}

/** A fresh Ed25519 key with a `kid` of its own. */
export function signingKey(options: { readonly kid?: string; readonly signs?: boolean } = {}): SigningKey {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  if (jwk.x === undefined || jwk.d === undefined) throw new Error("An Ed25519 key has x and d");
  return { kid: options.kid ?? randomUUID(), signs: options.signs ?? true, x: jwk.x, d: jwk.d };
}

export function passwordOf(username: string): string {
  return `password of ${username}: s3cret`;
}

export function keyOf(name: string): string {
  return `jp_${sha256(name).slice(0, 43)}`;
}

/** `Authorization` of a login. */
export function basic(username: string, password: string = passwordOf(username)): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

export function apikey(name: string): string {
  return `apikey ${keyOf(name)}`;
}

export function bearer(token: string): string {
  return `bearer ${token}`;
}

// --------------------------------------------------------------------------------------------
// resources, root keys

export interface ResourceOptions {
  readonly schema?: JsonObject;
  readonly nextSchema?: JsonObject;
  /** Whether writes have to meet it, by default true. */
  readonly binds?: boolean;
  readonly migration?: readonly JsonObject[];
  /** A string stands for a top-level field, or for two with a comma between them. */
  readonly indexes?: readonly (string | IndexField)[];
  readonly access?: Partial<OperationAccess>;
  readonly scope?: { readonly read?: Scope; readonly write?: Scope };
  readonly defaults?: "Apply";
  readonly updates?: "Ratchet";
  readonly changes?: ChangeLogConfig;
  readonly expiry?: ExpiryConfig;
  readonly maxObjects?: number;
  readonly unique?: readonly UniqueRule[];
}

/** A resource that takes any object, with Authenticated operations and scope Own. */
export function withResource(name: string, options: ResourceOptions = {}): Modifier {
  const resource: ResourceConfig = {
    name,
    uid: `uid-of-resource-${name}`,
    schema: options.schema ?? { type: "object" },
    ...(options.nextSchema && { nextSchema: options.nextSchema }),
    ...(options.nextSchema && options.binds !== false && { nextSchemaBinds: true }),
    ...(options.migration && { migration: options.migration }),
    indexes: (options.indexes ?? []).map((field) => (typeof field === "string" ? topLevelIndex(field) : field)),
    access: {
      create: "Authenticated",
      read: "Authenticated",
      update: "Authenticated",
      delete: "Authenticated",
      ...options.access,
    },
    scope: { read: "Own", write: "Own", ...options.scope },
    maxObjects: options.maxObjects ?? 1_000_000,
    ...(options.updates && { updates: options.updates }),
    ...(options.defaults && { defaults: options.defaults }),
    ...(options.changes && { changes: options.changes }),
    ...(options.unique && { unique: options.unique }),
    ...(options.expiry && { expiry: options.expiry }),
  };
  return (parts) => ({ ...parts, resources: new Map(parts.resources).set(name, resource) });
}

function topLevelIndex(name: string): IndexField {
  const [first = "", second] = name.split(",");
  if (second === undefined) return { name, path: [name] };
  const parts = [
    { name: first, path: [first] },
    { name: second, path: [second] },
  ] as const;
  return { name, path: [first], parts };
}

export interface RootKeyOptions {
  /** JSON text. */
  readonly initialValue?: string;
  readonly access?: Partial<OperationAccess>;
  readonly changes?: ChangeLogConfig;
}

export function withRootKey(key: string, options: RootKeyOptions = {}): Modifier {
  const rootKey: RootKeyConfig = {
    key,
    uid: `uid-of-rootkey-${key}`,
    initialValue: options.initialValue ?? "{}",
    access: {
      create: "Authenticated",
      read: "Anyone",
      update: "Authenticated",
      delete: "Authenticated",
      ...options.access,
    },
    ...(options.changes && { changes: options.changes }),
  };
  return (parts) => ({ ...parts, rootKeys: new Map(parts.rootKeys).set(key, rootKey) });
}

// --------------------------------------------------------------------------------------------
// hashes

/**
 * Of the builders' hashes of chosen passwords; a data plane over them is given it too, so that
 * unknown users cost no more than known ones.
 */
export const cheapCost: PasswordCost = Object.freeze({ memoryKiB: 96, passes: 1, parallelism: 1 });

/** A real argon2id string that takes a third of a millisecond to make and to verify. */
function cheapHash(password: string, { memoryKiB, passes, parallelism }: PasswordCost): string {
  const salt = randomBytes(16);
  const tag = argon2Sync("argon2id", {
    message: password,
    nonce: salt,
    parallelism,
    tagLength: 32,
    memory: memoryKiB,
    passes,
  });
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
