// The sentences of conditions. They hold no time, no counter and no secret: equal states have equal
// words.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import type { Fault, Notice, Refused } from "../model/verdict.ts";
import type { DeletionWait } from "../stored-data/advance-purges.ts";

export const readyMessage = "The spec is valid, and every data-plane replica that was live has acknowledged it";
export const unavailableMessage = "It is not served; see the condition Accepted";
export const unprogrammedMessage = "The newest spec is not served; see the condition Accepted";

export const programmedMessages = {
  Programmed: "Every data-plane replica that was live has acknowledged it",
  NoReplicas: "No data-plane replica is running; it is served as soon as one is",
  WaitingForReplicas: "Some data-plane replicas may still serve an older version",
  RefusedByReplica:
    "A data-plane replica can't use it and serves its last good version; upgrade the data plane to the operator's version",
} as const;

/** `loss` names it; it goes with the loss, and never changes while that lasts. */
export function dataLostMessage(loss: string): string {
  return `Redis was emptied, or is another one: the stored data are gone. Requests for data are refused with 503 data_lost until Redis is restored from a backup. To go on without the data of all Projects, annotate the Secret of the operator's key ring with ${acceptLossAnnotation}: "${loss}"`;
}

/**
 * Messages of the condition Available, by its reason. It is about this moment, unlike Programmed
 * and Ready.
 */
export const availabilityMessages = {
  Available: "A live data-plane replica serves it",
  NoReplicas: "No heartbeat of a data-plane replica is in Redis: none is running, or none can write there",
  WaitingForReplicas: "No data-plane replica serves it yet",
  RefusedByReplica:
    "Every live data-plane replica refuses its newest configuration; those that had an earlier version serve that one",
  ReplicasUnknown:
    "Which data-plane replicas are live is not known: the operator cannot reach Redis, or has lost the fleet's key ring; its log says which",
} as const;

const dataMessages: Readonly<Record<DeletionWait, string>> = {
  no_replicas:
    "Its data are deleted by a data-plane replica: none is running. Set spec.deletionPolicy to Retain to keep them and remove the finalizer",
  replicas: "Its data are deleted once all data-plane replicas have stopped serving it",
  purge: "Its data are being deleted",
  rights:
    "An operator of the whole cluster set its finalizer, and this one may not remove it: jsonplane finalizers clear --namespace with the name of this namespace removes its finalizer",
};

/** Somebody may set hundreds, and the first few say who did. */
const maxFinalizers = 5;

/** `heldBy`: finalizers of others, which come after what is this operator's to do. */
export function deletingMessage(wait: DeletionWait | undefined, heldBy: readonly string[] = []): string {
  const message = "It is being deleted and is no longer served";
  if (wait !== undefined) return `${message}. ${dataMessages[wait]}`;
  if (heldBy.length === 0) return message;
  const names = heldBy.slice(0, maxFinalizers).join(", ");
  return `${message}. It stays until whoever set them removes the finalizers ${names}, which are not this operator's`;
}

/** Nothing was withdrawn yet: `why` says what that waits for. */
export function undeletableMessage(why: string): string {
  return `It is being deleted, and is withdrawn once that can be published. ${why}`;
}

export function acceptedMessage(notices: readonly Notice[]): string {
  return notices.length === 0 ? "The spec is valid, and what it refers to exists" : joined(notices);
}

export function refusedMessage({ faults, live, partly }: Refused): string {
  if (!live) return joined(faults);
  const served = partly === true ? "The rest of it is served" : "Its last good version is still served";
  return `${clipped(joined(faults), maxConditionCharacters - served.length - 2)}. ${served}`;
}

/** As the CRDs bound it. */
export const maxConditionCharacters = 4096;

/**
 * At most `most` UTF-16 units, which are never fewer than the characters that the API server
 * counts. Names and words of manifests are printable then, as everything that a status says.
 */
export function clipped(given: string, most: number): string {
  const text = printable(given);
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  // Half a surrogate pair is no character.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/**
 * Characters that move a terminal's cursor, end a line or turn the order of letters are escaped as
 * JSON does.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => escapedUnit(character.charCodeAt(at))).join(""),
  );
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** The first few faults of a schema are enough to begin with. */
const maxFaults = 5;

function joined(faults: readonly Fault[]): string {
  const sentences = faults.slice(0, maxFaults).map(faultMessage);
  return faults.length > maxFaults ? `${sentences.join("; ")}; and more like these` : sentences.join("; ");
}

export function faultMessage({ message, pointer }: Fault): string {
  return pointer === undefined ? message : `${pointer}: ${message}`;
}
