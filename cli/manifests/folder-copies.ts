// What is to be copied from one Project of a folder into another one, by the rules of a cluster in
// which both are served.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import type { Project } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import type { PublishedProject } from "../../operator/publish/writer-session.ts";
import { type CopyPlan, planCopy, sourceOf } from "../../operator/stored-data/copy-plan.ts";

/** `configs`: what is served of each, by key. */
export function planFolderCopy(
  project: Project,
  projects: ReadonlyMap<string, Project>,
  configs: ReadonlyMap<string, CompiledProject>,
): CopyPlan {
  const servedOf = (ref: ProjectRef): PublishedProject => {
    const config = configs.get(keyOfProject(ref));
    return { revision: 0, ...(config !== undefined && { config }) };
  };
  return planCopy(project, {
    projectOf: (ref) => projects.get(keyOfProject(ref)),
    // A folder doesn't say which data were copied before.
    waits: () => false,
    from: servedOf(sourceOf(project)),
    into: servedOf(projectRefOf(project)),
    rolloutOf: () => "programmed",
  });
}

export function projectsByKey(projects: readonly Project[]): ReadonlyMap<string, Project> {
  return new Map(projects.map((project) => [keyOfProject(projectRefOf(project)), project]));
}
