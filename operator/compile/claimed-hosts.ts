// The hosts that a Project claims.

import type { Project } from "../model/objects.ts";

/** In the order of its manifest. */
export function hostsOf(project: Project): readonly string[] {
  return (project.spec.hosts ?? []).map((host) => host.toLowerCase());
}
