// A token bucket in this process, which fills at a steady rate and is full at first. It never
// blocks: it says what there is, or how long to wait.

import type { Monotonic } from "./timers.ts";

export interface TokenRate {
  readonly perSecond: number;
  readonly burst: number;
}

export class TokenBucket {
  #rate: TokenRate;
  readonly #monotonic: Monotonic;
  #tokens: number;
  #filledAt: number;

  constructor(rate: TokenRate, monotonic: Monotonic) {
    this.#rate = rate;
    this.#monotonic = monotonic;
    this.#tokens = rate.burst;
    this.#filledAt = monotonic();
  }

  /** Takes as many of `wanted` tokens as there are. `rate` = the rate from now on. */
  take(wanted = 1, rate = this.#rate): number {
    this.#rate = rate;
    this.#fill();
    const taken = Math.max(0, Math.min(wanted, Math.floor(this.#tokens)));
    this.#tokens -= taken;
    return taken;
  }

  /**
   * Takes a token, a future one if need be, and returns the milliseconds until then. No wait is
   * longer than `maxWaitMs`, however many callers wait: beyond that they share a moment.
   */
  reserve(maxWaitMs: number): number {
    this.#fill();
    const perMs = this.#rate.perSecond / 1_000;
    this.#tokens = Math.max(this.#tokens - 1, -maxWaitMs * perMs);
    return Math.max(0, -this.#tokens / perMs);
  }

  /** Whole tokens after the last call. */
  get left(): number {
    return Math.floor(this.#tokens);
  }

  /** Milliseconds from the last call until there is a token; 0 = there is one. */
  get waitMs(): number {
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#rate.perSecond) * 1_000);
  }

  #fill(): void {
    const now = this.#monotonic();
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) * perSecond) / 1_000);
    this.#filledAt = now;
  }
}
