// Words that the code has given up, with what to write instead. A test looks for them in the names of files and identifiers, word
// by word: `carry on` is found in `carryOn`, `carry_on` and `carry-on.ts`.

export interface RetiredWord {
  readonly words: readonly string[];
  readonly write: string;
  /** `name`: only where it is the whole name; `start`: only as the first word of several. Without it, anywhere. */
  readonly as?: "name" | "start";
}

export const retiredWords: readonly RetiredWord[] = [
  { words: ["judge", "judged", "judges", "judging", "judgement"], write: "validate, evaluate, check; Result" },
  { words: ["demand", "demanded", "demands"], write: "require (throws)" },
  { words: ["tell", "teller", "tells", "told", "said", "heard"], write: "write, StatusWriter, reported, lastSeen" },
  { words: ["tenure"], write: "WriterSession" },
  { words: ["carry on"], write: "advanceDeletions" },
  { words: ["doom", "doomed"], write: "purge plan, pendingDeletion" },
  { words: ["bury", "buried", "burial", "grave", "graves"], write: "pendingDeletion, removed" },
  { words: ["risen"], write: "restored" },
  { words: ["vanished"], write: "missing, confirmedDeletions" },
  { words: ["absence", "absences"], write: "mass-deletion guard, confirmedDeletions" },
  { words: ["wakeup", "wakeups"], write: "event handlers" },
  { words: ["upkeep"], write: "maintenance" },
  { words: ["serve terms"], write: "leader loop" },
  { words: ["handle key"], write: "process key" },
  { words: ["host desk"], write: "HostRegistry" },
  { words: ["secret book"], write: "SecretStore" },
  { words: ["quota book"], write: "QuotaAggregator" },
  { words: ["situation", "scene"], write: "UserContext, OperationContext, ListContext" },
  { words: ["finding", "findings"], write: "violation, problem" },
  { words: ["act"], write: "handler", as: "name" },
  { words: ["place"], write: "path, location, position, index, binding; tenant in tests", as: "name" },
  { words: ["reach"], write: "ResolvedProject, ConnectOptions", as: "name" },
  { words: ["turns", "write turns"], write: "semaphore (acquire, release), document lock", as: "name" },
  { words: ["in order", "create in order"], write: "keyed mutex", as: "name" },
  { words: ["contention"], write: "compare-and-set retry" },
  { words: ["shares"], write: "fair-share limiter", as: "name" },
  { words: ["shared units", "lone units"], write: "contendedLimit, soloLimit" },
  { words: ["most", "longest"], write: "max…", as: "start" },
  { words: ["few", "fewest"], write: "min…", as: "start" },
  { words: ["remembered script"], write: "idempotent script" },
  { words: ["repetitions", "receipt", "receipts"], write: "idempotency record" },
  { words: ["odd"], write: "unaddressable" },
  { words: ["kept match", "kept matches"], write: "top matches" },
  { words: ["slices"], write: "rank checkpoints, pages" },
  { words: ["taken array"], write: "EditableArray" },
  { words: ["taken object"], write: "EditableObject" },
  { words: ["outlet"], write: "command batcher" },
  { words: ["gateway"], write: "Redis client" },
  { words: ["admit manifests"], write: "apply manifests" },
  { words: ["knowledge"], write: "dev state" },
  { words: ["welcome"], write: "startup message" },
  { words: ["try lines"], write: "sample requests" },
  { words: ["words of"], write: "describeError" },
  { words: ["whoever"], write: "delegate" },
  { words: ["teach", "teach redis"], write: "applyRedisUsers" },
  {
    words: ["settling", "unsettled", "settle finalizer", "settle finalizers", "settled record"],
    write: "reconcile, decide, resolve",
  },
  { words: ["secret claims", "create claims"], write: "SecretOwnership, LeaseClient" },
  { words: ["note removed"], write: "applyOwnDelete" },
  { words: ["held back"], write: "blockedBy" },
  { words: ["deed", "deeds"], write: "deps" },
  { words: ["shelf"], write: "writtenByName, secrets" },
  { words: ["surroundings"], write: "…Context" },
  { words: ["happening"], write: "…Change, …Input" },
  { words: ["hurry"], write: "retryNow" },
  { words: ["nobodys"], write: "noOwners" },
  { words: ["standings"], write: "objects, states" },
  { words: ["restrictions"], write: "FieldConstraints" },
  { words: ["index use", "candidate uses"], write: "IndexScan" },
  { words: ["prepared list"], write: "QueryPlan" },
  { words: ["united"], write: "union", as: "name" },
  { words: ["begin work", "end work"], write: "acquireSlot, releaseSlot" },
  { words: ["answer budget", "problem answer", "login answer"], write: "ResponseBudget, ProblemResponse, LoginResult" },
  { words: ["document prefix"], write: "objectKeyPrefix: a document is a root key's" },
];

/** Names that stay as they are, because stored data or files of other programs have them. */
export const foreignNames: Readonly<Record<string, readonly string[]>> = {
  "operator/publish/data-records.ts": ["doomedAt", "doomedBy"],
  "cli/dev/state-file.ts": ["graves"],
  "tools/cluster/settings.ts": ["isGateway"],
};
