// Why an object is not accepted or not served yet: every reason of a condition, and whether it goes away
// without a correction (`Reconciling`) or lasts until somebody acts (`Stalled`: Helm and Flux stop waiting at once).

interface ReasonEntry {
  readonly heals: "by itself" | "by a person";
  readonly meaning: string;
}

export const reasonCatalogue = {
  ProjectNotFound: { heals: "by itself", meaning: "The Project that it refers to does not exist or is not accepted" },
  SecretNotFound: { heals: "by itself", meaning: "The Secret that it refers to, or the key in it, does not exist" },
  SecretNotWritten: {
    heals: "by itself",
    meaning: "Its Secret could not be written: a quota or a policy forbids it, or something else keeps changing it",
  },
  PublishFailed: { heals: "by itself", meaning: "The configuration could not be written to Redis" },
  RedisContested: {
    heals: "by a person",
    meaning: "The Redis belongs to another installation; nothing is written to it",
  },
  KeyRingUnusable: {
    heals: "by a person",
    meaning: "The fleet's key ring is missing or damaged; nothing is published",
  },
  WaitingForReplicas: { heals: "by itself", meaning: "Some data-plane replicas still serve older configuration" },
  NoReplicas: { heals: "by itself", meaning: "No data-plane replica is running" },
  RefusedByReplica: {
    heals: "by itself",
    meaning: "A data-plane replica can't use its configuration; upgrade the data plane",
  },
  Suspended: { heals: "by itself", meaning: "The Project is suspended; what was served before is still served" },
  Deleting: { heals: "by itself", meaning: "The object is being deleted and is no longer served" },
  PurgePending: { heals: "by itself", meaning: "Data of an earlier object of this name are still being deleted" },
  InvalidSchema: { heals: "by a person", meaning: "The JSON Schema can't be used" },
  InvalidSpec: { heals: "by a person", meaning: "The spec has a value that can't be used" },
  NameConflict: { heals: "by a person", meaning: "Another object of the Project already has the name" },
  HostConflict: { heals: "by a person", meaning: "Another Project already has the host" },
  SecretConflict: { heals: "by a person", meaning: "A Secret of that name exists and belongs to something else" },
  InvalidSecret: { heals: "by a person", meaning: "Its Secret has a password that can't be used: empty, or too long" },
  KeyLost: { heals: "by a person", meaning: "The credential can't be recovered; rotate it to make a new one" },
  DataLost: {
    heals: "by a person",
    meaning: "The stored data are no longer in Redis; requests for data are refused",
  },
  RetainedDataFound: { heals: "by a person", meaning: "Redis has data of an earlier namespace of that name" },
} as const satisfies Record<string, ReasonEntry>;

export type Reason = keyof typeof reasonCatalogue;

/** Why nothing of a Project can be written to Redis at the moment. */
const unpublishedReasons = ["PublishFailed", "RedisContested", "KeyRingUnusable"] as const satisfies Reason[];

export type UnpublishedReason = (typeof unpublishedReasons)[number];

export function isUnpublishedReason(reason: string): reason is UnpublishedReason {
  return (unpublishedReasons as readonly string[]).includes(reason);
}

/** Reasons of an accepted object, for information: nothing has to be repaired. */
export const noticeCatalogue = {
  SchemaWarning: "Part of the schema is ignored",
  KeyNotRetrievable: "The key still works but can't be shown again",
  Expired: "The key has expired and is refused",
} as const satisfies Record<string, string>;

export type NoticeReason = keyof typeof noticeCatalogue;

/** True when the reason goes away without anyone editing the object. */
export function healsByItself(reason: Reason): boolean {
  return reasonCatalogue[reason].heals === "by itself";
}
