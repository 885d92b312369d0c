// Reads back what was resolved before, from the Secrets alone: nothing is minted, nothing is hashed, nothing is written. It
// stands in for what is published, where nothing is, and says what another installation, which looks after the Project, has made of it.

import { createSecretKey } from "node:crypto";
import type { SigningRing } from "../../core/config/types.ts";
import type { Credentials, LiveKeys, PasswordCredential, Resolved } from "../model/credentials.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import { keyHashSecretName, userHashSecretName } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { readKeyRecord } from "./key-record.ts";
import type { FindSecret } from "./resolution.ts";
import { readProjectKeys } from "./resolve-signing.ts";
import { readUserRecord } from "./user-record.ts";

export interface RecalledProject {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
}

export function recallProject({ project, users, keys }: ProjectObjects, findSecret: FindSecret): RecalledProject {
  const found = project === undefined ? undefined : readProjectKeys(project, findSecret);
  const recalledUsers = new Map<string, Resolved<PasswordCredential>>();
  const recalledKeys = new Map<string, Resolved<LiveKeys>>();
  if (found === undefined) {
    return { signing: forgotten(), credentials: { users: recalledUsers, keys: recalledKeys } };
  }
  const key = createSecretKey(found.projectKey);
  for (const owner of users) {
    const record = readUserRecord(findSecret(userHashSecretName(owner)), { key, owner });
    const value = record && { passwordHash: record.hash, credentialRevision: record.revision };
    recalledUsers.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  for (const owner of keys) {
    const record = readKeyRecord(findSecret(keyHashSecretName(owner)), { key, owner });
    const former = record?.former === undefined ? [] : [record.former];
    const value: LiveKeys | undefined = record && [{ sha256: record.current }, ...former];
    recalledKeys.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  return { signing: { ok: true, value: found.signingRing }, credentials: { users: recalledUsers, keys: recalledKeys } };
}

/**
 * What another installation keeps, where it can be read, in place of what this one may not resolve: what it rotated or revoked ends here
 * too, and what it has not made yet stays as it is published.
 */
export function followProject<T extends RecalledProject>(
  resolved: T,
  objects: ProjectObjects,
  findSecret: FindSecret,
): T {
  const { signing, credentials } = recallProject(objects, findSecret);
  if (!signing.ok) return resolved;
  const { users, keys } = resolved.credentials;
  return {
    ...resolved,
    signing,
    credentials: {
      users: new Map([...users, ...readable(credentials.users)]),
      keys: new Map([...keys, ...readable(credentials.keys)]),
    },
  };
}

function readable<T>(recalled: ReadonlyMap<string, Resolved<T>>): readonly (readonly [string, Resolved<T>])[] {
  return [...recalled].filter(([, credential]) => credential.ok);
}

function forgotten(): ReturnType<typeof refuse> {
  return refuse("SecretNotFound", "Nothing is remembered");
}
