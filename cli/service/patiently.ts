// Asks a service again while it is away, some times.

import { setTimeout as sleep } from "node:timers/promises";
import { ServerAway } from "./service.ts";

const attempts = 5;
const retryMs = 1_000;

export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServerAway) || attempt >= attempts) throw error;
      await sleep(Math.max(retryMs, error.retryAfterMs));
    }
  }
}
