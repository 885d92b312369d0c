// Asks a service again while it is away, some times, with longer and longer pauses.

import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../../core/backoff.ts";
import { ServerAway } from "./service.ts";

export interface Patience {
  readonly pause: (milliseconds: number) => Promise<unknown>;
  /** Tells the person why it takes longer. */
  readonly note: (sentence: string) => void;
  readonly attempts: number;
}

const retry = { firstMs: 500, maxMs: 15_000, jitter: 0.5 } as const;
const usual: Patience = { pause: sleep, note: () => undefined, attempts: 5 };

export async function patiently<T>(ask: () => Promise<T>, { pause, note, attempts }: Patience = usual): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServerAway) || failures >= attempts) throw error;
      note(`${error.message}; trying again`);
      await pause(pauseMs(failures, error));
    }
  }
}

/** Before the next attempt, after so many failures in a row. */
export function pauseMs(failures: number, { retryAfterMs }: ServerAway): number {
  return Math.max(backoffMs(retry, failures), retryAfterMs);
}
