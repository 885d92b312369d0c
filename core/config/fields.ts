// Splits a compiled project into the fields that are published one by one, and reads each back.
// Field texts are canonical: equal configuration gives equal text.

import { parseJson } from "../json/parse-json.ts";
import { canonical } from "./canonical.ts";
import { type Keyring, keyedHash } from "./keyring.ts";
import type {
  CompiledProject,
  IssuerConfig,
  KeyConfig,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
  UserConfig,
} from "./types.ts";

/**
 * Version of what an operator writes to Redis. It rises only with a change that an earlier program
 * can't read. Every program refuses a newer one, and an operator writes it only once all live
 * replicas can read it (docs/adr/0052-programs-compare-the-format.md).
 */
export const configFormat = 1;

/**
 * The format in Redis; undefined = there is none. What is not a number counts as newer than all.
 */
export function readFormat(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}

/** Whether what has this format in Redis was written by a newer version than this program. */
export function isNewerFormat(text: string | undefined): boolean {
  return (readFormat(text) ?? configFormat) > configFormat;
}

export type FieldTexts = ReadonlyMap<string, string>;

/** Every field of a project with its text. */
export function fieldTexts(parts: CompiledProject, keyring: Keyring): FieldTexts {
  const fields = new Map<string, string>();
  fields.set("project", canonical(parts.project));
  fields.set("signing", canonical(parts.signing));
  for (const resource of parts.resources.values()) fields.set(resourceField(resource.name), canonical(resource));
  for (const rootKey of parts.rootKeys.values()) fields.set(`rootkey:${rootKey.key}`, canonical(rootKey));
  for (const issuer of parts.issuers.values()) fields.set(`issuer:${issuer.name}`, canonical(issuer));
  for (const user of parts.users.values()) fields.set(userField(keyring, user.username), canonical(user));
  for (const key of parts.keys.values()) fields.set(keyField(key.sha256), canonical(key));
  return fields;
}

const resourcePrefix = "resource:";

export function resourceField(name: string): string {
  return resourcePrefix + name;
}

/** The name of the resource that a field holds; undefined of a field that holds something else. */
export function resourceNameIn(field: string): string | undefined {
  return field.startsWith(resourcePrefix) ? field.slice(resourcePrefix.length) : undefined;
}

export function userField(keyring: Keyring, username: string): string {
  return `user:${keyedHash(keyring, "user", username)}`;
}

export function keyField(sha256: string): string {
  return `key:${sha256}`;
}

/** What a field of projectConfigKey holds. */
export type ProjectField =
  | { readonly kind: "project"; readonly value: ProjectSettings }
  | { readonly kind: "signing"; readonly value: SigningRing }
  | { readonly kind: "resource"; readonly value: ResourceConfig }
  | { readonly kind: "rootkey"; readonly value: RootKeyConfig }
  | { readonly kind: "issuer"; readonly value: IssuerConfig };

/** Undefined for an unknown field. The text is authenticated, so its shape is not checked. */
export function readProjectField(field: string, text: string): ProjectField | undefined {
  const kind = field.split(":", 1)[0];
  switch (kind) {
    case "project":
      return { kind, value: parseJson(text) as ProjectSettings };
    case "signing":
      return { kind, value: parseJson(text) as SigningRing };
    case "resource":
      return { kind, value: parseJson(text) as ResourceConfig };
    case "rootkey":
      return { kind, value: parseJson(text) as RootKeyConfig };
    case "issuer":
      return { kind, value: parseJson(text) as IssuerConfig };
    default:
      return undefined;
  }
}

export function readUser(text: string): UserConfig {
  return parseJson(text) as UserConfig;
}

export function readKey(text: string): KeyConfig {
  return parseJson(text) as KeyConfig;
}
