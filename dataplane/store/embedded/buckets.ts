// Token buckets in memory: one process holds the database and counts alone. A restart begins with full buckets.

import { createHash } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import type { BucketStore, TokenBucket } from "../port.ts";

interface State {
  tokens: number;
  /** When it was filled last, in milliseconds of the monotonic clock: one process fills it, and a restart begins anew. */
  at: number;
}

/** Full ones are swept when as many were added as were left by the last sweep, and this many. */
const sweepAfter = 1_024;

export function createBuckets(clock: Clock): BucketStore {
  const states = new Map<string, { readonly state: State; readonly bucket: TokenBucket }>();
  let addedSinceSweep = 0;
  let leftBySweep = 0;

  function sweep(now: number): void {
    for (const [name, { state, bucket }] of states) {
      fill(state, bucket, now);
      if (state.tokens >= bucket.burst) states.delete(name);
    }
    addedSinceSweep = 0;
    leftBySweep = states.size;
  }

  function stateOf(bucket: TokenBucket, now: number): State {
    const name = createHash("sha256").update(bucket.name).digest("base64");
    const known = states.get(name);
    if (known !== undefined) return known.state;
    if (addedSinceSweep >= leftBySweep + sweepAfter) sweep(now);
    addedSinceSweep += 1;
    const state = { tokens: bucket.burst, at: now };
    states.set(name, { state, bucket: { ...bucket, name: "" } });
    return state;
  }

  return {
    async drawTokens(bucket, wanted) {
      const now = clock.monotonic();
      const state = stateOf(bucket, now);
      fill(state, bucket, now);
      const taken = Math.min(wanted, Math.floor(state.tokens));
      state.tokens -= taken;
      const waitMs = state.tokens >= 1 ? 0 : Math.ceil(((1 - state.tokens) / bucket.perSecond) * 1_000);
      return { taken, left: Math.floor(state.tokens), waitMs };
    },
  };
}

function fill(state: State, { perSecond, burst }: TokenBucket, now: number): void {
  state.tokens = Math.min(burst, state.tokens + ((now - state.at) * perSecond) / 1_000);
  state.at = now;
}
