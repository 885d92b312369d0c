// Stands in for the resolve stage while a Project's Secrets can't be read or written: the signing ring stays as it is published, and
// the compile stage keeps the credentials of objects that are published themselves, by UID. What an object of the same name left is
// never continued.

import type { ProjectParts } from "../../core/config/types.ts";
import { type ProjectResolution, unresolvedProject } from "./resolve-project.ts";

/** `published` = what is published of the Project; undefined = nothing. */
export function asPublished(projectName: string, published: ProjectParts | undefined): ProjectResolution {
  const unresolved = unresolvedProject(projectName);
  return published === undefined ? unresolved : { ...unresolved, signing: { ok: true, value: published.signing } };
}
