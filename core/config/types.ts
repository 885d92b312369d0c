// What `compile` makes from custom resources and the data plane serves: one project, in fields that
// are published, sealed and replaced separately. All of it is plain JSON.

import type { SignatureAlgorithm } from "../issuers/algorithms.ts";

/** A JSON value in JavaScript. Numbers are doubles, so stored documents travel as text instead. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

export type Role = "Users" | "Administrators";
export type Access = "Read" | "Write";
/** Who may do an operation; `Authenticated` and `Administrators` also need the caller's Access. */
export type Permission = "Anyone" | "Authenticated" | "Administrators" | "Nobody";
/** Who may read `/openapi.json` and `/docs`, and who may use `/console`. */
export type DescriptionPermission = "Anyone" | "Authenticated" | "Nobody";
export type Operation = "create" | "read" | "update" | "delete";
export type OperationAccess = { readonly [operation in Operation]: Permission };
/** What role Users reaches: objects they made, or every object. Administrators reach all. */
export type Scope = "Own" | "All";

/** A project's address, and the key of its stored data: stable over re-creation of the Project. */
export interface ProjectRef {
  readonly namespace: string;
  readonly name: string;
}

/** Limits of a whole project; an absent figure means no limit. */
export interface ProjectQuota {
  /** Stored objects of all its resources. */
  readonly objects?: number;
  /** UTF-8 bytes of its stored JSON: objects and root keys' values. */
  readonly bytes?: number;
  /** Members of the top level of all its root keys' values. */
  readonly documentKeys?: number;
}

