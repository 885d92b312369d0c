// Quotas and rates under the platform's rules: what a Project has that declares none, and what is left of one that has more than it may.

import type { ProjectQuota, ProjectRates, Rate } from "../../core/config/types.ts";
import type { NamespaceRules } from "./rules.ts";

/** What was published before, cut to what the rules allow now; a Project without a quota or a rate gets what it would get. */
export function withinLimits<L extends { readonly quota?: ProjectQuota; readonly rate?: ProjectRates }>(
  limits: L,
  rules: NamespaceRules,
): L {
  const quota = limitedQuota(limits.quota, rules);
  const project = limitedRate(limits.rate?.project, rules);
  return { ...limits, ...(quota && { quota }), ...(project && { rate: { ...limits.rate, project } }) };
}

export function limitedQuota(declared: ProjectQuota | undefined, rules: NamespaceRules): ProjectQuota | undefined {
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

export function limitedRate(declared: Rate | undefined, rules: NamespaceRules): Rate | undefined {
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
