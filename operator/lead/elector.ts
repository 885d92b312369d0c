// Makes this process the leader when it can be, and keeps it so: a Lease that is renewed every two
// seconds, and that others leave alone for fifteen after its last change as they saw it. A leader
// that could not renew for ten seconds has stopped by itself before any other takes over; one that
// was paused for longer does not try. Other durations keep these proportions.

import { pause, pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import { createLeaseClient, type Hold, type LeaseClient, type LeaseOptions } from "./lease.ts";

/** The right to write. */
export interface Leadership {
  /**
   * Whether a write may start now: the Lease was renewed within the renew deadline, by both clocks,
   * and nobody took it. Asked before every write, so that a process which was paused writes nothing
   * when it wakes up.
   */
  held(): boolean;
  /** Aborted at the moment the Lease is lost or released. */
  readonly ended: AbortSignal;
  /** Reads the Lease again from the server; true when this process still holds it. */
  confirm(): Promise<boolean>;
  /** Leaves the Lease without a holder, with one second left. Call it after the last write. */
  release(): Promise<void>;
}

/** A write was refused because this process is not, or no longer, the leader. */
export class NotTheLeader extends Error {
  override readonly name = "NotTheLeader";
}

export type LeadObservation =
  /** The holder changed; empty = the Lease has none. */
  | { readonly kind: "holder"; readonly holder: string }
  | { readonly kind: "acquired"; readonly transitions: number }
  /** A call failed; the next one follows. */
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "ended"; readonly why: EndReason }
  /** The Lease could not be released: others wait until it expires. */
  | { readonly kind: "release_failed"; readonly error: unknown };

/**
 * `overdue` = not renewed in time, or this process was paused; `taken` = the Lease is another's, or
 * gone.
 */
export type EndReason = "overdue" | "taken" | "released";

export interface ElectorOptions extends LeaseOptions {
  readonly timers: Timers;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly observe?: (observation: LeadObservation) => void;
}

export interface Elector {
  /**
   * Resolves once this process leads. Rejects with the signal's reason when it is aborted before;
   * the Lease is free then.
   */
  acquire(signal: AbortSignal): Promise<Leadership>;
}

/** Standbys spread their attempts by this fraction to both sides. */
const jitter = 0.2;

export function createElector(options: ElectorOptions): Elector {
  const { timers, random, leaseDurationMs, observe } = options;
  const client = createLeaseClient(options, (holder) => observe?.({ kind: "holder", holder }));
  const attempt = async (): Promise<Leadership | undefined> => {
    try {
      const hold = await client.take();
      if (hold === undefined) return undefined;
      observe?.({ kind: "acquired", transitions: hold.transitions });
      return keepLease(options, client, hold);
    } catch (error) {
      observe?.({ kind: "failed", error });
      return undefined;
    }
  };
  return {
    async acquire(signal) {
      for (;;) {
        signal.throwIfAborted();
        const leadership = await attempt();
        if (signal.aborted) await leadership?.release();
        else if (leadership?.held()) return leadership;
        // Soon enough to lead within a second or two of a release.
        await pause(timers, (leaseDurationMs / 15) * (1 - jitter + 2 * jitter * random()), signal);
      }
    },
  };
}

const messages: Readonly<Record<EndReason, string>> = {
  overdue: "The Lease was not renewed in time",
  taken: "The Lease is held by another process, or is gone",
  released: "The Lease was released",
};

function keepLease({ timers, leaseDurationMs, observe }: ElectorOptions, client: LeaseClient, hold: Hold): Leadership {
  const renewDeadlineMs = (leaseDurationMs / 15) * 10;
  const retryMs = (leaseDurationMs / 15) * 2;
  const end = new AbortController();
  const { signal: ended } = end;
  let renewed = hold.moment;
  let released: Promise<void> | undefined;
  let stopDeadline: (() => void) | undefined;

  /**
   * By the clock that says more: the monotonic one stands still while a machine is suspended, the
   * other may be set back.
   */
  const ageMs = (): number => {
    const now = client.now();
    return Math.max(now.monotonicMs - renewed.monotonicMs, now.clockMs - renewed.clockMs);
  };
  const held = (): boolean => !ended.aborted && ageMs() < renewDeadlineMs;

  const endBy = (why: EndReason): void => {
    if (ended.aborted) return;
    stopDeadline?.();
    end.abort(new NotTheLeader(messages[why]));
    observe?.({ kind: "ended", why });
  };

  /** Ends leadership in time even when a renewal hangs. */
  const watchDeadline = (): void => {
    stopDeadline?.();
    stopDeadline = timers.after(renewDeadlineMs - ageMs(), checkDeadline);
  };
  const checkDeadline = (): void => {
    if (held()) watchDeadline();
    else endBy("overdue");
  };

  const renew = async (): Promise<void> => {
    try {
      const again = await client.renew(ended);
      if (ended.aborted) return;
      if (again === undefined) {
        endBy("taken");
        return;
      }
      renewed = again.moment;
      checkDeadline();
    } catch (error) {
      if (!ended.aborted) observe?.({ kind: "failed", error });
    }
  };

  const run = async (): Promise<void> => {
    while (await pauseUnlessAborted(timers, retryMs, ended)) {
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
