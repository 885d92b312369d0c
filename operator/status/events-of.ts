// Says which Events a change of conditions is worth: one when an object becomes ready, ceases to
// be, or is not ready for another reason than before; none when nothing of that changed.

import type { EventNote } from "../events/event-recorder.ts";
import { noticeCatalogue, type Reason, reasonCatalogue } from "../model/reasons.ts";
import type { Condition, FormerCondition } from "./conditions.ts";
import { clipped } from "./messages.ts";

/** Events about conditions and data that are no reason of a condition. */
export const statusEventCatalogue = {
  Ready: { type: "Normal", action: "Reconcile", meaning: "Every data-plane replica serves the newest spec" },
  OtherController: {
    type: "Warning",
    action: "Reconcile",
    meaning: "Another installation looks after the Project, as its status.controller says; this one leaves it alone",
  },
  QuotaNearlyFull: {
    type: "Warning",
    action: "Reconcile",
    meaning: "80 % or more of a quota of the Project is used",
  },
  DataCopied: {
    type: "Normal",
    action: "Copy",
    meaning: "Data of another Project were copied into this one, as spec.dataSource says",
  },
  DataNotCopied: {
    type: "Warning",
    action: "Copy",
    meaning: "Some data of another Project were not copied into this one; status.dataSource says how many, and why",
  },
  DataPurged: {
    type: "Normal",
    action: "Purge",
    meaning: "Stored data were deleted, as deletionPolicy says or `jsonplane data orphans --delete` asked for",
  },
  DataRetained: {
    type: "Normal",
    action: "Purge",
    meaning: "The object was deleted and its data were kept, as deletionPolicy says",
  },
  DataAdopted: {
    type: "Normal",
    action: "Reconcile",
    meaning: "Data of an earlier namespace of that name were taken over, as the annotation says",
  },
} as const satisfies Record<string, Pick<EventNote, "type" | "action"> & { readonly meaning: string }>;

/** A reason that is an ordinary step on the way, and nothing to warn of. */
export const ordinaryReasons: ReadonlySet<string> = new Set<Reason>([
  "CheckingStoredObjects",
  "WaitingToCopy",
  "Copying",
  "WaitingForReplicas",
  "WaitingForIssuer",
  "CredentialPending",
  "Suspended",
  "Deleting",
]);

const maxNoteCharacters = 1000;

/**
 * In the order Accepted, Programmed, Ready, Available, StoredObjectsValid; what one repeats of
 * another condition is recorded once.
 */
export function eventsOf(before: readonly FormerCondition[], after: readonly Condition[]): readonly EventNote[] {
  const events: EventNote[] = [];
  for (const condition of after) {
    if (!watched.has(condition.type) || !hasChanged(before, condition)) continue;
    const note = noteOf(condition);
    if (note !== undefined && !events.some(({ reason }) => reason === note.reason)) events.push(note);
  }
  return events;
}

const watched: ReadonlySet<string> = new Set(["Accepted", "Programmed", "Ready", "Available", "StoredObjectsValid"]);

function hasChanged(before: readonly FormerCondition[], { type, status, reason }: Condition): boolean {
  const former = before.find((condition) => condition.type === type);
  return former?.status !== status || former.reason !== reason;
}

function noteOf({ type, status, reason, message }: Condition): EventNote | undefined {
  const note = clipped(message, maxNoteCharacters);
  if (status === "False") {
    if (!Object.hasOwn(reasonCatalogue, reason)) return undefined;
    return { type: ordinaryReasons.has(reason) ? "Normal" : "Warning", reason, action: actionOf(type), note };
  }
  if (Object.hasOwn(noticeCatalogue, reason)) return { type: "Warning", reason, action: "Reconcile", note };
  // That it is accepted and programmed says Ready alone.
  return type === "Ready" ? { type: "Normal", reason: "Ready", action: "Reconcile", note } : undefined;
}

function actionOf(type: Condition["type"]): string {
  return type === "Programmed" ? "Publish" : "Reconcile";
}
