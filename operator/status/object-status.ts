// Makes the whole `status` of an object of each kind out of what the stages found. What only the resolve stage knows, and did
// not say anew, stays as it was.

import type { QuotaUses } from "../../core/config/quota-uses.ts";
import type { IndexField, ProjectParts } from "../../core/config/types.ts";
import type { EndWait } from "../finalize/advance-purges.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/claimed-name.ts";
import type { ApiKey, ApiResource, CustomResource, ProjectUser } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { Notice, Verdict } from "../model/verdict.ts";
import type { Availability } from "../publish/availability.ts";
import type { KeyStatus } from "../resolve/resolve-key.ts";
import type { UserStatus } from "../resolve/resolve-user.ts";
import { type Condition, conditionsOf, type FormerCondition, isProgrammed, type Progress } from "./conditions.ts";
import { clipped } from "./messages.ts";
import { quotaMembers } from "./quota-status.ts";

/** `status` as it is applied: no member is undefined. */
export interface Status {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly [member: string]: unknown;
}

export interface StatusInput {
  readonly verdict: Verdict;
  readonly progress: Progress;
  /** Whether a live replica serves the Project now. */
  readonly availability: Availability;
  /** Name of the loss of stored data that nobody has accepted for the Project. */
  readonly dataLoss?: string;
  /** While the object is being deleted: what it waits for. */
  readonly dataWait?: EndWait;
  /** What the resolve stage says anew of this object. */
  readonly facts?: KeyStatus | UserStatus;
  /** What is published now; absent when nothing of the project is. */
  readonly parts?: ProjectParts;
  /** Names of indexes that replicas are building, by resource; absent when that is not known. */
  readonly building?: ReadonlyMap<string, readonly string[]>;
  /** How much of its quotas the Project uses; absent when nothing is known anew. */
  readonly uses?: QuotaUses;
  /** All objects of the Project, for the counts of its status. */
  readonly objects: ProjectObjects;
  /** The address that clients use for the Project. */
  readonly baseUrl: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** What the API server keeps of a status, before anything of it is known to be right. */
interface FormerStatus {
  readonly liveGeneration?: number;
  readonly conditions?: readonly FormerCondition[];
  readonly [member: string]: unknown;
}

export function statusOf(object: CustomResource, input: StatusInput): Status {
  const former = (object.status ?? {}) as FormerStatus;
  const { verdict, progress, availability, dataLoss, dataWait, now } = input;
  const generation = object.metadata.generation ?? 0;
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const conditions = conditionsOf({
    generation,
    deleting,
    ...(dataWait !== undefined && { dataWait }),
    verdict,
    progress,
    ...(object.kind === "Project" && { availability, ...(dataLoss !== undefined && { dataLoss }) }),
    previous: former.conditions ?? [],
    now,
  });
  const live = !deleting && (verdict.accepted || verdict.live);
  const liveGeneration = isProgrammed(conditions, generation) ? generation : former.liveGeneration;
  return {
    observedGeneration: generation,
    ...(live && liveGeneration !== undefined && { liveGeneration }),
    ...ownMembers(object, former, { ...input, live }),
    conditions,
  };
}

type Found = StatusInput & { readonly live: boolean };

function ownMembers(object: CustomResource, former: FormerStatus, found: Found): object {
  switch (object.kind) {
    case "Project":
      return {
        ...(found.live && { baseURL: found.baseUrl }),
        children: childCounts(found.objects),
        ...quotaMembers(object, former, found.uses),
      };
    case "ApiResource":
      return {
        ...(found.live && { url: childUrl(found.baseUrl, "api", resourceNameOf(object)) }),
        ...(found.live && indexMembers(object, found)),
        ...warnings(found.verdict),
      };
    case "RootKey":
      return { ...(found.live && { url: childUrl(found.baseUrl, "json", rootKeyOf(object)) }) };
    case "ProjectUser":
      return credentialMembers(object, former, found.facts);
    case "ApiKey":
      return credentialMembers(object, former, found.facts);
  }
}

function indexMembers(object: ApiResource, { parts, building }: StatusInput): object {
  const name = resourceNameOf(object);
  const config = parts?.resources.get(name);
  if (config === undefined || config.uid !== object.metadata.uid) return {};
  const indexes = config.indexes.map((index: IndexField) => index.name);
  const unfinished = indexes.filter((index) => building?.get(name)?.includes(index));
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

/** What the replicas say of each object that one of them can't use, by UID. `userField` names a user's field in Redis. */
export function refusalsByUid(
  parts: ProjectParts,
  refusals: readonly { readonly field: string; readonly reason: string }[],
  userField: (username: string) => string,
): ReadonlyMap<string, string> {
  // Seldom any: no map of a project's thousands of users is made for nothing.
  if (refusals.length === 0) return new Map();
  const uids = new Map<string, string>([
    ["project", parts.project.uid],
    ["signing", parts.project.uid],
  ]);
  for (const resource of parts.resources.values()) uids.set(`resource:${resource.name}`, resource.uid);
  for (const rootKey of parts.rootKeys.values()) uids.set(`rootkey:${rootKey.key}`, rootKey.uid);
  for (const user of parts.users.values()) uids.set(userField(user.username), user.uid);
  for (const key of parts.keys.values()) uids.set(`key:${key.sha256}`, key.uid);
  const byUid = new Map<string, string>();
  // In the order of the fields, so that the same refusals always make the same message.
  for (const { field, reason } of [...refusals].sort((a, b) => (a.field < b.field ? -1 : 1))) {
    const uid = uids.get(field);
    if (uid !== undefined && !byUid.has(uid)) byUid.set(uid, reason);
  }
  return byUid;
}
