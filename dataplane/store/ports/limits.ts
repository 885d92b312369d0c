// What all replicas count together: budgets of a window, and token buckets. port.ts says what a
// call may throw.

export interface Budget {
  /** For example `login:<namespace>/<project>:<address>`; hashed by the adapter, never shown. */
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export type SpendOutcome =
  | { readonly outcome: "spent" }
  | { readonly outcome: "exhausted"; readonly retryAfterSeconds: number };

export interface Counters {
  /**
   * Takes one from every budget, or, when one is exhausted, from none, and says after how many
   * seconds all have something again. A window opens with the first spending, and ends by the
   * store's own time.
   */
  spend(budgets: readonly Budget[]): Promise<SpendOutcome>;
  /** Gives one back to each. */
  refund(budgets: readonly Budget[]): Promise<void>;
}

/** Fills by `perSecond` tokens a second of the store's own time up to `burst`; full at first. */
export interface TokenBucket {
  /** Whose it is, as a budget's name: `<kind>:<namespace>/<project>:…`. */
  readonly name: string;
  readonly perSecond: number;
  readonly burst: number;
}

export interface Draw {
  readonly taken: number;
  /** Whole tokens left for everybody. */
  readonly left: number;
  /** Milliseconds until there is one to take; 0 = there is one. */
  readonly waitMs: number;
}

export interface TokenBuckets {
  /** Takes up to `wanted` tokens. WritesRefused = the store can't count now, and can be read. */
  drawTokens(bucket: TokenBucket, wanted: number): Promise<Draw>;
}
