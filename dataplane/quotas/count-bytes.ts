// Counts the bytes of collections that are older than their quota, in the background and in small
// steps. Replicas share the work: each step continues where the last one ended.

import { pause, systemTimers } from "../../core/timers.ts";
import { type CollectionRef, nameOfCollection } from "../store/ports/refs.ts";
import type { ByteCounts } from "../store/ports/sizes.ts";

/** Pause between two steps: requests come first. */
const pauseMs = 2;

interface ByteCounter {
  start(collection: CollectionRef): void;
  /** Ends the work and waits for the steps under way. */
  close(): Promise<void>;
}

export function createByteCounter(store: ByteCounts): ByteCounter {
  const running = new Map<string, Promise<void>>();
  let isClosed = false;

  const count = async (collection: CollectionRef): Promise<void> => {
    while (!isClosed && (await store.countBytes(collection)) === "more") await pause(systemTimers, pauseMs);
  };

  return {
    start(collection) {
      const name = nameOfCollection(collection);
      if (isClosed || running.has(name)) return;
      // The next reading of amounts begins it again.
      const work = count(collection).catch(() => undefined);
      running.set(
        name,
        work.finally(() => running.delete(name)),
      );
    },
    async close() {
      isClosed = true;
      await Promise.all(running.values());
    },
  };
}
