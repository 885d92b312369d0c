// A token bucket that refills evenly. It never blocks: it returns how long the caller has to wait for its token, or that there is
// none.

import type { Monotonic } from "../../core/timers.ts";

export interface TokenBucketOptions {
  readonly burst: number;
  readonly refillMs: number;
  /** The longest wait for a token, however many callers wait; 60 s by default. */
  readonly maxWaitMs?: number;
  readonly monotonic: Monotonic;
}

export interface TokenBucket {
  /** Takes a token, one that is still to come if need be; answers with the milliseconds until then. */
  reserve(): number;
  /** Takes a token if there is one now. */
  tryTake(): boolean;
}

export function createTokenBucket({ burst, refillMs, maxWaitMs = 60_000, monotonic }: TokenBucketOptions): TokenBucket {
  let tokens = burst;
  let at = monotonic();
  const refill = (): void => {
    const now = monotonic();
    tokens = Math.min(burst, tokens + (now - at) / refillMs);
    at = now;
  };
  return {
    reserve() {
      refill();
      // Without the bound the last of ten thousand keys would wait for a quarter of an hour after an outage.
      tokens = Math.max(tokens - 1, -maxWaitMs / refillMs);
      return tokens >= 0 ? 0 : -tokens * refillMs;
    },
    tryTake() {
      refill();
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
