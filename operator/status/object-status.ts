// Makes the whole `status` of an object of each kind out of what the stages found. What only the
// resolve stage knows, and did not say again, stays as it was.

import { resourceField } from "../../core/config/fields.ts";
import type { CompiledProject, IndexField, ProjectLimits } from "../../core/config/types.ts";
import { nameOfRule } from "../../core/config/unique-rules.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/kinds.ts";
import type { ApiKey, ApiResource, CustomResource, ProjectUser } from "../model/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { Notice, Verdict } from "../model/verdict.ts";
import type { KeyStatus } from "../resolve/key.ts";
import type { UserStatus } from "../resolve/user.ts";
import { type Condition, conditionsOf, type FormerCondition, isProgrammed } from "./conditions.ts";
import { dataSourceMembers } from "./data-source-status.ts";
import { clipped } from "./messages.ts";
import type { ObjectOutcome } from "./outcomes.ts";
import { storedObjectsStatus } from "./stored-objects-status.ts";
import { usageMembers } from "./usage-status.ts";

/** `status` as it is applied: no member is undefined. */
export interface Status {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly [member: string]: unknown;
}

/** What the API server keeps of a status, before anything of it is known to be right. */
interface FormerStatus {
  readonly liveGeneration?: number;
  readonly conditions?: readonly FormerCondition[];
  readonly [member: string]: unknown;
}

export function statusOf(object: CustomResource, outcome: ObjectOutcome): Status {
  const former = (object.status ?? {}) as FormerStatus;
  const { verdict } = outcome;
  const generation = object.metadata.generation ?? 0;
  const deleting = isDeleting(object);
  const conditions = conditionsOf(object, outcome);
  const checked = object.kind === "ApiResource" ? storedObjectsStatus(object, outcome.check, outcome.now) : undefined;
  const live = !deleting && (verdict.accepted || verdict.live);
  const liveGeneration = isProgrammed(conditions, generation) ? generation : former.liveGeneration;
  return {
    observedGeneration: generation,
    ...(outcome.controller !== undefined && { controller: outcome.controller }),
    ...(live && liveGeneration !== undefined && { liveGeneration }),
    ...ownMembers(object, former, { ...outcome, live }),
    ...checked?.members,
    conditions: [...conditions, ...(checked?.conditions ?? [])],
  };
}

/** `live`: some version of the object is served, or about to be. */
type LiveOutcome = ObjectOutcome & { readonly live: boolean };

function ownMembers(object: CustomResource, former: FormerStatus, outcome: LiveOutcome): object {
  switch (object.kind) {
    case "Project":
      return {
        ...(outcome.live && { baseURL: outcome.baseUrl }),
        children: childCounts(outcome.objects),
        ...limitMembers(former, outcome),
        ...usageMembers(object, former, outcome.usage),
        ...dataSourceMembers(object, outcome.copy),
      };
    case "ApiResource":
      return {
        ...(outcome.live && { url: childUrl(outcome.baseUrl, "api", resourceNameOf(object)) }),
        ...(outcome.live && indexMembers(object, outcome)),
        ...warnings(outcome.verdict),
      };
    case "RootKey":
      return { ...(outcome.live && { url: childUrl(outcome.baseUrl, "json", rootKeyOf(object)) }) };
    case "ProjectUser":
      return credentialMembers(object, former, outcome.facts);
    case "ApiKey":
      return credentialMembers(object, former, outcome.facts);
  }
}

/**
 * Of what is published, which has the platform's defaults and is cut to its largest values; what
 * was reported before, while that is not known.
 */
function limitMembers(former: FormerStatus, { live, config }: LiveOutcome): object {
  if (!live) return {};
  const effectiveLimits = config === undefined ? former["effectiveLimits"] : quotaAndRate(config.project.limits);
  return effectiveLimits === undefined ? {} : { effectiveLimits };
}

function quotaAndRate({ quota, rate }: ProjectLimits): object | undefined {
  if (quota === undefined && rate === undefined) return undefined;
  return { ...(quota !== undefined && { quota }), ...(rate !== undefined && { rate }) };
}

function indexMembers(object: ApiResource, { config, building }: ObjectOutcome): object {
  const name = resourceNameOf(object);
  const resource = config?.resources.get(name);
  if (resource === undefined || resource.uid !== object.metadata.uid) return {};
  const indexes = resource.indexes.map((index: IndexField) => index.name);
  const rules = (resource.unique ?? []).map(nameOfRule);
  const unfinished = [...indexes, ...rules].filter((index) => building?.get(name)?.includes(index));
  return { indexes, ...(unfinished.length > 0 && { indexesBuilding: unfinished }) };
}

function childUrl(baseUrl: string, area: "api" | "json", name: string): string {
  return `${baseUrl}/${area}/${encodeURIComponent(name)}`;
}

function childCounts({ resources, users, keys, rootKeys }: ProjectObjects): object {
  return {
    apiResources: resources.length,
    projectUsers: users.length,
    apiKeys: keys.length,
    rootKeys: rootKeys.length,
  };
}

const maxWarnings = 32;
const maxWarningCharacters = 1024;

function warnings(verdict: Verdict): object {
  const notices = verdict.accepted ? verdict.notices.filter(({ reason }) => reason === "SchemaWarning") : [];
  if (notices.length === 0) return {};
  return { warnings: notices.slice(0, maxWarnings).map(warningText) };
}

function warningText({ message, pointer }: Notice): string {
  return clipped(pointer === undefined ? message : `${pointer}: ${message}`, maxWarningCharacters);
}

const credentialFields = {
  ProjectUser: ["username", "secretName", "rotationID", "passwordChangedAt"],
  ApiKey: ["keyID", "secretName", "rotationID", "rotatedAt", "previousKeyExpiresAt"],
} as const;

/** New facts replace all of the former ones: a former key that is gone has no expiry. */
function credentialMembers(
  object: ProjectUser | ApiKey,
  former: FormerStatus,
  facts: KeyStatus | UserStatus | undefined,
): object {
  const known: Readonly<Record<string, unknown>> = facts === undefined ? former : { ...facts };
  const members = credentialFields[object.kind]
    .map((field) => [field, known[field]] as const)
    .filter(([, value]) => value !== undefined);
  const name = object.kind === "ProjectUser" ? { username: usernameOf(object) } : {};
  return { ...name, ...Object.fromEntries(members) };
}

/**
 * What the replicas say of each object that one of them can't use, by UID. `userField` names a
 * user's field in Redis.
 */
export function refusalsByUid(
  config: CompiledProject,
  refusals: readonly { readonly field: string; readonly reason: string }[],
  userField: (username: string) => string,
): ReadonlyMap<string, string> {
  // Seldom any: no map of a project's thousands of users is made for nothing.
  if (refusals.length === 0) return new Map();
  const uids = new Map<string, string>([
    ["project", config.project.uid],
    ["signing", config.project.uid],
  ]);
  for (const resource of config.resources.values()) uids.set(resourceField(resource.name), resource.uid);
  for (const rootKey of config.rootKeys.values()) uids.set(`rootkey:${rootKey.key}`, rootKey.uid);
  for (const user of config.users.values()) uids.set(userField(user.username), user.uid);
  for (const key of config.keys.values()) uids.set(`key:${key.sha256}`, key.uid);
  const byUid = new Map<string, string>();
  // In the order of the fields, so that the same refusals always make the same message.
  for (const { field, reason } of [...refusals].sort((a, b) => (a.field < b.field ? -1 : 1))) {
    const uid = uids.get(field);
    if (uid !== undefined && !byUid.has(uid)) byUid.set(uid, reason);
  }
  return byUid;
}
