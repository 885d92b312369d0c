// A lock on a value, for the requests of one replica that read it, decide and then set it; it is acquired in the order of arrival. Without
// it each write makes all others that have read repeat their compare-and-set, and with a large value they time out. Refuses with 503
// `write_conflict` a request that waited too long.

import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { writeConflict } from "../operation/steps.ts";

export interface DocumentLock {
  /**
   * Carries out `work` while it holds the lock of the value at `path`: project, root key, and the path below it. Those who came before go
   * first.
   */
  hold<T>(path: readonly string[], work: () => Promise<T>): Promise<T>;
}

/**
 * For the lock, so that waiting for it is bounded in time too: each one before takes the budget of write-conflicts.ts at most. Until
 * then a request has its part of its own project's share; no other project's requests wait for it.
 */
export const maxLockWaitMs = 5_000;

export function createDocumentLock(now: () => number = () => performance.now()): DocumentLock {
  const mutex = createKeyedMutex();
  return {
    hold(path, work) {
      const since = now();
      return mutex.run(JSON.stringify(path), async () => {
        if (now() - since > maxLockWaitMs) throw writeConflict("value");
        return work();
      });
    },
  };
}
