// Finds the project that a request's host or path names, and what of the path is left below its base. Refuses with 404
// only when the whole index of projects is known, else with 503.

import { Problem } from "../../core/errors/problem.ts";
import type { Directory, LiveProject, Lookup } from "../config/directory.ts";
import { hostName } from "./host-name.ts";

/**
 * What clients reach the service by, in its two parts: an origin, and the path that a proxy has for it beside other services. The path may
 * arrive with a request or be stripped by the proxy; links always have it.
 */
export interface PublicAddress {
  /** `https://api.example.org`. */
  readonly origin: string;
  /** Decoded segments, mostly none. */
  readonly path: readonly string[];
}

/** Of a URL without user, query and fragment; of nobody's, while it isn't known yet. */
export function publicAddress(url: string): PublicAddress {
  if (url === "") return { origin: "", path: [] };
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname.split("/").filter(Boolean).map(decodeURIComponent) };
}

/** The segments below the public path, whether or not a request has it. */
export function belowPublicPath({ path }: PublicAddress, segments: readonly string[]): readonly string[] {
  const has = path.length > 0 && path.every((segment, at) => segments[at] === segment);
  return has ? segments.slice(path.length) : segments;
}

export interface ResolvedProject {
  readonly project: LiveProject;
  /**
   * What links put between the origin and the path below: the public path and `/<namespace>/<project>`, or nothing on a claimed
   * host.
   */
  readonly base: string;
  /** Decoded segments below the base. */
  readonly segments: readonly string[];
}

export interface ProjectSources {
  readonly directory: Directory;
  readonly address: PublicAddress;
}

export async function findProject(
  { directory, address }: ProjectSources,
  host: string,
  segments: readonly string[],
): Promise<ResolvedProject> {
  const claimed = directory.host(hostName(host));
  const byHost = claimed instanceof Promise ? await claimed : claimed;
  if (byHost.outcome === "found") return { project: byHost.value, base: "", segments };

  const below = belowPublicPath(address, segments);
  const [namespace, name] = below;
  if (namespace === undefined || name === undefined) {
    throw new Problem("unknown_path", "Projects are served at /<namespace>/<project>");
  }
  const named = directory.project({ namespace, name });
  const project = found(named instanceof Promise ? await named : named);
  const path = [...address.path.map(encodeURIComponent), namespace, name].join("/");
  return { project, base: `/${path}`, segments: below.slice(2) };
}

function found(lookup: Lookup<LiveProject>): LiveProject {
  if (lookup.outcome === "found") return lookup.value;
  if (lookup.outcome === "unknown") {
    throw new Problem("unknown_project", "There is no project of this namespace and name");
  }
  throw new Problem("project_unavailable", "The projects are not all known yet; try again", {
    headers: { "Retry-After": "1" },
  });
}
