// Token buckets in memory, for a store that one process holds, and for a replica whose store takes no writes for now. A restart
// begins with full buckets.

import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { TokenBucket, TokenBuckets } from "./ports/limits.ts";

interface State {
  tokens: number;
  /** When it was filled last, in milliseconds of the monotonic clock. */
  at: number;
}

/** Buckets that are kept; one that was used longest ago begins anew, full. */
const maxBuckets = 20_000;

export function createMemoryBuckets(clock: Clock): TokenBuckets {
  const states = recentlyUsed<State>(maxBuckets);

  function stateOf({ name, burst }: TokenBucket, now: number): State {
    // User names and addresses stay out of memory dumps.
    const hashed = createHash("sha256").update(name).digest("base64");
    const state = states.get(hashed) ?? { tokens: burst, at: now };
    states.set(hashed, state);
    return state;
  }

  return {
    async drawTokens(bucket, wanted) {
      const { perSecond, burst } = bucket;
      const now = clock.monotonic();
      const state = stateOf(bucket, now);
      state.tokens = Math.min(burst, state.tokens + ((now - state.at) * perSecond) / 1_000);
      state.at = now;
      const taken = Math.min(wanted, Math.floor(state.tokens));
      state.tokens -= taken;
      const waitMs = state.tokens >= 1 ? 0 : Math.ceil(((1 - state.tokens) / perSecond) * 1_000);
      return { taken, left: Math.floor(state.tokens), waitMs };
    },
  };
}
