// Waiting as a port: tests inject timers that they advance, programs pass `systemTimers`.

import { systemClock } from "./clock.ts";

export interface Timers {
  /** Calls `run` once, after at least `milliseconds`. Returns what cancels that. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Milliseconds since an arbitrary moment; never goes back. */
export type Monotonic = () => number;

export const systemMonotonic: Monotonic = systemClock.monotonic;

/** Node fires a timer with a longer delay immediately. */
const maxDelayMs = 2 ** 31 - 1;

/** They don't keep the process running. */
export const systemTimers: Timers = {
  after(milliseconds, run) {
    let timer: NodeJS.Timeout;
    const end = systemMonotonic() + milliseconds;
    // Node drops fractions of a millisecond, and may fire another millisecond early.
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

/** Resolves after that time. Rejects with the signal's reason when it is aborted first. */
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

/** Ends with the signal, too, without rejecting: false when it is aborted. */
export async function pauseUnlessAborted(timers: Timers, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await pause(timers, milliseconds, signal).catch(() => undefined);
  return !signal.aborted;
}

/**
 * Calls `work` after `firstMs`, and again after the pause that it answers with, until stopped.
 * `work` never rejects. `stop` resolves when the call under way is over.
 */
export function repeatedly(
  timers: Timers,
  work: (signal: AbortSignal) => Promise<number>,
  firstMs = 0,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    if (firstMs > 0) await pauseUnlessAborted(timers, firstMs, signal);
    while (!signal.aborted) await pauseUnlessAborted(timers, await work(signal), signal);
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
