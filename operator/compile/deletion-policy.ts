// Says whether the data of an object go with it: its own policy when it states one, else its Project's, else they stay.

import type { Child, DeletionPolicy, Project } from "../model/objects.ts";

/** `child` absent = the Project's own data as a whole. Users and keys have no data. */
export function effectiveDeletionPolicy(project: Project | undefined, child?: Child): DeletionPolicy {
  const own = child !== undefined && "deletionPolicy" in child.spec ? child.spec.deletionPolicy : undefined;
  return own ?? project?.spec.deletionPolicy ?? "Retain";
}
