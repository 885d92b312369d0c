// Applies the guard rails in a leader's session: allowed hosts, the number of Projects, and the objects of each Project. Without guard rails,
// only --allowed-hosts applies.

import type { ProjectRef } from "../../core/config/types.ts";
import { type HostPolicy, hostPolicy } from "../compile/host-policy.ts";
import { applyGuardRails, withKeptData } from "../guard-rails/apply-guard-rails.ts";
import { createProjectPlaces, type ProjectPlaces } from "../guard-rails/project-places.ts";
import { type GuardRails, type NamespaceRules, noGuardRails } from "../guard-rails/rules.ts";
import type { CustomResource, Project } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { OperatorContext } from "./operator-context.ts";

type TakeDeleted = (key: string) => readonly CustomResource[];

export interface TenantLimits {
  readonly hosts: HostPolicy;
  readonly places: ProjectPlaces;
  readonly objectsOf: (ref: ProjectRef) => ProjectObjects;
  /** Wraps `takeDeleted`, so that deleted objects have the deletionPolicy that the rules require. */
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
  const places = createProjectPlaces((namespace) => rails.rulesOf(namespace).maxProjects);
  const hosts = hostPolicy((namespace) => rails.rulesOf(namespace).allowedHosts ?? settings.allowedHosts);
  if (guardRails === undefined) return { hosts, places, objectsOf: index.objectsOf, limitDeleted: (take) => take };
  const placeOf = (project: Project): number => places.placeOf(project.metadata);
  return {
    hosts,
    places,
    objectsOf: (ref) => applyGuardRails(index.objectsOf(ref), rails, placeOf),
    limitDeleted: (takeDeleted) => (key) => withKeptData(takeDeleted(key), rails),
  };
}

/** The operator's own namespace is the platform's: only the rule about hosts, which are the whole installation's, limits it. */
function onlyHosts({ allowedHosts }: NamespaceRules): NamespaceRules {
  return { adoptData: "Allow", ...(allowedHosts !== undefined && { allowedHosts }) };
}
