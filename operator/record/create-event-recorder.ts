// Writes Events one after the other, and never makes anyone wait for that. Repetitions are counted in the Event that is there;
// what is too much, can't be written, or comes while too many wait, is dropped and counted.

import { Backoff } from "../../core/backoff.ts";
import type { Clock } from "../../core/clock.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { type Monotonic, pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import { TokenBucket } from "../../core/token-bucket.ts";
import { ApiFailure, ApiUnreachable, isConflict, isNotFound, type KubeApi, retryAfterMsOf } from "../kube/api.ts";
import { eventType } from "../kube/resource-types.ts";
import type { Subject } from "../model/verdict.ts";
import { countedEvent, newEvent } from "./event-body.ts";
import type { EventNote, EventRecorder } from "./event-recorder.ts";

export type RecordObservation =
  | { readonly kind: "written" }
  /**
   * `limit` = too many about one object, `rate` = too many Normal ones about all, `full` = too many wait, `failed` = the API server did not take
   * it, `stopped`.
   */
  | { readonly kind: "dropped"; readonly why: DropReason; readonly error?: unknown };

export type DropReason = "limit" | "rate" | "full" | "failed" | "stopped";

export interface RecorderOptions {
  /** One that writes for the leader only. */
  readonly api: Pick<KubeApi, "create" | "apply">;
  readonly instance: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly timers: Timers;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly observe?: (observation: RecordObservation) => void;
}

export interface StoppableRecorder extends EventRecorder {
  /** Drops what waits; resolves when the call under way has ended. */
  stop(): Promise<void>;
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
  const limits = createEventLimits(monotonic);
  const queue = new Set<Series>();
  const stop = new AbortController();
  let working: Promise<void> | undefined;

  const enqueue = (series: Series): boolean => {
    if (queue.has(series)) return true;
    const why = queue.size >= maxQueueLength ? "full" : limits.exceeded(series);
    if (why !== undefined) {
      observe?.({ kind: "dropped", why });
      return false;
    }
    queue.add(series);
    working ??= work();
    return true;
  };

  const work = async (): Promise<void> => {
    // A moment later, so that `record` returns before anything is sent.
    await Promise.resolve();
    for (const series of queue) {
      queue.delete(series);
      await write(options, series, stop.signal);
    }
    // In the same step as the end of the loop: nothing can be put into the queue in between.
    working = undefined;
  };

  return {
    record(subject, note) {
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

/** Never rejects. */
async function write(options: RecorderOptions, series: Series, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(retries, options.random);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send(options, series, signal);
      options.observe?.({ kind: "written" });
      return;
    } catch (error) {
      const isLast = attempt === attempts || !isPassing(error);
      if (!isLast && (await pauseUnlessAborted(options.timers, backoff.next(retryAfterMsOf(error)), signal))) continue;
      options.observe?.({ kind: "dropped", why: signal.aborted ? "stopped" : "failed", error });
      return;
    }
  }
}

async function send(options: RecorderOptions, series: Series, signal: AbortSignal): Promise<void> {
  const { api, clock, instance, random } = options;
  const { subject, note, count, event } = series;
  const { namespace } = subject;
  const now = clock.now();
  if (event !== undefined) {
    try {
      await api.apply(eventType, countedEvent({ namespace, ...event, count, now }), { signal });
      return;
    } catch (error) {
      // Events live for an hour: this one is gone, and is written again.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
  const suffix = `${now.toString(16)}${Math.floor(random() * 2 ** 32).toString(16)}`;
  const made = await api.create(eventType, newEvent({ subject, note, instance, suffix, now }), { signal });
  series.event = { name: made.metadata.name, uid: made.metadata.uid };
}

/** Otherwise it would be refused again: the namespace is going, the right is missing, this is not the leader. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiUnreachable) return true;
  return error instanceof ApiFailure && (error.status === 429 || error.status >= 500);
}

/**
 * As Kubernetes' own components hold it: a burst of twenty-five of one object, then one in five minutes. Warnings have a bucket of their own, so
 * that Normal Events, even those that are left out, never use up theirs.
 */
const perObject = { burst: 25, perSecond: 1 / 300 };
/** A forgotten one begins again. */
const objectsRemembered = 4_096;
/** Normal Events about all objects together. When thousands become ready at once, their statuses say so, and Events are left out. */
const allNormal = { burst: 100, perSecond: 1 };
/** What happens to each new object leaves the others their room: that data were deleted, or a key was rotated, is told nowhere else. */
const ofNewObjects: ReadonlySet<string> = new Set([
  "Ready",
  "WaitingForReplicas",
  "CredentialMinted",
  "SigningKeyAdded",
]);

interface EventLimits {
  /** The limit that one more Event would exceed; undefined = it may be written. */
  exceeded(event: Pick<Series, "subject" | "note">): "limit" | "rate" | undefined;
}

function createEventLimits(monotonic: Monotonic): EventLimits {
  const buckets = recentlyUsed<TokenBucket>(objectsRemembered);
  const ofNew = new TokenBucket(allNormal, monotonic);
  const others = new TokenBucket(allNormal, monotonic);
  return {
    exceeded({ subject: { kind, namespace, name, uid }, note }) {
      const key = [note.type, kind, namespace, name, uid].join("/");
      const bucket = buckets.get(key) ?? new TokenBucket(perObject, monotonic);
      buckets.set(key, bucket);
      if (bucket.take() === 0) return "limit";
      if (note.type !== "Normal") return undefined;
      return (ofNewObjects.has(note.reason) ? ofNew : others).take() === 1 ? undefined : "rate";
    },
  };
}
