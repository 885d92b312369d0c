// What one ApiResource, RootKey, ProjectUser or ApiKey becomes in the configuration. A login or key
// whose Secret can't be had goes on working, with the role, the access and the expiry that the spec
// says now.

import { durationSeconds } from "../../core/config/duration.ts";
import type { ChangeLogConfig, KeyConfig, ResourceConfig, RootKeyConfig, UserConfig } from "../../core/config/types.ts";
import type { LiveKeys, PasswordCredential, Resolved } from "../model/credentials.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/kinds.ts";
import type { ApiKey, ApiResource, DataObject, ProjectUser, RootKey } from "../model/objects.ts";
import { type Evaluation, type Result, refuse } from "../model/verdict.ts";
import { type HeldSchemas, holdSchema, holdsSchema, withoutNextSchema } from "./held-schema.ts";
import { initialValueText } from "./initial-value.ts";
import type { CheckResource } from "./resource-check.ts";

export interface ResourceContext {
  readonly checkResource: CheckResource;
  /** Absent = new schemas are live at once. */
  readonly heldSchemas?: HeldSchemas | undefined;
}

/** `lastGood` = what is published of this resource. */
export function compileResource(
  resource: ApiResource,
  { checkResource, heldSchemas }: ResourceContext,
  [lastGood]: readonly ResourceConfig[],
): Evaluation<readonly ResourceConfig[]> {
  const compiled = compileSpec(resource, checkResource);
  if (!compiled.ok) {
    return lastGood?.nextSchema === undefined ? compiled : { ...compiled, instead: [withoutNextSchema(lastGood)] };
  }
  const [config] = compiled.value;
  if (heldSchemas === undefined || lastGood === undefined || !holdsSchema(resource, lastGood)) return compiled;
  const context = { held: heldSchemas.get(config.uid), migrate: resource.spec.schemaChange?.migrate };
  return holdSchema(config, lastGood, context) ?? compiled;
}

function compileSpec(resource: ApiResource, checkResource: CheckResource): Result<readonly [ResourceConfig]> {
  const { spec, metadata } = resource;
  const checked = checkResource(spec);
  if (!checked.ok) return checked;
  const changes = compileChangeLog(spec.changes);
  if (!changes.ok) return changes;
  const { expiry } = checked.value;
  const { scope, create, read, update, delete: remove } = spec.access;
  const config: ResourceConfig = {
    name: resourceNameOf(resource),
    uid: metadata.uid,
    schema: spec.schema,
    indexes: checked.value.indexes,
    access: { create, read, update, delete: remove },
    scope: { read: scope.read, write: scope.write },
    maxObjects: spec.limits.maxObjects,
    ...(spec.schemaChange?.updates === "Ratchet" && { updates: spec.schemaChange.updates }),
    ...(spec.defaults === "Apply" && { defaults: spec.defaults }),
    ...(expiry && { expiry }),
    ...changes.value,
    ...(checked.value.unique.length > 0 && { unique: checked.value.unique }),
  };
  return { ...checked, value: [config] };
}

export function compileRootKey(rootKey: RootKey, maxDocumentBytes: number): Result<readonly RootKeyConfig[]> {
  const initialValue = initialValueText(rootKey.spec.initialValue, maxDocumentBytes);
  if (!initialValue.ok) return initialValue;
  const changes = compileChangeLog(rootKey.spec.changes);
  if (!changes.ok) return changes;
  const { create, read, update, delete: remove } = rootKey.spec.access;
  const config: RootKeyConfig = {
    key: rootKeyOf(rootKey),
    uid: rootKey.metadata.uid,
    initialValue: initialValue.value,
    access: { create, read, update, delete: remove },
    ...changes.value,
  };
  return { ok: true, value: [config] };
}

function compileChangeLog(changes: DataObject["spec"]["changes"]): Result<{ readonly changes?: ChangeLogConfig }> {
  if (changes === undefined) return { ok: true, value: {} };
  const { retention, maxEntries } = changes;
  const retentionSeconds = durationSeconds(retention);
  if (retentionSeconds === undefined) {
    return refuse("InvalidSpec", `"${retention}" is not a duration such as 30m or 1h`, "/spec/changes/retention");
  }
  return { ok: true, value: { changes: { retentionSeconds, maxEntries } } };
}

/** `lastGood` = what is published of this user. */
export function compileUser(
  user: ProjectUser,
  credential: Resolved<PasswordCredential>,
  lastGood: readonly UserConfig[],
): Evaluation<readonly UserConfig[]> {
  const { metadata, spec } = user;
  const configOf = ({ passwordHash, credentialRevision }: PasswordCredential): UserConfig => ({
    username: usernameOf(user),
    uid: metadata.uid,
    role: spec.role,
    access: spec.access,
    passwordHash,
    credentialRevision,
  });
  if (!credential.ok) return { ...credential, instead: lastGood.map(configOf) };
  return { ok: true, value: [configOf(credential.value)], notices: credential.notices ?? [] };
}

/**
 * One config for each live key: the current one, and one that lives out its grace period.
 * `lastGood` = what is published.
 */
export function compileKey(
  { metadata, spec }: ApiKey,
  credential: Resolved<LiveKeys>,
  lastGood: readonly KeyConfig[],
): Evaluation<readonly KeyConfig[]> {
  const expiry = expirySeconds(spec.expiresAt);
  if (expiry === "invalid")
    return refuse("InvalidSpec", "Must be a time such as 2030-01-31T00:00:00Z", "/spec/expiresAt");
  const configOf = (sha256: string, end: number | undefined): KeyConfig => {
    const { name, uid } = metadata;
    const { description = "", role, access } = spec;
    const expiresAt = expiry === undefined || end === undefined ? (expiry ?? end) : Math.min(expiry, end);
    return { name, uid, description, role, access, sha256, ...(expiresAt !== undefined && { expiresAt }) };
  };
  if (credential.ok) {
    const value = credential.value.map(({ sha256, retiresAt }) => configOf(sha256, retiresAt));
    return { ok: true, value, notices: credential.notices ?? [] };
  }
  return { ...credential, instead: lastGood.map(({ sha256, expiresAt }) => configOf(sha256, expiresAt)) };
}

function expirySeconds(expiresAt: string | undefined): number | undefined | "invalid" {
  if (expiresAt === undefined) return undefined;
  const milliseconds = Date.parse(expiresAt);
  return Number.isNaN(milliseconds) ? "invalid" : Math.floor(milliseconds / 1000);
}
