// Finds the project that a request's host or path names, and the segments below its base. Refuses
// an unknown project with 404 if the index of projects is complete, else with 503; a claimed host
// whose project can't be loaded with 503.

import { Problem } from "../../core/errors/problem.ts";
import type { Directory, LiveProject, Lookup } from "../config/directory.ts";
import { hostName } from "./request-target.ts";

/**
 * Where clients reach the service: an origin, and a path if a proxy serves others at it too.
 * Requests may arrive without the path; links always have it.
 */
export interface PublicAddress {
  /** `https://api.example.org`. */
  readonly origin: string;
  readonly scheme: "http" | "https";
  /** Without the port. */
  readonly host: string;
  /** Decoded segments, mostly none. */
  readonly path: readonly string[];
}

/** `url` has no user, query or fragment; it is empty until the port is known. */
export function publicAddress(url: string): PublicAddress {
  if (url === "") return { origin: "", scheme: "http", host: "", path: [] };
  const { origin, protocol, host, pathname } = new URL(url);
  const scheme = protocol === "https:" ? "https" : "http";
  return { origin, scheme, host: hostName(host), path: pathname.split("/").filter(Boolean).map(decodeURIComponent) };
}

/** The segments below the public path, whether or not a request has it. */
export function belowPublicPath({ path }: PublicAddress, segments: readonly string[]): readonly string[] {
  const has = path.length > 0 && path.every((segment, at) => segments[at] === segment);
  return has ? segments.slice(path.length) : segments;
}

interface ResolvedProject {
  readonly project: LiveProject;
  /** Public path and `/<namespace>/<project>`, or nothing on a claimed host. */
  readonly base: string;
  /** Decoded segments below the base. */
  readonly segments: readonly string[];
}

interface ProjectSources {
  readonly directory: Directory;
  readonly address: PublicAddress;
}

/** A promise only while the project's configuration has to be loaded. */
export function findProject(
  sources: ProjectSources,
  host: string,
  segments: readonly string[],
): ResolvedProject | Promise<ResolvedProject> {
  const claimed = sources.directory.host(hostName(host));
  if (claimed instanceof Promise) return claimed.then((loaded) => byHostOrPath(sources, loaded, segments));
  return byHostOrPath(sources, claimed, segments);
}

function byHostOrPath(
  { directory, address }: ProjectSources,
  claimed: Lookup<LiveProject>,
  segments: readonly string[],
): ResolvedProject | Promise<ResolvedProject> {
  if (claimed.outcome === "found") return { project: claimed.value, base: "", segments };
  // A project may claim the host: its path must not lead to another project.
  if (claimed.outcome === "unavailable") throw unavailable();
  const below = address.path.length === 0 ? segments : belowPublicPath(address, segments);
  const [namespace, name] = below;
  if (namespace === undefined || name === undefined) {
    throw new Problem("unknown_path", "Projects are served at /<namespace>/<project>");
  }
  const base = `/${[...address.path.map(encodeURIComponent), namespace, name].join("/")}`;
  const rest = below.slice(2);
  const named = directory.project({ namespace, name });
  if (named instanceof Promise) return named.then((loaded) => ({ project: found(loaded), base, segments: rest }));
  return { project: found(named), base, segments: rest };
}

function found(lookup: Lookup<LiveProject>): LiveProject {
  if (lookup.outcome === "found") return lookup.value;
  if (lookup.outcome === "unknown") {
    throw new Problem("unknown_project", "No project with this namespace and name exists");
  }
  throw unavailable();
}

function unavailable(): Problem {
  return new Problem("project_unavailable", "This server does not know the project's configuration yet; try again", {
    headers: { "Retry-After": "1" },
  });
}
