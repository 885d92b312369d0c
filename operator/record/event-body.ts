// An Event as the API server takes it (events.k8s.io/v1): made once, then only its series counted up.

import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion, group } from "../../core/manifests/object.ts";
import { eventType } from "../kube/resource-types.ts";
import { microTime } from "../lead/lease.ts";
import type { Subject } from "../model/verdict.ts";
import { printable } from "../status/messages.ts";
import type { EventNote } from "./event-recorder.ts";

export const reportingController = `${group}/operator`;

export interface EventFacts {
  readonly subject: Subject;
  readonly note: EventNote;
  /** Which process writes it. */
  readonly instance: string;
  /** Makes the name one that no other Event has. */
  readonly suffix: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Names have 253 characters at most, and so has the object's. */
const maxStemLength = 200;
const maxInstanceLength = 128;
const maxNoteBytes = 1024;

export function newEvent({ subject, note, instance, suffix, now }: EventFacts): JsonObject {
  const { kind, namespace, name, uid } = subject;
  return {
    apiVersion: `${eventType.group}/${eventType.version}`,
    kind: eventType.kind,
    metadata: { namespace, name: `${name.slice(0, maxStemLength).replace(/[^a-z0-9]+$/, "")}.${suffix}` },
    eventTime: microTime(now),
    reportingController,
    reportingInstance: instance.slice(0, maxInstanceLength),
    type: note.type,
    reason: note.reason,
    action: note.action,
    note: withinBytes(printable(note.note), maxNoteBytes),
    regarding: { apiVersion, kind, namespace, name, uid },
  };
}

export interface SeriesFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** How often it happened so far, the first time included. */
  readonly count: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** What is applied to an Event that is there already. */
export function countedEvent({ namespace, name, uid, count, now }: SeriesFacts): JsonObject {
  return {
    apiVersion: `${eventType.group}/${eventType.version}`,
    kind: eventType.kind,
    metadata: { namespace, name, uid },
    series: { count, lastObservedTime: microTime(now) },
  };
}

/** Cut between characters: half of one would be refused. */
function withinBytes(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= bytes) return text;
  const room = encoded.subarray(0, bytes - "…".length * 3);
  return `${new TextDecoder().decode(room).replace(/\uFFFD+$/, "")}…`;
}
