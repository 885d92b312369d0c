// Counts in the store, so that limits hold for all replicas together. Falls back to counting per replica while the store refuses writes,
// or the server of a Cluster that has the count. If the store is unreachable, its error is thrown.

import type { Clock } from "../../core/clock.ts";
import { WritesRefused } from "../../core/errors/store-errors.ts";
import { createMemoryBuckets } from "../store/memory-buckets.ts";
import type { Budget, Counters, SpendOutcome, TokenBuckets } from "../store/ports/limits.ts";

export interface LocalBuckets extends TokenBuckets {
  /** Locally a bucket that holds the budget and fills within its window. */
  spend(budget: Budget): Promise<SpendOutcome>;
}

export function withLocalFallback(store: TokenBuckets & Pick<Counters, "spend">, clock: Clock): LocalBuckets {
  const local = createMemoryBuckets(clock);
  return {
    drawTokens: (bucket, wanted) =>
      whileRefused(store.drawTokens(bucket, wanted), () => local.drawTokens(bucket, wanted)),
    spend: (budget) =>
      whileRefused(store.spend([budget]), async () => {
        const { name, limit, windowSeconds } = budget;
        const draw = await local.drawTokens({ name, perSecond: limit / windowSeconds, burst: limit }, 1);
        if (draw.taken === 1) return { outcome: "spent" };
        return { outcome: "exhausted", retryAfterSeconds: Math.ceil(draw.waitMs / 1_000) };
      }),
  };
}

async function whileRefused<T>(shared: Promise<T>, local: () => Promise<T>): Promise<T> {
  try {
    return await shared;
  } catch (error) {
    if (!(error instanceof WritesRefused)) throw error;
    return local();
  }
}
