// Turns a project's policies into what an operation's description says of its callers: whether it
// is offered, how they authenticate, how they may be refused, and a sentence for people.

import type {
  IssuerConfig,
  JsonObject,
  Operation,
  OperationAccess,
  Permission,
  ProjectSettings,
} from "../../../core/config/types.ts";
import type { ProblemSource } from "./problems.ts";
import { withIssuers } from "./shared-parts.ts";

/** Who may do what with one resource or root key. */
export interface Policies {
  readonly project: ProjectSettings;
  readonly issuers: readonly IssuerConfig[];
  readonly access: OperationAccess;
  /** Role Users may change less than it sees: others' objects are refused with 403. */
  readonly hasReadOnlyObjects: boolean;
}

export interface CallerTerms {
  readonly security: readonly JsonObject[];
  readonly problems: readonly ProblemSource[];
  readonly sentence: string;
  /** Not for Administrators alone. */
  readonly isForUsers: boolean;
  /** The same as the sentence, for programs. */
  readonly permission: Permission;
}

const credentials: readonly JsonObject[] = [{ bearer: [] }, { apikey: [] }];
const sentences: Readonly<Record<Permission, string>> = {
  Anyone: "Anyone, with or without credentials.",
  Authenticated: "Any caller with credentials",
  Administrators: "Any caller with the role Administrators",
  Nobody: "Nobody.",
};

/** The effective policy: with authentication Disabled only Nobody still refuses. */
export function permissionOf({ project, access }: Policies, operation: Operation): Permission {
  const rule = access[operation];
  return project.authentication === "Disabled" && rule !== "Nobody" ? "Anyone" : rule;
}

/** Undefined when nobody may. */
export function callerTerms(
  policies: Policies,
  operation: Operation,
  needs: readonly Operation[],
): CallerTerms | undefined {
  const permissions = [operation, ...needs].map((each) => permissionOf(policies, each));
  if (permissions.includes("Nobody")) return undefined;
  const strictest = strictestOf(permissions);
  const isWrite = operation !== "read";
  const { project, issuers } = policies;
  const problems: ProblemSource[] = ["credentials", ...rateProblems(project)];
  if (strictest !== "Anyone") problems.push("anonymousCaller");
  if (mayBeTooWeak(policies, operation, strictest)) problems.push("insufficientAccess");
  if (isWrite && strictest === "Anyone" && project.authentication === "Enabled") problems.push("anonymousWrite");
  if (isWrite && project.serving === "ReadOnly") problems.push("readOnlyProject");
  const open = strictest === "Anyone";
  const access = isWrite ? " and access level Write." : ".";
  return {
    security: withIssuers(open ? [{}, ...credentials] : credentials, issuers),
    problems,
    isForUsers: strictest !== "Administrators",
    permission: strictest,
    sentence: `Who may: ${sentences[strictest]}${open ? "" : access}`,
  };
}

/** Problems of every request where the project names rates. */
export function rateProblems({ limits }: ProjectSettings): readonly ProblemSource[] {
  return limits.rate === undefined ? [] : ["rates"];
}

/** Further problems of a write with preconditions: it needs the right to read. */
export function preconditionProblems(policies: Policies, operation: Operation): readonly ProblemSource[] {
  const read = permissionOf(policies, "read");
  if (operation === "read" || read === "Anyone" || policies.project.authentication === "Disabled") {
    return read === "Nobody" && operation !== "read" ? ["insufficientAccess"] : [];
  }
  return ["anonymousCaller", "insufficientAccess"];
}

function mayBeTooWeak(policies: Policies, operation: Operation, strictest: Permission): boolean {
  if (policies.project.authentication === "Disabled") return false;
  if (strictest === "Administrators") return true;
  if (operation === "read") return false;
  return strictest === "Authenticated" || (operation !== "create" && policies.hasReadOnlyObjects);
}

function strictestOf(permissions: readonly Permission[]): Permission {
  const order: readonly Permission[] = ["Nobody", "Administrators", "Authenticated", "Anyone"];
  return order.find((permission) => permissions.includes(permission)) ?? "Nobody";
}
