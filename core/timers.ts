// Waiting as a port: tests inject timers that they move by hand, programs pass these.

import { systemClock } from "./clock.ts";

export interface Timers {
  /** Calls `run` once, no earlier than after `milliseconds`. What it answers with stops that; afterwards it does nothing. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Milliseconds since some moment; never goes back and knows nothing of the time of day. */
export type Monotonic = () => number;

export const systemMonotonic: Monotonic = systemClock.monotonic;

/** Beyond this Node fires a timer at once instead of late. */
const maxDelayMs = 2 ** 31 - 1;

/** They don't keep the process running: what does is the work itself. */
export const systemTimers: Timers = {
  after(milliseconds, run) {
    let timer: NodeJS.Timeout;
    const end = systemMonotonic() + milliseconds;
    // Node cuts fractions of a millisecond off, and may be one early beside them: what is left is waited for as well.
    const wait = (leftMs: number): void => {
      timer = setTimeout(
        () => {
          const left = end - systemMonotonic();
          if (left > 0) wait(left);
          else run();
        },
        Math.min(leftMs, maxDelayMs),
      ).unref();
    };
    wait(Math.max(0, milliseconds));
    return () => clearTimeout(timer);
  },
};

/** Resolves after that time; rejects with the signal's reason when it is aborted before. */
export function pause(timers: Timers, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      stop();
      reject(signal?.reason);
    };
    const stop = timers.after(milliseconds, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The same for who goes on either way: false when the signal was aborted meanwhile. */
export async function waited(timers: Timers, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await pause(timers, milliseconds, signal).catch(() => undefined);
  return !signal.aborted;
}
