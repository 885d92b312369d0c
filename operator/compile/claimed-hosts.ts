// What a Project asks for in hosts, and whether it still may.

import type { Project } from "../model/objects.ts";

/** In the order of its manifest. */
export function hostsOf(project: Project): readonly string[] {
  return (project.spec.hosts ?? []).map((host) => host.toLowerCase());
}

/** Such a Project holds nothing. */
export function isDeleting(project: Project): boolean {
  return project.metadata.deletionTimestamp !== undefined;
}
