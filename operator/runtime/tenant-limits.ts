// Applies the guard rails in a leader's session: allowed hosts, and the objects of each Project.
// Without guard rails, only --allowed-hosts applies.

import type { ProjectRef } from "../../core/config/types.ts";
import { type HostPolicy, hostPolicy } from "../compile/hosts.ts";
import { applyGuardRails, withRetainedData } from "../guard-rails/apply-guard-rails.ts";
import { type GuardRails, type NamespaceRules, noGuardRails } from "../guard-rails/rules.ts";
import type { CustomResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { OperatorContext } from "./operator-context.ts";

type TakeDeleted = (key: string) => readonly CustomResource[];

export interface TenantLimits {
  readonly hosts: HostPolicy;
  readonly objectsOf: (ref: ProjectRef) => ProjectObjects;
  /**
   * Wraps `takeDeleted`, so that deleted objects have the deletionPolicy that the rules require.
   */
  readonly limitDeleted: (takeDeleted: TakeDeleted) => TakeDeleted;
}

export function createTenantLimits({
  guardRails,
  settings,
  caches: { index },
}: Pick<OperatorContext, "guardRails" | "settings" | "caches">): TenantLimits {
  const rails: GuardRails = {
    rulesOf(namespace) {
      const rules = (guardRails?.current() ?? noGuardRails).rulesOf(namespace);
      return namespace === settings.namespace ? onlyHosts(rules) : rules;
    },
  };
  const hosts = hostPolicy((namespace) => rails.rulesOf(namespace).allowedHosts ?? settings.allowedHosts);
  if (guardRails === undefined) return { hosts, objectsOf: index.objectsOf, limitDeleted: (take) => take };
  return {
    hosts,
    objectsOf: (ref) => applyGuardRails(index.objectsOf(ref), rails),
    limitDeleted: (takeDeleted) => (key) => withRetainedData(takeDeleted(key), rails),
  };
}

/**
 * The operator's own namespace is the platform's: only the rule about hosts, which are the whole
 * installation's, limits it.
 */
function onlyHosts({ allowedHosts }: NamespaceRules): NamespaceRules {
  return { adoptData: "Allow", ...(allowedHosts !== undefined && { allowedHosts }) };
}
