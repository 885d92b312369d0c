// Reads back what was resolved before, from the Secrets of the data folder alone: nothing is minted, hashed or written. It stands in
// for what is published, where nothing is yet.

import type { SigningRing } from "../../core/config/types.ts";
import type { Credentials, LiveKeys, PasswordCredential, Resolved } from "../../operator/model/credentials.ts";
import type { ProjectObjects } from "../../operator/model/project-objects.ts";
import { keyHashSecretName, signingSecretName, userHashSecretName } from "../../operator/model/secret-names.ts";
import { type Result, refuse } from "../../operator/model/verdict.ts";
import { readKeyRecord } from "../../operator/resolve/key-record.ts";
import type { FindSecret } from "../../operator/resolve/resolution.ts";
import { readProjectKeys } from "../../operator/resolve/resolve-signing.ts";
import { readUserRecord } from "../../operator/resolve/user-record.ts";

export interface RecalledProject {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
}

export function recallProject({ project, users, keys }: ProjectObjects, findSecret: FindSecret): RecalledProject {
  const found = project === undefined ? undefined : readProjectKeys(findSecret(signingSecretName(project)));
  const recalledUsers = new Map<string, Resolved<PasswordCredential>>();
  const recalledKeys = new Map<string, Resolved<LiveKeys>>();
  for (const owner of users) {
    const record = readUserRecord(findSecret(userHashSecretName(owner)));
    const value = record && { passwordHash: record.hash, credentialRevision: record.revision };
    recalledUsers.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  for (const owner of keys) {
    const record = readKeyRecord(findSecret(keyHashSecretName(owner)));
    const former = record?.former === undefined ? [] : [record.former];
    const value: LiveKeys | undefined = record && [{ sha256: record.current }, ...former];
    recalledKeys.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  const signing: Result<SigningRing> = found === undefined ? forgotten() : { ok: true, value: found.signingRing };
  return { signing, credentials: { users: recalledUsers, keys: recalledKeys } };
}

function forgotten(): ReturnType<typeof refuse> {
  return refuse("SecretNotFound", "Nothing is remembered");
}
