// A bucket of tokens that fills again evenly. Takers never wait in it: they learn how long it takes until their token is there,
// or that there is none.

import type { Monotonic } from "../../core/timers.ts";

export interface TokenBucketOptions {
  readonly burst: number;
  readonly refillMs: number;
  /** Nobody waits longer for a token, however many do; 60 s by default. */
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
      // After an outage of ten thousand keys the last would have waited for a quarter of an hour.
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
