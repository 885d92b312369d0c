// A lock on an object or a value for requests of one replica that read it, decide, and then write.
// Without it each write makes all others repeat their compare-and-set: 64 increments of one object
// took 280 writes, and with a large value they time out. Refuses with 503 `write_conflict` a
// request that waited too long.

import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { writeConflict } from "./steps.ts";

export interface WriteLock {
  /** Runs `work` under the lock of an object or value of this path. In order of arrival. */
  withLock<T>(what: "object" | "value", path: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** Longest wait for the lock. Waiting requests keep their slot and delay only their project. */
export const maxLockWaitMs = 5_000;

export function createWriteLock(now: () => number = () => performance.now()): WriteLock {
  const mutex = createKeyedMutex();
  return {
    withLock(what, path, work) {
      const since = now();
      return mutex.run(JSON.stringify([what, ...path]), () => {
        if (now() - since > maxLockWaitMs) throw writeConflict(what);
        return work();
      });
    },
  };
}
