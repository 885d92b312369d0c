// Finds the credentials that a person at this machine can use, and where each can be read: file
// paths and shell words, never the secrets themselves.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { Access, Role } from "../../../core/config/types.ts";
import type { Secret } from "../../../core/manifests/object.ts";
import { entryText } from "../../../core/manifests/secret.ts";
import { usernameOf } from "../../../operator/model/kinds.ts";
import type { ApiKey, ProjectUser } from "../../../operator/model/objects.ts";
import { projectRefOf } from "../../../operator/model/project-objects.ts";
import { keySecretName, passwordSecretName } from "../../../operator/model/secret-names.ts";
import { shellWord } from "../../shell-words.ts";
import type { DevOperatorView } from "../apply/dev-operator.ts";
import { storedObject } from "../data-folder/dev-state.ts";
import type { SecretFiles } from "../data-folder/secret-files.ts";

export interface LocatedCredential {
  /** `Kind/namespace/name`. */
  readonly subject: string;
  readonly kind: "login" | "API key";
  /** User name, or name of the ApiKey. */
  readonly name: string;
  readonly project: string;
  readonly role: Role;
  readonly access: Access;
  readonly file: string;
  /** Another one for each secret. */
  readonly digest: string;
}

export interface UsableCredential extends LocatedCredential {
  /** Shell words that print the secret; undefined when it can't be read by line. */
  readonly read: string | undefined;
}

interface LocatedSecret {
  readonly secret: Secret;
  readonly file: string;
}

interface Located {
  readonly credential: LocatedCredential;
  readonly located: LocatedSecret;
  readonly entry: string;
}

/** The credentials of served objects, in the order in which they were read. */
export async function usableCredentials(
  view: DevOperatorView,
  files: SecretFiles,
): Promise<readonly UsableCredential[]> {
  const found = locateAll(view, files).map(async ({ credential, located, entry }) => {
    return { ...credential, read: await readingWords(located, entry) };
  });
  return await Promise.all(found);
}

/** The same, without reading the files. */
export function locateCredentials(view: DevOperatorView, files: SecretFiles): readonly LocatedCredential[] {
  return locateAll(view, files).map(({ credential }) => credential);
}

export interface Revealed extends Pick<LocatedCredential, "kind" | "name" | "project"> {
  /** The password or the key. */
  readonly secret: string;
}

/** One credential with its secret; undefined where it is no longer served. */
export function revealCredential(view: DevOperatorView, files: SecretFiles, subject: string): Revealed | undefined {
  const found = locateAll(view, files).find(({ credential }) => credential.subject === subject);
  const secret = found && entryText(found.located.secret, found.entry);
  if (found === undefined || secret === undefined) return undefined;
  const { kind, name, project } = found.credential;
  return { kind, name, project, secret };
}

function locateAll(view: DevOperatorView, files: SecretFiles): readonly Located[] {
  const locate = (namespace: string, name: string): LocatedSecret | undefined => {
    const inFolder = view.folderSecrets.get(`${namespace}/${name}`);
    if (inFolder !== undefined) return inFolder;
    const secret = view.generated.get(`${namespace}/${name}`);
    return secret && { secret, file: files.fileOf(namespace, name) };
  };
  const served = new Set<string>();
  for (const { users, keys } of view.published.values()) {
    for (const { uid } of [...users.values(), ...keys.values()]) served.add(uid);
  }
  return [...view.known.objects].flatMap(([subject, known]) => {
    const object = storedObject(known, known.manifest);
    if (object.kind !== "ProjectUser" && object.kind !== "ApiKey") return [];
    if (!served.has(object.metadata.uid)) return [];
    const { secretName, entry } = secretOf(object);
    const located = locate(object.metadata.namespace, secretName);
    const secret = located && entryText(located.secret, entry);
    if (located === undefined || secret === undefined) return [];
    return [{ credential: credentialOf(subject, object, { secret, file: located.file }), located, entry }];
  });
}

function credentialOf(
  subject: string,
  object: ProjectUser | ApiKey,
  { secret, file }: { readonly secret: string; readonly file: string },
): LocatedCredential {
  const { role, access } = object.spec;
  const [kind, name] =
    object.kind === "ApiKey" ? (["API key", object.metadata.name] as const) : (["login", usernameOf(object)] as const);
  const digest = createHash("sha256").update(secret).digest("base64");
  return { subject, kind, name, project: keyOfProject(projectRefOf(object)), role, access, file, digest };
}

function secretOf(object: ProjectUser | ApiKey): { readonly secretName: string; readonly entry: string } {
  if (object.kind === "ApiKey") return { secretName: keySecretName(object), entry: "apiKey" };
  const reference = object.spec.passwordSecretRef;
  if (reference === undefined) return { secretName: passwordSecretName(object), entry: "password" };
  return { secretName: reference.name, entry: reference.key };
}

/** `sed` can read an entry that stands on one line as it is, once in its file. */
async function readingWords({ secret, file }: LocatedSecret, entry: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8");
  const lines = text.split("\n").flatMap((line) => {
    const value = new RegExp(`^ +${entry.replaceAll(".", "\\.")}: (.*)$`).exec(line)?.[1];
    return value === undefined ? [] : [value];
  });
  if (lines.length !== 1 || lines[0] !== entryText(secret, entry)) return undefined;
  return `sed -n 's/^ *${entry}: //p' ${shellWord(file)}`;
}
