// A lock on a value for requests of one replica that read it, decide, and then write. Without it
// each write makes all others repeat their compare-and-set, and with a large value they time out.
// Refuses with 503 `write_conflict` a request that waited too long.

import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { writeConflict } from "../operation/steps.ts";

export interface DocumentLock {
  /** Runs `work` under the lock of a value: project, root key and path. In order of arrival. */
  withLock<T>(path: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** Longest wait for the lock. Waiting requests keep their slot and delay only their project. */
export const maxLockWaitMs = 5_000;

export function createDocumentLock(now: () => number = () => performance.now()): DocumentLock {
  const mutex = createKeyedMutex();
  return {
    withLock(path, work) {
      const since = now();
      return mutex.run(JSON.stringify(path), async () => {
        if (now() - since > maxLockWaitMs) throw writeConflict("value");
        return work();
      });
    },
  };
}
