// The first connection to Redis of a Job: a cluster may let a new pod through to Redis only some
// seconds after its start.

import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { type ConnectOptions, connect, type IoredisClient } from "../../core/redis/connect.ts";
import { pause, systemTimers } from "../../core/timers.ts";

const attempts = 10;
const pauseMs = 1_000;

/** Rejects with StoreUnavailable, and once `stopping` is aborted. */
export async function connectPatiently(options: ConnectOptions, stopping: AbortSignal): Promise<IoredisClient> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect(options);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === attempts) throw error;
    }
    await pause(systemTimers, pauseMs, stopping);
  }
}
