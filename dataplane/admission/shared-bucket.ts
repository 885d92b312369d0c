// One replica's part of a token bucket that all replicas share. It draws tokens in small portions,
// so that a busy caller does not cost a round trip per request. A portion is never more than the
// bucket has, and expires after a second. An empty bucket refuses for at most a second without
// asking the store.

import type { Clock } from "../../core/clock.ts";
import { WritesRefused } from "../../core/errors/store-errors.ts";
import { createMemoryBuckets } from "../store/memory-buckets.ts";
import type { Budget, Counters, SpendOutcome, TokenBucket, TokenBuckets } from "../store/ports/limits.ts";

/** A portion used up within this time doubles the next one; none is more than its worth. */
const portionMs = 50;
/** Milliseconds after which the rest of a portion expires: the bucket has filled by as much. */
const keptMs = 1_000;
/** Milliseconds after which the store is asked again about an empty bucket. */
const emptyMs = 1_000;

export interface BucketPolicy {
  /** As it is named in RateLimit headers and metrics. */
  readonly name: "project" | "caller";
  readonly bucket: TokenBucket;
}

export class SharedBucket {
  readonly policy: BucketPolicy;
  readonly #store: TokenBuckets;
  readonly #clock: Clock;
  /** Tokens left of the last portion, and when it was drawn, by the monotonic clock. */
  #own = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  /** When they are forgotten. */
  #keptUntil = Number.NEGATIVE_INFINITY;
  #portion = 1;
  /** Tokens that the last draw left for everybody. */
  #left: number;
  /** When there may be a token again, as the last draw said. */
  #nextTokenAt = Number.NEGATIVE_INFINITY;
  #askAgainAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #drawing: Promise<void> | undefined;

  constructor(policy: BucketPolicy, store: TokenBuckets, clock: Clock) {
    this.policy = policy;
    this.#store = store;
    this.#clock = clock;
    this.#left = policy.bucket.burst;
  }

  /** Takes one token: 0, or the milliseconds until there may be one. A promise asks the store. */
  take(): number | Promise<number> {
    return this.#takeOwn() ?? this.#takeDrawn();
  }

  /** A token that was taken for a request that another limit refused, or could not check. */
  refund(): void {
    const now = this.#clock.monotonic();
    if (now >= this.#keptUntil) {
      this.#own = 0;
      this.#keptUntil = now + keptMs;
    }
    this.#own += 1;
  }

  /** About how many requests could come now. */
  remaining(): number {
    const { perSecond, burst } = this.policy.bucket;
    const since = this.#clock.monotonic() - this.#drawnAt;
    const filled = since === Number.POSITIVE_INFINITY ? burst : Math.floor((since * perSecond) / 1_000);
    return Math.min(burst, this.#left + this.#own + filled);
  }

  #takeOwn(): number | undefined {
    const now = this.#clock.monotonic();
    if (this.#own > 0 && now < this.#keptUntil) {
      this.#own -= 1;
      return 0;
    }
    return now < this.#askAgainAt ? this.#nextTokenAt - now : undefined;
  }

  async #takeDrawn(): Promise<number> {
    for (;;) {
      this.#waiting += 1;
      this.#drawing ??= this.#draw().finally(() => {
        this.#drawing = undefined;
      });
      await this.#drawing.finally(() => {
        this.#waiting -= 1;
      });
      const wait = this.#takeOwn();
      if (wait !== undefined) return wait;
    }
  }

  async #draw(): Promise<void> {
    const { bucket } = this.policy;
    const usedUpSoon = this.#own === 0 && this.#clock.monotonic() - this.#drawnAt < portionMs;
    const largest = Math.max(1, Math.floor((bucket.perSecond * portionMs) / 1_000));
    this.#portion = usedUpSoon ? Math.min(2 * this.#portion, largest) : 1;
    const { taken, left, waitMs } = await this.#store.drawTokens(bucket, Math.max(this.#portion, this.#waiting));
    const now = this.#clock.monotonic();
    this.#own = taken;
    this.#left = left;
    this.#drawnAt = now;
    this.#keptUntil = now + keptMs;
    const wait = taken === 0 ? Math.max(1, waitMs) : waitMs;
    this.#nextTokenAt = now + wait;
    this.#askAgainAt = now + Math.min(wait, emptyMs);
  }
}

export interface LocalBuckets extends TokenBuckets {
  /** A local bucket has the size of the budget, and fills within its window. */
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
