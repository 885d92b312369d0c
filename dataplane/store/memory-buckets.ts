// Token buckets in memory: for a store that one process has, and for a replica whose store refuses
// writes. After a restart they are full.

import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { TokenBucket } from "../../core/token-bucket.ts";
import type { TokenBuckets } from "./ports/limits.ts";

/** Beyond these the least recently used one is dropped; it is full when it is needed again. */
const maxBuckets = 20_000;

export function createMemoryBuckets(clock: Clock): TokenBuckets {
  const buckets = recentlyUsed<TokenBucket>(maxBuckets);
  return {
    async drawTokens({ name, perSecond, burst }, wanted) {
      const rate = { perSecond, burst };
      // User names and addresses stay out of memory dumps.
      const hashed = createHash("sha256").update(name).digest("base64");
      const bucket = buckets.get(hashed) ?? new TokenBucket(rate, () => clock.monotonic());
      buckets.set(hashed, bucket);
      const taken = bucket.take(wanted, rate);
      return { taken, left: bucket.left, waitMs: bucket.waitMs };
    },
  };
}
