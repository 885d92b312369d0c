// How long a key that failed waits before it is retried: twice as long each time. All keys together share a rate limit, so that a
// failure of everything at once does not keep the API server or Redis down.

import type { Monotonic } from "../../core/timers.ts";
import type { Lane } from "./lanes.ts";
import { createTokenBucket } from "./token-bucket.ts";

export interface Backoffs {
  /** Milliseconds; counts the failure. */
  next(key: string, lane: Lane): number;
  /** The key's next one is the shortest again. */
  forget(key: string): void;
  /** Keys that failed since they were forgotten, and were taken from this lane the last time. */
  failed(lane: Lane): Iterable<string>;
}

export interface BackoffOptions {
  readonly monotonic: Monotonic;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
}

interface Failure {
  readonly times: number;
  readonly lane: Lane;
}

const firstMs = 100;
const maxMs = 60_000;
const jitter = 0.2;
const overallLimit = { burst: 100, refillMs: 100 };

export function createBackoffs({ monotonic, random }: BackoffOptions): Backoffs {
  const failures = new Map<string, Failure>();
  const bucket = createTokenBucket({ ...overallLimit, monotonic });
  return {
    next(key, lane) {
      const before = failures.get(key)?.times ?? 0;
      failures.set(key, { times: before + 1, lane });
      const backoff = Math.min(maxMs, firstMs * 2 ** before);
      return Math.max(backoff, bucket.reserve()) * (1 - jitter + 2 * jitter * random());
    },
    forget: (key) => void failures.delete(key),
    *failed(wanted) {
      for (const [key, { lane }] of failures) if (lane === wanted) yield key;
    },
  };
}
