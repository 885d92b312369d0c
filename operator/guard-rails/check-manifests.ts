// What of a manifest the platform's rules forbid, with the place of each and what may be written
// instead.

import type { DataObject, Project } from "../model/objects.ts";
import { type Fault, type Refusal, refuseAll } from "../model/verdict.ts";
import type { NamespaceRules } from "./rules.ts";

/** Users and keys have only the rights that resources give them. */
export function refusalOf(object: Project | DataObject, rules: NamespaceRules): Refusal | undefined {
  const own = object.kind === "Project" ? projectFaults(object, rules) : accessFaults(object, rules);
  const faults = [...own, ...deletionPolicyFaults(object, rules)];
  return faults.length === 0 ? undefined : refuseAll("NotAllowed", faults).refusal;
}

function projectFaults({ spec, metadata }: Project, rules: NamespaceRules): readonly Fault[] {
  const { namespace } = metadata;
  const faults: Fault[] = [];
  const { anyone = "Allow", authenticationDisabled = "Allow" } = rules;
  if (spec.authentication.policy === "Disabled" && (authenticationDisabled === "Deny" || anyone !== "Allow")) {
    const message = `The platform does not let namespace "${namespace}" disable authentication: write Enabled`;
    faults.push({ message, pointer: "/spec/authentication/policy" });
  }
  for (const field of ["openapi", "console"] as const) {
    if (spec[field] !== "Anyone" || anyone !== "Deny") continue;
    const message = `The platform does not let namespace "${namespace}" give access to Anyone: write Authenticated or Nobody`;
    faults.push({ message, pointer: `/spec/${field}` });
  }
  return [...faults, ...quotaFaults(spec, namespace, rules), ...rateFaults(spec, namespace, rules)];
}

function quotaFaults({ limits }: Project["spec"], namespace: string, rules: NamespaceRules): readonly Fault[] {
  const quotas = [
    ["objects", rules.maxQuotaObjects],
    ["bytes", rules.maxQuotaBytes],
    ["documentKeys", rules.maxQuotaDocumentKeys],
  ] as const;
  return quotas.flatMap(([kind, max]) => tooLarge(`/spec/limits/quota/${kind}`, limits.quota?.[kind], max, namespace));
}

function rateFaults({ limits }: Project["spec"], namespace: string, rules: NamespaceRules): readonly Fault[] {
  const rate = limits.rate?.project;
  if (rate === undefined) return [];
  const { maxRequestsPerSecond, maxBurst = maxRequestsPerSecond } = rules;
  const pointer = "/spec/limits/rate/project";
  return [
    ...tooLarge(`${pointer}/requestsPerSecond`, rate.requestsPerSecond, maxRequestsPerSecond, namespace),
    ...tooLarge(`${pointer}/burst`, rate.burst ?? rate.requestsPerSecond, maxBurst, namespace),
  ];
}

function tooLarge(
  pointer: string,
  value: number | undefined,
  max: number | undefined,
  namespace: string,
): readonly Fault[] {
  if (value === undefined || max === undefined || value <= max) return [];
  const field = pointer.slice("/spec/".length).replaceAll("/", ".");
  return [
    { pointer, message: `The platform allows namespace "${namespace}" at most ${max} as ${field}, not ${value}` },
  ];
}

const writes: ReadonlySet<string> = new Set(["create", "update", "delete"]);

function accessFaults({ spec, metadata }: DataObject, { anyone = "Allow" }: NamespaceRules): readonly Fault[] {
  if (anyone === "Allow") return [];
  const { create, read, update, delete: remove } = spec.access;
  return Object.entries({ create, read, update, delete: remove })
    .filter(([operation, who]) => who === "Anyone" && (anyone === "Deny" || writes.has(operation)))
    .map(([operation]) => {
      const refused = `The platform does not let namespace "${metadata.namespace}" give Anyone the right to ${operation}`;
      return {
        message: `${refused}: write Authenticated, Administrators or Nobody`,
        pointer: `/spec/access/${operation}`,
      };
    });
}

/** A child without one has that of its Project. */
function deletionPolicyFaults(
  { spec, metadata }: Project | DataObject,
  { deletionPolicy }: NamespaceRules,
): readonly Fault[] {
  const declared = spec.deletionPolicy;
  if (deletionPolicy === undefined || declared === undefined || declared === deletionPolicy) return [];
  const message = `The platform allows namespace "${metadata.namespace}" no other deletionPolicy: write ${deletionPolicy}`;
  return [{ message, pointer: "/spec/deletionPolicy" }];
}
