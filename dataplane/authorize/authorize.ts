// Decides, from data alone, whether a caller may do an operation, and on whose objects. What must
// be true at the moment of the write is a grant, which the store checks in the step that writes.
// Refuses with 401 or 403.

import type {
  Operation,
  Permission,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
  Scope,
} from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { type Caller, ownerOf } from "../authenticate/caller.ts";
import { authenticationRequired } from "../authenticate/refusals.ts";
import type { Visibility } from "../store/ports/refs.ts";

/** Which objects an allowed request sees and changes. */
export interface ObjectGrant {
  /** Objects it sees: others answer 404. */
  readonly visible: Visibility;
  /** The part of them that it may change: others answer 403. */
  readonly writable: Visibility;
}

export interface DocumentGrant {
  /** Whether a PUT may add a key. */
  readonly mayCreate: boolean;
  /** Whether a refusal may say what is stored. */
  readonly mayRead: boolean;
}

const everything: Visibility = Object.freeze({});
const unlimited: ObjectGrant = Object.freeze({ visible: everything, writable: everything });

export function authorizeObjects(
  project: ProjectSettings,
  resource: ResourceConfig,
  operation: Operation,
  caller: Caller,
): ObjectGrant {
  requirePermission(project, resource.access[operation], operation, caller);
  // An update answers with the object, so a caller who may not read can't update.
  if (operation === "update") requirePermission(project, resource.access.read, "read", caller);
  if (project.authentication === "Disabled") return unlimited;
  if (caller.kind !== "anonymous" && caller.role === "Administrators") return unlimited;
  const writable = within(resource.scope.write, caller);
  // A 403 must not show ids of others' objects to a caller who may delete and not read.
  const mayRead = denial(project, resource.access.read, "read", caller) === undefined;
  return { visible: mayRead ? within(resource.scope.read, caller) : writable, writable };
}

/** Whether a list of the resource may be limited to its caller's objects, by the resource alone. */
export function listsOwn({ access, scope }: ResourceConfig): boolean {
  return scope.read === "Own" && (access.read === "Anyone" || access.read === "Authenticated");
}

export function authorizeDocument(
  project: ProjectSettings,
  rootKey: RootKeyConfig,
  operation: Operation,
  caller: Caller,
): DocumentGrant {
  requirePermission(project, rootKey.access[operation], operation, caller);
  return {
    mayCreate: denial(project, rootKey.access.create, "create", caller) === undefined,
    mayRead: denial(project, rootKey.access.read, "read", caller) === undefined,
  };
}

/** Whether a caller may read the description: as a client of the API, or in the console. */
export function authorizeDescription(project: ProjectSettings, of: "openapi" | "console", caller: Caller): void {
  requirePermission(project, project[of], "read", caller);
}

/** Whether anybody may have the page, which asks for credentials itself. */
export function authorizePage(project: ProjectSettings, of: "openapi" | "console", caller: Caller): void {
  if (project[of] === "Nobody") requirePermission(project, "Nobody", "read", caller);
}

/** Throws unless the caller may do `operation`. Also for what only the store found to be needed. */
export function requirePermission(
  project: ProjectSettings,
  permission: Permission,
  operation: Operation,
  caller: Caller,
): void {
  const found = denial(project, permission, operation, caller);
  if (found !== undefined) throw refusal(project, operation, found);
}

function within(scope: Scope, caller: Caller): Visibility {
  return scope === "All" ? everything : { owner: ownerOf(caller) };
}

type Denial = "nobody" | "no credential" | "read access" | "role";

/** Why it is refused; undefined where it is allowed. Making an error would take microseconds. */
function denial(
  project: ProjectSettings,
  permission: Permission,
  operation: Operation,
  caller: Caller,
): Denial | undefined {
  if (permission === "Nobody") return "nobody";
  if (permission === "Anyone" || project.authentication === "Disabled") return undefined;
  if (caller.kind === "anonymous") return "no credential";
  if (operation !== "read" && caller.access !== "Write") return "read access";
  return permission === "Administrators" && caller.role !== "Administrators" ? "role" : undefined;
}

function refusal(project: ProjectSettings, operation: Operation, found: Denial): Problem {
  switch (found) {
    case "nobody":
      return new Problem("insufficient_access", `Nobody may ${operation} here`);
    case "no credential":
      return authenticationRequired(project);
    case "read access":
      return new Problem(
        "insufficient_access",
        `To ${operation} here, a caller needs the access level Write; this one has Read`,
      );
    case "role":
      return new Problem("insufficient_access", `Only callers with the role Administrators may ${operation} here`);
  }
}
