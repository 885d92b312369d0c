// Buckets of the store, and of this replica alone while the store answers and takes no writes: what can still be served is served
// within the rates, of each replica instead of all. When the store can't be reached it raises as before.

import type { Clock } from "../../core/clock.ts";
import { WritesRefused } from "../../core/errors/store-errors.ts";
import { createMemoryBuckets } from "../store/memory-buckets.ts";
import type { BucketStore } from "../store/port.ts";

export function withLocalBuckets(store: BucketStore, clock: Clock): BucketStore {
  const local = createMemoryBuckets(clock);
  return {
    async drawTokens(bucket, wanted) {
      try {
        return await store.drawTokens(bucket, wanted);
      } catch (error) {
        if (!(error instanceof WritesRefused)) throw error;
        return local.drawTokens(bucket, wanted);
      }
    },
  };
}
