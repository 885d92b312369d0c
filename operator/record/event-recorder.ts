// Records what changed, as Events (events.k8s.io/v1) that `kubectl describe` shows.

import type { Subject } from "../model/verdict.ts";

export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** One word in PascalCase, from the catalogue of reasons or of events. */
  readonly reason: string;
  /** What the operator did: `Reconcile`, `Publish`, `Rotate`, `Purge`. */
  readonly action: string;
  /** For people; no secret, 1 kB at most. */
  readonly note: string;
}

export interface EventRecorder {
  /** Never throws and never waits: what can't be written is dropped and counted. */
  record(subject: Subject, note: EventNote): void;
}
