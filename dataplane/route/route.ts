// Turns the path below a project's base into a target, and finds what the target acts on in the project's configuration. Refuses paths that
// name nothing with 404 `unknown_path`, and names that the project does not have with 404 as well, before anyone is asked who they are.

import type { RootKeyConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject, LiveResource } from "../config/directory.ts";
import type { Target } from "./targets.ts";

type Segments = readonly string[];

/** `segments` are decoded and start below the project's base. */
export function route(segments: Segments): Target {
  const target = match(segments);
  if (!target) {
    throw new Problem(
      "unknown_path",
      "A project serves /api/<resource>, /api/<resource>/<id>, /json/<root_key>/<path>, /sessions, /openapi.json, /docs and /.well-known/jwks.json",
    );
  }
  return target;
}

function match(segments: Segments): Target | undefined {
  switch (segments[0]) {
    case "api":
      return matchApi(segments);
    case "json":
      return matchJson(segments);
    case "sessions":
      return matchSessions(segments);
    case ".well-known":
      return segments.length === 2 && segments[1] === "jwks.json" ? { kind: "keys" } : undefined;
    case "openapi.json":
      return segments.length === 1 ? { kind: "openapi" } : undefined;
    case "docs":
      return matchDocs(segments);
    default:
      return undefined;
  }
}

function matchDocs([, file, ...others]: Segments): Target | undefined {
  if (others.length > 0) return undefined;
  return file === undefined ? { kind: "docs" } : { kind: "docs", file };
}

function matchApi(segments: Segments): Target | undefined {
  const [, resource, id] = segments;
  if (resource === undefined || segments.length > 3) return undefined;
  return id === undefined ? { kind: "collection", resource } : { kind: "object", resource, id };
}

function matchJson(segments: Segments): Target | undefined {
  const rootKey = segments[1];
  return rootKey === undefined ? undefined : { kind: "document", rootKey, path: segments.slice(2) };
}

function matchSessions(segments: Segments): Target | undefined {
  const id = segments[1];
  if (segments.length > 2) return undefined;
  if (id === undefined) return { kind: "sessions" };
  return id === "refresh" ? { kind: "refresh" } : { kind: "session", id };
}

type Of<K extends Target["kind"]> = Extract<Target, { kind: K }>;

export type Subject =
  | { readonly kind: "objects"; readonly target: Of<"collection" | "object">; readonly resource: LiveResource }
  | { readonly kind: "document"; readonly target: Of<"document">; readonly rootKey: RootKeyConfig }
  | { readonly kind: "session"; readonly target: Of<"sessions" | "refresh" | "session" | "keys"> }
  | { readonly kind: "description"; readonly target: Of<"openapi" | "docs"> };

export function subjectOf(project: LiveProject, target: Target): Subject {
  switch (target.kind) {
    case "collection":
    case "object": {
      const resource = project.resources.get(target.resource);
      if (!resource) throw new Problem("unknown_resource", "The project has no ApiResource of this name");
      return { kind: "objects", target, resource };
    }
    case "document": {
      const rootKey = project.rootKeys.get(target.rootKey);
      if (!rootKey) throw new Problem("unknown_root_key", "The project has no RootKey of this name");
      return { kind: "document", target, rootKey };
    }
    case "openapi":
    case "docs":
      return { kind: "description", target };
    default:
      return { kind: "session", target };
  }
}
