// What keeps configuration from being written right now, for the gauges that alerts go by: a
// counter of failures says for minutes what is over.

import { FleetRingUnusable } from "../keyring/ring-secret.ts";

export interface PublishHealth {
  /** A key was worked through; `writeFailed` = its configuration couldn't be written to Redis. */
  processed(key: string, writeFailed: boolean): void;
  /**
   * Does work that reads the Secret of the fleet's key ring, and remembers whether it could be
   * used.
   */
  withKeyRing<T>(work: () => Promise<T>): Promise<T>;
  /** Projects whose configuration couldn't be written when it was tried last. */
  projectsWithFailedWrites(): number;
  isKeyRingUsable(): boolean;
}

export function createPublishHealth(): PublishHealth {
  const failedKeys = new Set<string>();
  let keyRingUsable = true;
  return {
    processed(key, writeFailed) {
      if (writeFailed) failedKeys.add(key);
      else failedKeys.delete(key);
    },
    async withKeyRing(work) {
      try {
        const done = await work();
        keyRingUsable = true;
        return done;
      } catch (error) {
        if (error instanceof FleetRingUnusable) keyRingUsable = false;
        throw error;
      }
    },
    projectsWithFailedWrites: () => failedKeys.size,
    isKeyRingUsable: () => keyRingUsable,
  };
}
