// Stands in for the resolve stage while a Project's Secrets can't be read or written: the signing ring, passwords and keys stay as they are
// published. Everything else of the objects, such as roles, access and `serving`, goes by what their specs say now.

import type { ProjectParts } from "../../core/config/types.ts";
import { usernameOf } from "../model/claimed-name.ts";
import type { Credentials, KeyCredential, LiveKeys, PasswordCredential, Resolved } from "../model/credentials.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import { type ProjectResolution, unresolvedProject } from "./resolve-project.ts";

/** `published` = what is published of the Project; undefined = nothing. `gone` = UIDs of objects that were seen to be deleted, or are on their way out. */
export function asPublished(
  objects: ProjectObjects,
  published: ProjectParts | undefined,
  gone: ReadonlySet<string>,
): ProjectResolution {
  const unresolved = unresolvedProject(objects.ref.name);
  if (published === undefined) return unresolved;
  return {
    ...unresolved,
    signing: { ok: true, value: published.signing },
    credentials: takenOver(objects, published, gone),
  };
}

/**
 * Credentials for objects that were recreated under their names, which take over what is published of those before: a backup was restored, perhaps.
 * What has gone is revoked, whatever has its name now. Of an object that is published itself, by UID, the compile stage keeps the
 * credential.
 */
function takenOver({ users, keys }: ProjectObjects, published: ProjectParts, gone: ReadonlySet<string>): Credentials {
  const passwords = new Map<string, Resolved<PasswordCredential>>();
  for (const user of users) {
    // What is published names no object: only where both have one name is the login known to be that of the object before.
    const isNamed = usernameOf(user) === user.metadata.name;
    const login = isNamed ? published.users.get(usernameOf(user)) : undefined;
    if (login !== undefined && !gone.has(login.uid)) passwords.set(user.metadata.name, { ok: true, value: login });
  }
  const left = [...published.keys.values()].filter(({ uid }) => !gone.has(uid));
  const publishedKeys = Map.groupBy(left, ({ name }) => name);
  const liveKeys = new Map<string, Resolved<LiveKeys>>();
  for (const { metadata } of keys) {
    const live = (publishedKeys.get(metadata.name) ?? []).map(
      ({ sha256, expiresAt }): KeyCredential => ({ sha256, ...(expiresAt !== undefined && { retiresAt: expiresAt }) }),
    );
    const [first, ...others] = live;
    if (first !== undefined) liveKeys.set(metadata.name, { ok: true, value: [first, ...others] });
  }
  return { users: passwords, keys: liveKeys };
}
