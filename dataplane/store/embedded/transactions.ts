// Runs reads immediately, and writes in groups: all writes that arrive while the event loop is busy
// share one transaction and one sync of the disk, and are acknowledged after it. A read never sees
// a write before it is acknowledged. Refuses everything after close.

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreUnavailable, WritesRefused } from "../../../core/errors/store-errors.ts";
import { meaningOf, withoutEffect, withUnknownEffect } from "./failures.ts";

export interface Transactions {
  read<T>(work: () => T): Promise<T>;
  /** When `work` throws, what it changed is undone; other writes of its group stay. */
  write<T>(work: () => T): Promise<T>;
  /** Whether the last call reached the file. */
  isReachable(): boolean;
  /** Lets the writes under way end, and refuses later calls. May be called again. */
  close(): Promise<void>;
}

interface Job {
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A group ends after this long, so that the event loop serves others in between. */
const groupMilliseconds = 8;

/** `onRollback`: what memory holds of the tables may be wrong now. */
export function createTransactions(database: DatabaseSync, onRollback: () => void): Transactions {
  const statements = prepare(database);
  const requireInPlace = inPlaceCheck(database.location());
  let queue: readonly Job[] = [];
  let arrived: Job[] = [];
  let isClosed = false;
  let isReachable = true;
  let onIdle: (() => void) | undefined;
  let closing: Promise<void> | undefined;

  /** Runs the job; returns what settles it after the commit. Throws on a fault of file or disk. */
  function run(job: Job): () => void {
    statements.savepoint.run();
    try {
      const result = job.run();
      statements.release.run();
      return () => job.resolve(result);
    } catch (failure) {
      // Without a transaction only the entire group can be undone: SQLite ends it by itself on some
      // failures.
      if (meaningOf(failure) !== undefined || !database.isTransaction) throw failure;
      onRollback();
      statements.undo.run();
      statements.release.run();
      return () => job.reject(failure);
    }
  }

  function rollBack(): void {
    onRollback();
    try {
      if (database.isTransaction) statements.rollback.run();
    } catch (error) {
      // The group is refused already; while this transaction stays open, so is every later one.
      if (meaningOf(error) === undefined) throw error;
    }
  }

  /** Commits as many of the jobs as the group's time allows. Returns how many. */
  function commitGroup(jobs: readonly Job[]): number {
    const completions: (() => void)[] = [];
    try {
      statements.begin.run();
      const deadline = performance.now() + groupMilliseconds;
      for (const job of jobs) {
        if (completions.length > 0 && performance.now() >= deadline) break;
        completions.push(run(job));
      }
      requireInPlace();
    } catch (failure) {
      rollBack();
      return refuse(jobs, failure, withoutEffect(failure));
    }
    try {
      statements.commit.run();
    } catch (failure) {
      rollBack();
      return refuse(jobs.slice(0, completions.length), failure, withUnknownEffect(failure));
    }
    isReachable = true;
    for (const complete of completions) complete();
    return completions.length;
  }

  function refuse(jobs: readonly Job[], failure: unknown, error: unknown): number {
    isReachable = meaningOf(failure) === undefined;
    for (const job of jobs) job.reject(error);
    return jobs.length;
  }

  function flush(): void {
    const jobs = queue.length === 0 ? arrived : [...queue, ...arrived];
    arrived = [];
    queue = jobs.slice(commitGroup(jobs));
    if (queue.length > 0 || arrived.length > 0) setImmediate(flush);
    else onIdle?.();
  }

  async function writesEnded(): Promise<void> {
    if (queue.length > 0 || arrived.length > 0) await new Promise<void>((resolve) => (onIdle = resolve));
  }

  return {
    async read(work) {
      if (isClosed) throw closed();
      try {
        const result = work();
        isReachable = true;
        return result;
      } catch (failure) {
        isReachable = meaningOf(failure) === undefined;
        throw withoutEffect(failure);
      }
    },
    write<T>(work: () => T): Promise<T> {
      if (isClosed) return Promise.reject(closed());
      return new Promise<T>((resolve, reject) => {
        if (queue.length === 0 && arrived.length === 0) setImmediate(flush);
        arrived.push({ run: work, resolve: resolve as (result: unknown) => void, reject });
      });
    },
    isReachable: () => isReachable && !isClosed,
    close() {
      isClosed = true;
      closing ??= writesEnded();
      return closing;
    },
  };
}

/**
 * Throws once the file at this path is not the open one: SQLite would write into a deleted file.
 */
function inPlaceCheck(file: string | null): () => void {
  if (file === null) return () => undefined;
  const opened = statSync(file, { bigint: true });
  return () => {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (found?.ino !== opened.ino || found.dev !== opened.dev)
      throw new WritesRefused("The database file was removed or replaced");
  };
}

function prepare(database: DatabaseSync) {
  return {
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
    rollback: database.prepare("ROLLBACK"),
    savepoint: database.prepare("SAVEPOINT one"),
    undo: database.prepare("ROLLBACK TO one"),
    release: database.prepare("RELEASE one"),
  };
}

function closed(): StoreUnavailable {
  return new StoreUnavailable("The store is closed");
}
