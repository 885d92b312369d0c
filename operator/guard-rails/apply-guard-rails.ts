// Applies the platform's rules to the objects of a Project: default quotas and rates, a refusal for
// each object that breaks a rule, and deletionPolicy Retain where the platform requires it.

import type { ProjectQuota, ProjectRates, Rate } from "../../core/config/types.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import type { CustomResource, DataObject, DeletionPolicy, Project } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { Refusal } from "../model/verdict.ts";
import { refusalOf } from "./check-manifests.ts";
import type { GuardRails, NamespaceRules } from "./rules.ts";

export function applyGuardRails(objects: ProjectObjects, rails: GuardRails): ProjectObjects {
  const rules = rails.rulesOf(objects.ref.namespace);
  const { project, resources, rootKeys } = objects;
  const notAllowed = new Map<string, Refusal>();
  for (const object of [...(project === undefined ? [] : [project]), ...resources, ...rootKeys]) {
    const refusal = refusalOf(object, rules);
    if (refusal !== undefined) notAllowed.set(object.metadata.uid, refusal);
  }
  return {
    ...objects,
    ...(project !== undefined && { project: withDefaults(keepingData(project, rules), rules) }),
    resources: resources.map((resource) => keepingData(resource, rules)),
    rootKeys: rootKeys.map((rootKey) => keepingData(rootKey, rules)),
    notAllowed,
    ...(rules.deletionPolicy === "Retain" && { retainsData: true as const }),
    ...(rules.adoptData === "Allow" && { mayAdopt: true as const }),
    limitPublished: (limits) => withinLimits(limits, rules),
  };
}

/**
 * Objects that have gone, as `applyGuardRails` returns them. A policy of `Delete` would purge data
 * that the platform keeps, although its object was refused.
 */
export function withRetainedData(deleted: readonly CustomResource[], rails: GuardRails): readonly CustomResource[] {
  return deleted.map((object) => {
    if (object.kind === "ProjectUser" || object.kind === "ApiKey") return object;
    return keepingData(object, rails.rulesOf(object.metadata.namespace));
  });
}

/**
 * What was recorded of data before the platform had the rule, or by an operator that did not know
 * it.
 */
export function withRetention(inventory: DataInventory): DataInventory {
  const entries = inventory.entries.map((entry) =>
    entry.policy === "Delete" ? { ...entry, policy: "Retain" as const } : entry,
  );
  return { ...inventory, policy: "Retain", entries };
}

/**
 * Returns the same object if nothing changes, because results about a spec are cached by its
 * identity.
 */
function keepingData<T extends Project | DataObject>(object: T, { deletionPolicy: required }: NamespaceRules): T {
  if (required !== "Retain" || (object.spec.deletionPolicy ?? required) === required) return object;
  const deletionPolicy: DeletionPolicy = required;
  return { ...object, spec: { ...object.spec, deletionPolicy } };
}

/** What a Project declares stays as it is: more than is allowed is refused. */
function withDefaults(project: Project, rules: NamespaceRules): Project {
  const { limits } = project.spec;
  const quota = { ...limitedQuota(undefined, rules), ...limits.quota };
  const rate = limits.rate?.project ?? limitedRate(undefined, rules);
  const missesQuota = Object.keys(quota).length > Object.keys(limits.quota ?? {}).length;
  const missesRate = rate !== limits.rate?.project;
  if (!missesQuota && !missesRate) return project;
  const filled: Project["spec"]["limits"] = {
    ...limits,
    ...(missesQuota && { quota }),
    ...(missesRate && rate !== undefined && { rate: { ...limits.rate, project: rate } }),
  };
  return { ...project, spec: { ...project.spec, limits: filled } };
}

/**
 * What was published before, cut to what the rules allow now; a Project without a quota or a rate
 * gets what it would get.
 */
function withinLimits<L extends { readonly quota?: ProjectQuota; readonly rate?: ProjectRates }>(
  limits: L,
  rules: NamespaceRules,
): L {
  const quota = limitedQuota(limits.quota, rules);
  const project = limitedRate(limits.rate?.project, rules);
  return { ...limits, ...(quota && { quota }), ...(project && { rate: { ...limits.rate, project } }) };
}

function limitedQuota(declared: ProjectQuota | undefined, rules: NamespaceRules): ProjectQuota | undefined {
  const objects = atMost(declared?.objects ?? rules.defaultQuotaObjects, rules.maxQuotaObjects);
  const bytes = atMost(declared?.bytes ?? rules.defaultQuotaBytes, rules.maxQuotaBytes);
  const documentKeys = atMost(declared?.documentKeys ?? rules.defaultQuotaDocumentKeys, rules.maxQuotaDocumentKeys);
  const quota = {
    ...(objects !== undefined && { objects }),
    ...(bytes !== undefined && { bytes }),
    ...(documentKeys !== undefined && { documentKeys }),
  };
  return Object.keys(quota).length === 0 ? undefined : quota;
}

function limitedRate(declared: Rate | undefined, rules: NamespaceRules): Rate | undefined {
  const { maxRequestsPerSecond, maxBurst = maxRequestsPerSecond, defaultRequestsPerSecond, defaultBurst } = rules;
  const requestsPerSecond = atMost(declared?.requestsPerSecond ?? defaultRequestsPerSecond, maxRequestsPerSecond);
  if (requestsPerSecond === undefined) return undefined;
  const burst = declared === undefined ? (defaultBurst ?? requestsPerSecond) : declared.burst;
  return { requestsPerSecond, burst: atMost(burst, maxBurst) ?? requestsPerSecond };
}

/** An absent value is the largest. */
function atMost(value: number | undefined, max: number | undefined): number | undefined {
  return value === undefined || max === undefined ? (value ?? max) : Math.min(value, max);
}
