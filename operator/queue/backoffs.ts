// How long a key that failed waits before it is retried. All keys together share a rate limit, so
// that a failure of everything at once does not keep the API server or Redis down.

import { Backoff } from "../../core/backoff.ts";
import type { Monotonic } from "../../core/timers.ts";
import { TokenBucket } from "../../core/token-bucket.ts";
import type { Lane } from "./lanes.ts";

export interface Backoffs {
  /** Milliseconds; counts the failure. */
  next(key: string, lane: Lane): number;
  /** The key's next wait is the shortest again. */
  forget(key: string): void;
  /** Keys that failed and were not forgotten since, and that were taken from this lane the last time. */
  failed(lane: Lane): Iterable<string>;
}

const ofOneKey = { firstMs: 100, maxMs: 60_000, jitter: 0.2 };
const ofAllKeys = { burst: 100, perSecond: 10 };
/** Otherwise the last of ten thousand keys would wait for a quarter of an hour after an outage. */
const maxShareMs = 60_000;

export function createBackoffs(monotonic: Monotonic, random: () => number): Backoffs {
  const failures = new Map<string, { readonly backoff: Backoff; lane: Lane }>();
  const bucket = new TokenBucket(ofAllKeys, monotonic);
  return {
    next(key, lane) {
      const failure = failures.get(key) ?? { backoff: new Backoff(ofOneKey, random), lane };
      failure.lane = lane;
      failures.set(key, failure);
      const spread = 1 - ofOneKey.jitter * (1 - random());
      return Math.max(failure.backoff.next(), bucket.reserve(maxShareMs) * spread);
    },
    forget: (key) => void failures.delete(key),
    *failed(wanted) {
      for (const [key, { lane }] of failures) if (lane === wanted) yield key;
    },
  };
}
