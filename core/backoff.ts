// How long to wait after each of several failures in a row: twice as long each time, up to a limit.

export interface BackoffPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The part of each wait that is random, from 0 to 1: spreads those that failed together. */
  readonly jitter: number;
}

/**
 * `failures`: how many in a row, including the last one. `random`: from 0 up to, and without, 1.
 */
export function backoffMs({ firstMs, maxMs, jitter }: BackoffPolicy, failures: number, random = Math.random): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return full * (1 - jitter + jitter * random());
}

/** Counts the failures in a row of one thing. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #random: () => number;
  #failures = 0;

  constructor(policy: BackoffPolicy, random: () => number = Math.random) {
    this.#policy = policy;
    this.#random = random;
  }

  /** Milliseconds to wait after one more failure. `retryAfterMs`: what the server asked for. */
  next(retryAfterMs?: number): number {
    this.#failures += 1;
    const { firstMs, maxMs } = this.#policy;
    // A server that says when is alive: no reason to wait longer, but not all at the same moment.
    if (retryAfterMs !== undefined) return Math.min(retryAfterMs, maxMs) + this.#random() * firstMs;
    return backoffMs(this.#policy, this.#failures, this.#random);
  }

  reset(): void {
    this.#failures = 0;
  }
}
