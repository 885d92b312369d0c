// Works on a number of keys of the queue at once. A worker outlives whatever its handler does: an error is reported and the key is
// retried; a handler that takes too long is aborted by its signal, reported, and still waited for, because a key never runs twice at once.

import type { Monotonic, Timers } from "../../core/timers.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Undefined = all is done; `requeue: "backoff"` = to be retried after a backoff, without being a failure. */
export type WorkResult =
  | { readonly requeueAfterMs?: number; readonly requeue?: undefined }
  | { readonly requeue: "backoff" }
  | undefined;

export type WorkObservation =
  | { readonly kind: "started" }
  | {
      readonly kind: "ended";
      readonly key: string;
      /** `abandoned` = it failed after the parent signal was aborted. */
      readonly result: "success" | "requeue_after" | "error" | "abandoned";
      readonly seconds: number;
      readonly error?: unknown;
    }
  /** It took longer than its time, and its signal was aborted. */
  | { readonly kind: "overdue"; readonly key: string };

export interface WorkersOptions {
  readonly queue: WorkQueue;
  readonly workers: number;
  /** The signal aborts when the handler's time is over, or with the parent signal; a handler then ends as soon as it can. */
  readonly handle: (key: string, signal: AbortSignal) => Promise<WorkResult>;
  /** 30 s by default. */
  readonly timeoutMs?: number;
  /** The parent of all handlers' signals: aborted when leadership is lost. */
  readonly signal?: AbortSignal;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  readonly observe?: (observation: WorkObservation) => void;
}

/** A key was worked on for too long. */
export class WorkOverdue extends Error {
  override readonly name = "WorkOverdue";
}

/** Resolves when the queue is stopped and every worker has ended. Never rejects. */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  await Promise.all(Array.from({ length: options.workers }, () => work(options)));
}

async function work(options: WorkersOptions): Promise<void> {
  const { queue } = options;
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    try {
      await workOn(key, options);
    } finally {
      queue.done(key);
    }
  }
}

async function workOn(key: string, options: WorkersOptions): Promise<void> {
  const { queue, monotonic, observe } = options;
  const since = monotonic();
  const seconds = (): number => (monotonic() - since) / 1000;
  observe?.({ kind: "started" });
  try {
    const isDone = requeue(key, await withTimeout(key, options), queue);
    observe?.({ kind: "ended", key, result: isDone ? "success" : "requeue_after", seconds: seconds() });
  } catch (error) {
    queue.retry(key);
    const result = options.signal?.aborted ? "abandoned" : "error";
    observe?.({ kind: "ended", key, result, seconds: seconds(), error });
  }
}

/** True when the key need not be retried. */
function requeue(key: string, result: WorkResult, queue: WorkQueue): boolean {
  if (result?.requeue === "backoff") {
    queue.retry(key);
    return false;
  }
  queue.forget(key);
  const { requeueAfterMs } = result ?? {};
  if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
  return requeueAfterMs === undefined;
}

async function withTimeout(key: string, options: WorkersOptions): Promise<WorkResult> {
  const { handle, timeoutMs = 30_000, signal: parentSignal, timers, observe } = options;
  const end = new AbortController();
  // Linked by hand: a signal of AbortSignal.any that has had a listener stays in memory as long as its long-lived source.
  const abort = (): void => end.abort(parentSignal?.reason);
  parentSignal?.addEventListener("abort", abort);
  if (parentSignal?.aborted) abort();
  const stopTimer = timers.after(timeoutMs, () => {
    observe?.({ kind: "overdue", key });
    end.abort(new WorkOverdue(`${key} was not done within ${timeoutMs / 1000} s`));
  });
  try {
    return await handle(key, end.signal);
  } finally {
    stopTimer();
    parentSignal?.removeEventListener("abort", abort);
  }
}
