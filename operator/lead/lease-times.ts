// How long a Lease is left alone, and what follows from that.

export interface LeaseTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  /** From one renewal to the next. */
  readonly retryMs: number;
  /** From one attempt of a standby to the next, so that it leads soon after a leader that released the Lease. An attempt is one GET. */
  readonly takeMs: number;
  /** One call to the API server. */
  readonly callMs: number;
}

/**
 * For a duration of 15 seconds: a renewal every 2, an attempt of a standby every second, 5 for one call, and 10 without a renewal until the
 * leader stops.
 */
export function leaseTimesOf(leaseDurationMs: number): LeaseTimes {
  const part = leaseDurationMs / 15;
  return { leaseDurationMs, renewDeadlineMs: 10 * part, retryMs: 2 * part, takeMs: part, callMs: 5 * part };
}

export const leaseTimes: LeaseTimes = leaseTimesOf(15_000);
