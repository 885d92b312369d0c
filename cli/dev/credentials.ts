// Finds the credentials that a person at this machine can use, and where each can be read: file paths and shell words, never
// the secrets themselves.

import { readFile } from "node:fs/promises";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Access, Role } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { usernameOf } from "../../operator/model/claimed-name.ts";
import type { ApiKey, ProjectUser } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import { keySecretName, passwordSecretName } from "../../operator/model/secret-names.ts";
import { entryText } from "../../operator/resolve/secret-write.ts";
import { shellWord } from "../shell-words.ts";
import type { DevOperatorView } from "./dev-operator.ts";
import { storedObject } from "./dev-state.ts";
import type { SecretFiles } from "./secret-files.ts";

export interface UsableCredential {
  readonly kind: "login" | "API key";
  /** User name, or name of the ApiKey. */
  readonly name: string;
  readonly project: string;
  readonly role: Role;
  readonly access: Access;
  readonly file: string;
  /** Shell words that print the secret; undefined when it can't be read by line. */
  readonly read: string | undefined;
}

interface LocatedSecret {
  readonly secret: Secret;
  readonly file: string;
}

/** The credentials of served objects, in the order in which they were read. */
export async function usableCredentials(
  view: DevOperatorView,
  files: SecretFiles,
): Promise<readonly UsableCredential[]> {
  const locate = (namespace: string, name: string): LocatedSecret | undefined => {
    const inFolder = view.folderSecrets.get(`${namespace}/${name}`);
    if (inFolder !== undefined) return inFolder;
    const secret = view.generated.get(`${namespace}/${name}`);
    return secret && { secret, file: files.fileOf(namespace, name) };
  };
  const found: UsableCredential[] = [];
  for (const known of view.known.objects.values()) {
    const object = storedObject(known, known.manifest);
    if (object.kind !== "ProjectUser" && object.kind !== "ApiKey") continue;
    const credential = await usable(object, view, locate);
    if (credential !== undefined) found.push(credential);
  }
  return found;
}

async function usable(
  object: ProjectUser | ApiKey,
  view: DevOperatorView,
  locate: (namespace: string, name: string) => LocatedSecret | undefined,
): Promise<UsableCredential | undefined> {
  const { namespace, uid } = object.metadata;
  const project = keyOfProject(projectRefOf(object));
  const parts = view.published.get(project);
  const live = [...(parts?.users.values() ?? []), ...(parts?.keys.values() ?? [])].some((config) => config.uid === uid);
  const { secretName, entry } = secretOf(object);
  const located = locate(namespace, secretName);
  if (!live || located === undefined || entryText(located.secret, entry) === undefined) return undefined;
  const { role, access } = object.spec;
  const kind = object.kind === "ApiKey" ? "API key" : "login";
  const name = object.kind === "ApiKey" ? object.metadata.name : usernameOf(object);
  return { kind, name, project, role, access, file: located.file, read: await readingWords(located, entry) };
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
