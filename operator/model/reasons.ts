// Why an object is not accepted or not served yet: every reason of a condition, and whether it is
// transient (`Reconciling`) or lasts until a person acts (`Stalled`: Helm and Flux stop waiting
// immediately).

interface ReasonEntry {
  readonly transient: boolean;
  readonly meaning: string;
}

export const reasonCatalogue = {
  ProjectNotFound: { transient: true, meaning: "The Project that it refers to does not exist or is not accepted" },
  SecretNotFound: { transient: true, meaning: "The Secret that it refers to, or the key in it, does not exist" },
  SecretNotWritten: {
    transient: true,
    meaning: "Its Secret could not be written: a quota or a policy forbids it, or something else keeps changing it",
  },
  CredentialPending: {
    transient: true,
    meaning: "Its credential is being made; if it had another one before, that works until then",
  },
  PublishFailed: { transient: true, meaning: "The configuration could not be written to Redis" },
  RedisContested: {
    transient: false,
    meaning: "The Redis belongs to another installation; nothing is written to it",
  },
  NewerVersion: {
    transient: false,
    meaning: "A newer version of the operator wrote what Redis holds; update the operator",
  },
  ReplicasOutdated: {
    transient: true,
    meaning: "Data-plane replicas of an earlier version can't read what the operator writes; update the data plane",
  },
  KeyRingUnusable: {
    transient: false,
    meaning: "The fleet's key ring is missing or damaged; nothing is published",
  },
  WaitingForReplicas: { transient: true, meaning: "Some data-plane replicas still serve older configuration" },
  NoReplicas: { transient: true, meaning: "No data-plane replica is running" },
  RefusedByReplica: {
    transient: true,
    meaning: "A data-plane replica can't use its configuration; upgrade the data plane",
  },
  Suspended: { transient: true, meaning: "The Project is suspended; what was served before is still served" },
  Deleting: { transient: true, meaning: "The object is being deleted and is no longer served" },
  PurgePending: { transient: true, meaning: "Data of an earlier object of this name are still being deleted" },
  WaitingForIssuer: {
    transient: true,
    meaning: "The keys of an external issuer are being fetched for the first time; the rest of the Project is served",
  },
  IssuerUnreachable: {
    transient: true,
    meaning:
      "The keys of an external issuer can't be fetched, and there are none from before; the rest of the Project is served",
  },
  CheckingStoredObjects: {
    transient: true,
    meaning:
      "The stored objects are being checked against the schema; with `Refuse`, the former one is served until then",
  },
  StoredObjectsInvalid: {
    transient: false,
    meaning: "Stored objects don't meet the schema; with `Refuse`, the former one is still served",
  },
  WaitingToCopy: {
    transient: true,
    meaning: "Data of another Project are copied once every replica serves both Projects; it is served meanwhile",
  },
  Copying: { transient: true, meaning: "Data of another Project are being copied; it is served meanwhile" },
  SourceNotFound: {
    transient: true,
    meaning: "The Project that its data are copied from does not exist, is not served, or lacks what is to be copied",
  },
  CopyNotAllowed: {
    transient: false,
    meaning: "The Project that its data are copied from doesn't allow it in spec.copies",
  },
  QuotaExceeded: {
    transient: false,
    meaning: "A quota or limit of the Project leaves no room for all data that are to be copied",
  },
  InvalidSchema: { transient: false, meaning: "The JSON Schema can't be used" },
  InvalidSpec: { transient: false, meaning: "The spec has a value that can't be used" },
  NotAllowed: { transient: false, meaning: "The platform's rules forbid it in this namespace" },
  NameConflict: { transient: false, meaning: "Another object of the Project already has the name" },
  HostConflict: { transient: false, meaning: "Another Project already has the host" },
  SecretConflict: {
    transient: false,
    meaning: "A Secret of that name belongs to something else, or is immutable and has to change",
  },
  InvalidSecret: { transient: false, meaning: "Its Secret has a password that can't be used: empty, or too long" },
  DataLost: {
    transient: false,
    meaning: "The stored data are no longer in Redis; requests for data are refused",
  },
  RetainedDataFound: { transient: false, meaning: "Redis has data of an earlier namespace of that name" },
} as const satisfies Record<string, ReasonEntry>;

export type Reason = keyof typeof reasonCatalogue;

/** Why nothing of a Project can be written to Redis at the moment. */
const unpublishedReasons = [
  "PublishFailed",
  "RedisContested",
  "NewerVersion",
  "ReplicasOutdated",
  "KeyRingUnusable",
] as const satisfies Reason[];

export type UnpublishedReason = (typeof unpublishedReasons)[number];

export function isUnpublishedReason(reason: string): reason is UnpublishedReason {
  return (unpublishedReasons as readonly string[]).includes(reason);
}

/** Reasons of an accepted object, for information: what it declares is served. */
export const noticeCatalogue = {
  SchemaWarning: "Part of the schema is ignored or can never be met",
  Expired: "The key has expired and is refused",
  IssuerUnreachable: "The keys of an external issuer can't be fetched; those that were fetched before still count",
} as const satisfies Record<string, string>;

export type NoticeReason = keyof typeof noticeCatalogue;

/** True when the reason goes away without an edit of the object. */
export function isTransient(reason: Reason): boolean {
  return reasonCatalogue[reason].transient;
}