/** Requests that may come: so many a second for long, and so many at once after a pause. */
export interface Rate {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

export interface ProjectRates {
  /** For all callers together. */
  readonly project?: Rate;
  /** For each user, ApiKey, and client address without a credential. */
  readonly caller?: Rate;
}

export interface ProjectLimits {
  /** Bytes of a request body, 1 MiB by default. */
  readonly maxBodyBytes: number;
  /**
   * Bytes of one object without `id` and `_metadata`; absent = the larger of 1 MiB and
   * `maxBodyBytes`.
   */
  readonly maxObjectBytes?: number;
  /** Bytes of one root key's value, 1 MiB by default, 8 MiB at most. */
  readonly maxDocumentBytes: number;
  /** Largest `_limit`, 100 by default, 1,000 at most. */
  readonly maxPageSize: number;
  /**
   * Anonymous writes per client address and minute while authentication is Enabled, 600 by default.
   */
  readonly anonymousWritesPerMinute: number;
  /** Absent = none: such a project pays nothing for quotas. */
  readonly quota?: ProjectQuota;
  /** Absent = requests are not counted. */
  readonly rate?: ProjectRates;
}

export interface CorsConfig {
  /** `["*"]` = any origin (the default); an empty list switches CORS off. */
  readonly allowedOrigins: readonly string[];
  /** Names of request headers that are allowed in addition to the usual ones; `*` = any. */
  readonly allowHeaders?: readonly string[];
  readonly maxAgeSeconds: number;
}

/** How many live sessions there may be. */
export interface SessionBounds {
  /** 1,000 at most. The one refreshed least recently goes for another. */
  readonly maxPerUser: number;
  /** Further logins are refused. */
  readonly maxPerProject: number;
}

export interface SessionSettings extends SessionBounds {
  readonly accessTokenSeconds: number;
  readonly refreshTokenSeconds: number;
}

/** What a write waits for: `Replicated` = one Redis replica has it. */
export type Durability = "Replicated";

export interface ProjectSettings extends ProjectRef {
  /** UID of the Project; in dev mode one generated and stored. Audience of its tokens. */
  readonly uid: string;
  readonly authentication: "Enabled" | "Disabled";
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  /** Absent = a write is acknowledged once Redis' primary has made it. */
  readonly durability?: Durability;
  readonly hosts: readonly string[];
  readonly sessions: SessionSettings;
  readonly limits: ProjectLimits;
  readonly cors: CorsConfig;
  readonly openapi: DescriptionPermission;
  readonly console: DescriptionPermission;
  /** What counts for the project's quota without being served; absent = none, or no quota. */
  readonly unserved?: readonly UnservedData[];
}

/** Stored data whose object has gone, or can't be served. */
export interface UnservedData {
  readonly what: "resource" | "rootkey";
  /** Resource name or root key. */
  readonly name: string;
  /** They are to be purged. */
  readonly isPurged?: true;
}

/** One Ed25519 signing key of a project. The first key with `signs` signs; all verify. */
export interface SigningKey {
  readonly kid: string;
  readonly signs: boolean;
  /** JWK members of RFC 8037: the public and the private part, base64url. */
  readonly x: string;
  readonly d: string;
}

export interface SigningRing {
  readonly keys: readonly SigningKey[];
}

/** A field by its name in `_sort`, with the path to its value in an object. */
export interface FieldPath {
  readonly name: string;
  readonly path: readonly string[];
}

/** A sorted index: of one field, or of two, which `_sort` names with a comma between them. */
export interface IndexField extends FieldPath {
  /**
   * Both fields, in order, of an index of two; `path` is the first one's then. The name is stored
   * with configuration and index sets.
   */
  readonly parts?: readonly [FieldPath, FieldPath];
}

/** Fields whose values no two objects share; one in which a field is missing or null has none. */
export interface UniqueRule {
  /** One to three, in the order in which they are declared. */
  readonly fields: readonly FieldPath[];
  /** Strings are equal by simple case folding (Unicode 15, 3.13); absent = by code points. */
  readonly ignoreCase?: true;
  /** Among the objects of each owner; absent = among all. */
  readonly per?: "Owner";
  /** Among the objects that have these values; null = also where the field is missing. */
  readonly where?: readonly { readonly field: FieldPath; readonly value: string | number | boolean | null }[];
}

/** How long, and how many, changes are kept for clients that follow them. */
export interface ChangeLogConfig {
  readonly retentionSeconds: number;
  readonly maxEntries: number;
}

/** When an object expires: at the time in this field, or some time after its creation. */
export type ExpiryConfig = { readonly field: FieldPath } | { readonly afterSeconds: number };

export interface ResourceConfig {
  readonly name: string;
  readonly uid: string;
  /** The JSON Schema as given; compiled by core/schema. */
  readonly schema: JsonObject;
  /** What is to become the schema once no stored object breaks it; absent = nothing waits. */
  readonly nextSchema?: JsonObject;
  /** Writes have to meet it as well: stored objects are being checked, and decide. */
  readonly nextSchemaBinds?: true;
  /** What objects go through that don't meet `nextSchema`; absent = nothing. */
  readonly migration?: readonly JsonObject[];
  readonly indexes: readonly IndexField[];
  readonly access: OperationAccess;
  readonly scope: { readonly read: Scope; readonly write: Scope };
  readonly maxObjects: number;
  /** Absent = an update has to meet the whole schema. */
  readonly updates?: "Ratchet";
  /** Absent = defaults of the schema only describe. */
  readonly defaults?: "Apply";
  /** Absent = never. */
  readonly expiry?: ExpiryConfig;
  /** Absent = its changes are not logged, and can't be followed. */
  readonly changes?: ChangeLogConfig;
  /** Absent = none. */
  readonly unique?: readonly UniqueRule[];
}

export interface RootKeyConfig {
  readonly key: string;
  readonly uid: string;
  /** JSON text of the value to start from when nothing is stored. */
  readonly initialValue: string;
  readonly access: OperationAccess;
  /** As of a resource. */
  readonly changes?: ChangeLogConfig;
}

export interface UserConfig {
  readonly username: string;
  readonly uid: string;
  readonly role: Role;
  readonly access: Access;
  /** argon2id string of the password, one final newline dropped. */
  readonly passwordHash: string;
  /** Changes when the password does; tokens carry it as `cv`. */
  readonly credentialRevision: string;
}

export interface KeyConfig {
  /** Name of the ApiKey object: the creator of what the key makes. */
  readonly name: string;
  readonly uid: string;
  readonly description: string;
  readonly role: Role;
  readonly access: Access;
  /** Lower-case hex SHA-256 of the key. */
  readonly sha256: string;
  /** Unix seconds after which the key is refused; absent = never. */
  readonly expiresAt?: number;
}

/** A public key of an external issuer, as the operator checked it. */
export interface IssuerKey {
  /** Absent where the issuer names none. */
  readonly kid?: string;
  /** At least one: those that match the key's type, or the one that the issuer names. */
  readonly algorithms: readonly SignatureAlgorithm[];
  /**
   * Public members only: `kty` and `n`, `e` (RSA), or `crv`, `x`, `y` (EC), or `crv`, `x` (OKP).
   */
  readonly jwk: Readonly<Record<string, string>>;
}

/** A ServiceAccount of the cluster that may call. */
export interface ServiceAccountGrant {
  readonly namespace: string;
  readonly name: string;
  readonly role: Role;
  readonly access: Access;
}

/**
 * How a page signs in at an issuer: authorization code with PKCE (RFC 7636), as a public client.
 */
export interface IssuerSignIn {
  readonly clientId: string;
  /** URLs of the issuer's discovery document. */
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Whether its authorization responses always say whose they are, by `iss` (RFC 9207). */
  readonly alwaysSendsIss: boolean;
  /** What is asked for: `openid` and others. */
  readonly scopes: readonly string[];
}

/** An OpenID Connect issuer whose tokens a project accepts, or this cluster's own. */
export interface IssuerConfig {
  /** Callers are named `<name>/<username>`. */
  readonly name: string;
  /** `iss` of its tokens, exactly; no two issuers of a project have the same. */
  readonly url: string;
  /** `aud` of a token has one of them. */
  readonly audiences: readonly string[];
  readonly usernameClaim: string;
  /** Another condition: a claim that is the value, or an array or a scope that contains it. */
  readonly claimRules: readonly { readonly claim: string; readonly requiredValue: string }[];
  /** Of its callers; where `serviceAccounts` is set, each of those has its own. */
  readonly access: Access;
  /** Which callers are administrators: a claim that is `contains`, or has it as array or scope. */
  readonly administrators: readonly { readonly claim: string; readonly contains: string }[];
  /** Set for this cluster's own issuer: nobody else is let in. */
  readonly serviceAccounts?: readonly ServiceAccountGrant[];
  /** Whether its keys are fetched, so that an unknown key may exist after the next fetch. */
  readonly keysAreFetched: boolean;
  readonly keys: readonly IssuerKey[];
  /** Absent where the Project names no client. */
  readonly signIn?: IssuerSignIn;
}

/** A compiled project. Map keys: resource, root key, user name, key's SHA-256, issuer. */
export interface CompiledProject {
  readonly project: ProjectSettings;
  readonly signing: SigningRing;
  readonly resources: ReadonlyMap<string, ResourceConfig>;
  readonly rootKeys: ReadonlyMap<string, RootKeyConfig>;
  readonly users: ReadonlyMap<string, UserConfig>;
  readonly keys: ReadonlyMap<string, KeyConfig>;
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
}
