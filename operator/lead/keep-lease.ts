// Leadership from the moment that the Lease was taken: renewed again and again, over immediately when that fails for too long, when
// another process has the Lease, or when this process slept.

import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { EndReason, LeadObservation } from "./lead-observation.ts";
import { type Leadership, NotTheLeader } from "./leadership.ts";
import type { LeaseClient, Moment } from "./lease-client.ts";
import type { LeaseTimes } from "./lease-times.ts";

export interface KeepOptions {
  readonly client: LeaseClient;
  readonly times: LeaseTimes;
  readonly timers: Timers;
  readonly observe?: (observation: LeadObservation) => void;
}

const messages: Readonly<Record<EndReason, string>> = {
  overdue: "The Lease was not renewed in time",
  taken: "The Lease is held by another process, or is gone",
  released: "The Lease was given back",
};

export function keepLease({ client, times, timers, observe }: KeepOptions, since: Moment): Leadership {
  const end = new AbortController();
  const { signal: ended } = end;
  let renewed = since;
  let released: Promise<void> | undefined;
  let stopDeadline: (() => void) | undefined;

  /**
   * By the clock that says more. The monotonic one stands still while a machine is suspended, the other may be set back; each
   * alone would let a process lead on that has slept.
   */
  const ageMs = (): number => {
    const now = client.now();
    return Math.max(now.monotonicMs - renewed.monotonicMs, now.clockMs - renewed.clockMs);
  };
  const held = (): boolean => !ended.aborted && ageMs() < times.renewDeadlineMs;

  const endBy = (why: EndReason): void => {
    if (ended.aborted) return;
    stopDeadline?.();
    end.abort(new NotTheLeader(messages[why]));
    observe?.({ kind: "ended", why });
  };

  /** Ends leadership in time even when a renewal hangs. */
  const watchDeadline = (): void => {
    stopDeadline?.();
    stopDeadline = timers.after(times.renewDeadlineMs - ageMs(), () => {
      if (held()) watchDeadline();
      else endBy("overdue");
    });
  };

  const renew = async (): Promise<void> => {
    try {
      const attempt = await client.renew(ended);
      if (ended.aborted) return;
      if (!attempt.held) {
        endBy("taken");
        return;
      }
      renewed = attempt.moment;
      if (held()) watchDeadline();
      else endBy("overdue");
    } catch (error) {
      if (!ended.aborted) observe?.({ kind: "failed", error });
    }
  };

  const run = async (): Promise<void> => {
    while (await pauseUnlessAborted(timers, times.retryMs, ended)) {
      // A process that wakes up late may not even try: another one may lead.
      if (held()) await renew();
      else endBy("overdue");
    }
  };

  const release = async (): Promise<void> => {
    endBy("released");
    await running;
    try {
      await client.release();
    } catch (error) {
      observe?.({ kind: "release_failed", error });
    }
  };

  watchDeadline();
  const running = run();

  return {
    held,
    ended,
    async confirm() {
      const mine = await client.isMine();
      if (!mine) endBy("taken");
      return mine && held();
    },
    release() {
      if (!ended.aborted) released = release();
      return released ?? Promise.resolve();
    },
  };
}
