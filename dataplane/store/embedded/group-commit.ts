// Runs the writes of a group in one transaction, for one sync of the disk. Tells of each whether it took place, did not, or
// nobody knows; some may be left over for the next group.

import type { DatabaseSync } from "node:sqlite";
import { meaningOf, withoutEffect, withUnknownEffect } from "./failures.ts";

export interface Job {
  readonly operation: string;
  /** By performance.now(). */
  readonly started: number;
  /** Changes tables and nothing else: after a rollback it runs again. */
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupOutcome {
  readonly done: readonly { readonly job: Job; readonly result: unknown }[];
  readonly failed: readonly { readonly job: Job; readonly error: unknown }[];
  readonly left: readonly Job[];
  /** What went wrong, when something did. */
  readonly failure?: unknown;
}

/** A group ends after this long, so that the event loop serves others in between. */
const groupMilliseconds = 8;

/** `onRollback`: what memory holds of the tables may be wrong now. */
export function createGroupCommit(
  database: DatabaseSync,
  onRollback: () => void,
): (jobs: readonly Job[]) => GroupOutcome {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");

  function rollBack(): void {
    onRollback();
    try {
      if (database.isTransaction) rollback.run();
    } catch (error) {
      // The group is refused already; while this transaction stays open, so is every later one.
      if (meaningOf(error) === undefined) throw error;
    }
  }

  return (jobs) => {
    const done: { readonly job: Job; readonly result: unknown }[] = [];
    try {
      begin.run();
      const end = performance.now() + groupMilliseconds;
      for (const job of jobs) {
        if (done.length > 0 && performance.now() >= end) break;
        done.push({ job, result: job.run() });
      }
    } catch (failure) {
      rollBack();
      return refused(jobs, jobs[done.length], failure);
    }
    const left = jobs.slice(done.length);
    try {
      commit.run();
      return { done, failed: [], left };
    } catch (failure) {
      rollBack();
      const error = withUnknownEffect(failure);
      return { done: [], failed: done.map(({ job }) => ({ job, error })), left, failure };
    }
  };
}

/** A failing disk refuses the whole group; a defect of one job takes that job out, and the others run again. */
function refused(jobs: readonly Job[], culprit: Job | undefined, failure: unknown): GroupOutcome {
  if (culprit !== undefined && meaningOf(failure) === undefined) {
    const left = jobs.filter((job) => job !== culprit);
    return { done: [], failed: [{ job: culprit, error: failure }], left, failure };
  }
  const error = withoutEffect(failure);
  return { done: [], failed: jobs.map((job) => ({ job, error })), left: [], failure };
}
