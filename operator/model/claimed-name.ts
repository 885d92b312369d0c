// The names that objects claim within their Project: the one that the spec says, else the object's own.

import type { ApiResource, ProjectUser, RootKey } from "./objects.ts";

/** The segment after `/api/`. */
export function resourceNameOf(resource: ApiResource): string {
  return resource.spec.resourceName ?? resource.metadata.name;
}

/** The segment after `/json/`. */
export function rootKeyOf(rootKey: RootKey): string {
  return rootKey.spec.key ?? rootKey.metadata.name;
}

/** The name that logs in, and the creator of what the user makes. */
export function usernameOf(user: ProjectUser): string {
  return user.spec.username ?? user.metadata.name;
}
