// Turns a ProjectUser and its resolved password into a login; refuses with the reason why the password is missing.

import type { UserConfig } from "../../core/config/types.ts";
import type { PasswordCredential, Resolved } from "./credentials.ts";
import type { ProjectUser } from "./objects.ts";
import type { Outcome } from "./verdict.ts";

/** The name that logs in: `spec.username`, else the object's own. */
export function usernameOf(user: ProjectUser): string {
  return user.spec.username ?? user.metadata.name;
}

export function compileUser(user: ProjectUser, credential: Resolved<PasswordCredential>): Outcome<UserConfig> {
  if (!credential.ok) return credential;
  const { passwordHash, credentialRevision } = credential.value;
  const value: UserConfig = {
    username: usernameOf(user),
    uid: user.metadata.uid,
    role: user.spec.role,
    access: user.spec.access,
    passwordHash,
    credentialRevision,
  };
  return { ok: true, value, notices: credential.notices ?? [] };
}
