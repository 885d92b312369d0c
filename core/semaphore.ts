// A semaphore for costly work: `concurrency` permits, and a limited number of callers that wait for
// one. Permits go round the keys that wait, so a key that asks for much waits behind itself. While
// the waiting room is full, the key with the most callers in it gives one place up to another key.

import { FairQueue } from "./fair-queue.ts";

export interface Semaphore {
  /** Resolves with a permit in this key's turn. Throws `refusal()` when too many wait. */
  acquire(key: string): Promise<void>;
  /** Returns a permit. */
  release(): void;
}

export interface SemaphoreState {
  readonly running: number;
  readonly waiting: number;
}

export interface SemaphoreOptions {
  readonly concurrency: number;
  /** For all keys together. */
  readonly maxWaiting: number;
  readonly refusal: () => Error;
  readonly observe?: (state: SemaphoreState) => void;
}

/** One in which any number of callers may wait. */
export function unboundedSemaphore(concurrency: number): Semaphore {
  const refusal = () => new Error("Any number may wait");
  return createSemaphore({ concurrency, maxWaiting: Number.POSITIVE_INFINITY, refusal });
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createSemaphore({ concurrency, maxWaiting, refusal, observe }: SemaphoreOptions): Semaphore {
  const queue = new FairQueue<Waiting>();
  let running = 0;
  const report = (): void => observe?.({ running, waiting: queue.size });

  const makeRoomFor = (key: string): void => {
    const largest = queue.largest();
    // One more or less is no reason to refuse somebody who waits.
    if (largest === undefined || queue.sizeOf(largest.group) <= queue.sizeOf(key) + 1) throw refusal();
    queue.remove(largest.last);
    largest.last.reject(refusal());
  };

  return {
    async acquire(key) {
      if (running < concurrency) {
        running += 1;
        report();
        return;
      }
      if (queue.size >= maxWaiting) makeRoomFor(key);
      await new Promise<void>((resolve, reject) => {
        queue.add({ resolve, reject }, key);
        report();
      });
    },
    release() {
      const next = queue.shift();
      // The permit is passed on, so that nobody who comes now overtakes those who wait.
      if (next === undefined) running -= 1;
      else next.resolve();
      report();
    },
  };
}
