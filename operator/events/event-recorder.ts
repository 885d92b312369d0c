// Writes Events (events.k8s.io/v1), which `kubectl describe` shows, one after the other, and never
// makes anyone wait for that. Repetitions are counted in the Event that is there; what is too much,
// or can't be written, is dropped and counted.

import { Backoff } from "../../core/backoff.ts";
import type { Clock } from "../../core/clock.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { apiVersion, group } from "../../core/manifests/object.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { type Monotonic, pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import { TokenBucket } from "../../core/token-bucket.ts";
import { ApiFailure, ApiUnreachable, isConflict, isNotFound, type KubeApi, retryAfterMsOf } from "../kube/api.ts";
import { eventType } from "../kube/objects.ts";
import { microTime } from "../lead/lease.ts";
import type { Subject } from "../model/verdict.ts";
import { printable } from "../status/messages.ts";

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
  emit(subject: Subject, note: EventNote): void;
}

export interface StoppableRecorder extends EventRecorder {
  /** Drops what waits; resolves when the call under way has ended. */
  stop(): Promise<void>;
}

export type EventObservation =
  | { readonly kind: "written" }
  /**
   * `limit` = too many about one object, `rate` = too many Normal ones about all, `full` = too many
   * wait, `failed` = the API server refused it or is away.
   */
  | {
      readonly kind: "dropped";
      readonly why: "limit" | "rate" | "full" | "failed" | "stopped";
      readonly error?: unknown;
    };

export interface RecorderOptions {
  /** One that writes for the leader only. */
  readonly api: Pick<KubeApi, "create" | "apply">;
  readonly instance: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly timers: Timers;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly observe?: (observation: EventObservation) => void;
}

/** The same note again within this time is the same Event. */
const seriesMs = 600_000;
const countEveryMs = 300_000;
const seriesRemembered = 4_096;
const maxQueueLength = 1_000;
const attempts = 5;
const retries = { firstMs: 2_000, maxMs: 30_000, jitter: 0.2 };

interface Series {
  readonly subject: Subject;
  readonly note: EventNote;
  count: number;
  lastSeenMs: number;
  writtenMs: number;
  /** Absent until the API server has it. */
  event?: { readonly name: string; readonly uid: string };
}

export function createEventRecorder(options: RecorderOptions): StoppableRecorder {
  const { monotonic, observe } = options;
  const known = recentlyUsed<Series>(seriesRemembered);
  const limitOf = createEventLimits(monotonic);
  const queue = new Set<Series>();
  const stop = new AbortController();
  let working: Promise<void> | undefined;

  const enqueue = (series: Series): boolean => {
    if (queue.has(series)) return true;
    const why = queue.size >= maxQueueLength ? "full" : limitOf(series);
    if (why !== undefined) {
      observe?.({ kind: "dropped", why });
      return false;
    }
    queue.add(series);
    working ??= work();
    return true;
  };

  const work = async (): Promise<void> => {
    // A moment later, so that `emit` returns before anything is sent.
    await Promise.resolve();
    for (const series of queue) {
      queue.delete(series);
      await write(options, series, stop.signal);
    }
    // In the same step as the end of the loop: nothing can be put into the queue in between.
    working = undefined;
  };

  return {
    emit(subject, note) {
      if (stop.signal.aborted) {
        observe?.({ kind: "dropped", why: "stopped" });
        return;
      }
      const now = monotonic();
      const key = JSON.stringify([subject.kind, subject.namespace, subject.name, subject.uid, note]);
      const before = known.get(key);
      if (before !== undefined && now - before.lastSeenMs < seriesMs) {
        before.count += 1;
        before.lastSeenMs = now;
        if (now - before.writtenMs >= countEveryMs && enqueue(before)) before.writtenMs = now;
        return;
      }
      const series: Series = { subject, note, count: 1, lastSeenMs: now, writtenMs: now };
      if (enqueue(series)) known.set(key, series);
    },
    async stop() {
      stop.abort();
      for (const _ of queue) observe?.({ kind: "dropped", why: "stopped" });
      queue.clear();
      await working;
    },
  };
}

