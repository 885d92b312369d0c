// Runs reads at once and writes in groups: all writes that arrive while the event loop is busy share one transaction and are
// acknowledged after it. A read never sees a write before it is acknowledged. Refuses everything after close.

import type { DatabaseSync } from "node:sqlite";
import { OutcomeUnknown, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import type { StoreObservation } from "../port.ts";
import { meaningOf, withoutEffect } from "./failures.ts";
import { createGroupCommit, type Job } from "./group-commit.ts";

export interface Transactions {
  read<T>(operation: string, work: () => T): Promise<T>;
  /** `work` changes tables and nothing else: when a neighbour in its group fails, it is undone and runs again. */
  write<T>(operation: string, work: () => T): Promise<T>;
  /** Whether the last call reached the file. */
  isReachable(): boolean;
  /** Lets the writes under way end; every later call is refused. */
  close(): Promise<void>;
}

export interface TransactionHooks {
  readonly observe: (observation: StoreObservation) => void;
  /** What memory holds of the tables may be wrong now. */
  readonly onRollback: () => void;
}

export function createTransactions(database: DatabaseSync, hooks: TransactionHooks): Transactions {
  const commitGroup = createGroupCommit(database, hooks.onRollback);
  let queue: readonly Job[] = [];
  let arrived: Job[] = [];
  let isClosed = false;
  let isReachable = true;
  let onIdle: (() => void) | undefined;

  function observe(operation: string, started: number, error?: unknown): void {
    hooks.observe({ operation, seconds: (performance.now() - started) / 1_000, outcome: outcomeOf(error) });
  }

  function noteFailure(failure: unknown): void {
    isReachable = failure === undefined || meaningOf(failure) === undefined;
  }

  function read<T>(operation: string, work: () => T): Promise<T> {
    const started = performance.now();
    try {
      if (isClosed) throw closed();
      const result = work();
      isReachable = true;
      observe(operation, started);
      return Promise.resolve(result);
    } catch (failure) {
      noteFailure(failure);
      const error = withoutEffect(failure);
      observe(operation, started, error);
      return Promise.reject(error);
    }
  }

  function write<T>(operation: string, work: () => T): Promise<T> {
    if (isClosed) return Promise.reject(closed());
    return new Promise<T>((resolve, reject) => {
      if (queue.length === 0 && arrived.length === 0) setImmediate(flush);
      const started = performance.now();
      arrived.push({ operation, started, run: work, resolve: (result) => resolve(result as T), reject });
    });
  }

  function flush(): void {
    const jobs = queue.length === 0 ? arrived : [...queue, ...arrived];
    arrived = [];
    const { done, failed, left, failure } = commitGroup(jobs);
    queue = left;
    noteFailure(failure);
    for (const { job, result } of done) {
      observe(job.operation, job.started);
      job.resolve(result);
    }
    for (const { job, error } of failed) {
      observe(job.operation, job.started, error);
      job.reject(error);
    }
    if (queue.length > 0 || arrived.length > 0) setImmediate(flush);
    else onIdle?.();
  }

  return {
    read,
    write,
    isReachable: () => isReachable && !isClosed,
    async close() {
      isClosed = true;
      if (queue.length > 0 || arrived.length > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}

function closed(): StoreUnavailable {
  return new StoreUnavailable("The store is closed");
}

function outcomeOf(error: unknown): StoreObservation["outcome"] {
  if (error === undefined) return "ok";
  if (error instanceof StoreUnavailable) return "unavailable";
  return error instanceof OutcomeUnknown ? "unknown" : "error";
}
