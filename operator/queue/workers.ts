// Works on several keys of the queue concurrently. Whatever a handler does, its worker goes on: an
// error is reported and the key comes again. A handler that takes long is reported and waited for.
// It is not aborted: every call that it makes has a limit of its own, so that it ends; what it has
// published its statuses have to say; and the next attempt would take as long.

import type { Monotonic, Timers } from "../../core/timers.ts";
import type { Stage } from "./lanes.ts";
import type { WorkQueue } from "./work-queue.ts";

/** A handler that takes longer is reported. */
const overdueMs = 30_000;

/**
 * Undefined = all is done; `requeue: "backoff"` = to be retried after a backoff, without being a
 * failure; `requeue: "report"` = served, and its statuses are still to be reported: only then is
 * its next backoff the shortest again.
 */
export type WorkResult =
  | { readonly requeueAfterMs?: number; readonly requeue?: "report" }
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
  /** It takes longer than its time, and goes on. */
  | { readonly kind: "overdue"; readonly key: string };

export interface WorkersOptions {
  readonly queue: WorkQueue;
  /** What these workers do; default: they serve. */
  readonly stage?: Stage;
  readonly workers: number;
  /** Gets `signal`; when it aborts, a handler ends as soon as it can. */
  readonly handle: (key: string, signal: AbortSignal) => Promise<WorkResult>;
  /** Aborted when nothing may go on: leadership is lost. */
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  readonly observe?: (observation: WorkObservation) => void;
}

/** Resolves when the queue is stopped and every worker has ended. Never rejects. */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  await Promise.all(Array.from({ length: options.workers }, () => work(options)));
}

async function work(options: WorkersOptions): Promise<void> {
  const { queue, stage } = options;
  for (let key = await queue.take(stage); key !== undefined; key = await queue.take(stage)) {
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
    const isDone = requeue(key, await runHandler(key, options), queue);
    observe?.({ kind: "ended", key, result: isDone ? "success" : "requeue_after", seconds: seconds() });
  } catch (error) {
    queue.retry(key);
    const result = options.signal.aborted ? "abandoned" : "error";
    observe?.({ kind: "ended", key, result, seconds: seconds(), error });
  }
}

/** True when the key need not be retried. */
function requeue(key: string, result: WorkResult, queue: WorkQueue): boolean {
  if (result?.requeue === "backoff") {
    queue.retry(key);
    return false;
  }
  if (result?.requeue === "report") queue.report(key);
  else queue.forget(key);
  const { requeueAfterMs } = result ?? {};
  if (requeueAfterMs !== undefined) queue.addAfter(key, requeueAfterMs);
  return requeueAfterMs === undefined;
}

async function runHandler(key: string, options: WorkersOptions): Promise<WorkResult> {
  const { handle, signal, timers, observe } = options;
  const stopTimer = timers.after(overdueMs, () => observe?.({ kind: "overdue", key }));
  try {
    return await handle(key, signal);
  } finally {
    stopTimer();
  }
}