/**
 * As Kubernetes' own components do it: a burst of twenty-five about one object, then one in five
 * minutes.
 */
const perObject = { burst: 25, perSecond: 1 / 300 };
const objectsRemembered = 4_096;
/** Normal Events about all objects: when thousands become ready at once, their statuses say so. */
const allNormal = { burst: 500, perSecond: 5 };

/**
 * The limit that one more Event would exceed. Warnings have limits of their own, so that Normal
 * ones never use up theirs.
 */
function createEventLimits(monotonic: Monotonic): (event: Series) => "limit" | "rate" | undefined {
  const buckets = recentlyUsed<TokenBucket>(objectsRemembered);
  const normal = new TokenBucket(allNormal, monotonic);
  return ({ subject: { kind, namespace, name, uid }, note }) => {
    const key = [note.type, kind, namespace, name, uid].join("/");
    const bucket = buckets.get(key) ?? new TokenBucket(perObject, monotonic);
    buckets.set(key, bucket);
    if (bucket.take() === 0) return "limit";
    return note.type === "Warning" || normal.take() === 1 ? undefined : "rate";
  };
}

/** Never rejects. */
async function write(options: RecorderOptions, series: Series, signal: AbortSignal): Promise<void> {
  const { timers, random, observe } = options;
  const backoff = new Backoff(retries, random);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send(options, series, signal);
      observe?.({ kind: "written" });
      return;
    } catch (error) {
      const isLast = attempt === attempts || !isPassing(error);
      if (!isLast && (await pauseUnlessAborted(timers, backoff.next(retryAfterMsOf(error)), signal))) continue;
      observe?.({ kind: "dropped", why: signal.aborted ? "stopped" : "failed", error });
      return;
    }
  }
}

/**
 * Otherwise it would be refused again: the namespace is going, the right is missing, or this is not
 * the leader.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiUnreachable) return true;
  return error instanceof ApiFailure && (error.status === 429 || error.status >= 500);
}

async function send(options: RecorderOptions, series: Series, signal: AbortSignal): Promise<void> {
  const { api, clock, random } = options;
  const { namespace } = series.subject;
  const now = clock.now();
  if (series.event !== undefined) {
    const counted = { series: { count: series.count, lastObservedTime: microTime(now) } };
    try {
      await api.apply(eventType, eventWith({ namespace, ...series.event }, counted), { signal });
      return;
    } catch (error) {
      // Events live for an hour: this one is gone, and is written again.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
  const suffix = `${now.toString(16)}${Math.floor(random() * 2 ** 32).toString(16)}`;
  const stem = series.subject.name.slice(0, maxStemLength).replace(/[^a-z0-9]+$/, "");
  const body = eventWith({ namespace, name: `${stem}.${suffix}` }, newEvent(series, options.instance, now));
  const { metadata } = await api.create(eventType, body, { signal });
  series.event = { name: metadata.name, uid: metadata.uid };
}

/** Names have 253 characters at most, and so has the object's. */
const maxStemLength = 200;
const maxInstanceLength = 128;
const maxNoteBytes = 1024;

function eventWith(metadata: JsonObject, members: JsonObject): JsonObject {
  return { apiVersion: `${eventType.group}/${eventType.version}`, kind: eventType.kind, metadata, ...members };
}

function newEvent(
  { subject, note: { type, reason, action, note } }: Series,
  instance: string,
  now: number,
): JsonObject {
  const { kind, namespace, name, uid } = subject;
  return {
    eventTime: microTime(now),
    reportingController: `${group}/operator`,
    reportingInstance: instance.slice(0, maxInstanceLength),
    ...{ type, reason, action, note: withinBytes(printable(note), maxNoteBytes) },
    regarding: { apiVersion, kind, namespace, name, uid },
  };
}

/** Cut between characters: half of one would be refused. */
function withinBytes(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= bytes) return text;
  const room = encoded.subarray(0, bytes - "…".length * 3);
  return `${new TextDecoder().decode(room).replace(/\uFFFD+$/, "")}…`;
}
