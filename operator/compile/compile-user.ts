// Turns a ProjectUser and its resolved password into a login; refuses with the reason why the password is missing. A login
// that worked goes on working then, with the role and the access that the spec says now.

import type { UserConfig } from "../../core/config/types.ts";
import type { PasswordCredential, Resolved } from "../model/credentials.ts";
import { usernameOf } from "../model/kinds.ts";
import type { ProjectUser } from "../model/objects.ts";
import type { Evaluation } from "../model/verdict.ts";

/** `lastGood` = what is published of this user. */
export function compileUser(
  user: ProjectUser,
  credential: Resolved<PasswordCredential>,
  lastGood: readonly UserConfig[],
): Evaluation<readonly UserConfig[]> {
  if (!credential.ok) return { ...credential, instead: lastGood.map((config) => configOf(user, config)) };
  return { ok: true, value: [configOf(user, credential.value)], notices: credential.notices ?? [] };
}

function configOf(user: ProjectUser, { passwordHash, credentialRevision }: PasswordCredential): UserConfig {
  return {
    username: usernameOf(user),
    uid: user.metadata.uid,
    role: user.spec.role,
    access: user.spec.access,
    passwordHash,
    credentialRevision,
  };
}
