// How long a Lease is left alone, and what follows from that.

export interface LeaseTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
  /** One call to the API server. */
  readonly callMs: number;
}

/** For a duration of 15 seconds: a renewal every 2, 5 for one call, and 10 without a renewal until the leader stops. */
export function leaseTimesOf(leaseDurationMs: number): LeaseTimes {
  const part = leaseDurationMs / 15;
  return { leaseDurationMs, renewDeadlineMs: 10 * part, retryMs: 2 * part, callMs: 5 * part };
}

export const leaseTimes: LeaseTimes = leaseTimesOf(15_000);
