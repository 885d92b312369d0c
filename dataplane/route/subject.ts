// Finds what a target acts on in its project's configuration. Refuses names that the project does not have with 404,
// before anyone is asked who they are.

import type { RootKeyConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject, LiveResource } from "../config/directory.ts";
import type { Target } from "./targets.ts";

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
