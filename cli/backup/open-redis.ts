// Redis for a Job: as a store, and for what is not in it. A cluster may let a new pod through to
// Redis only some seconds after its start. Rejects with StoreUnavailable.

import { systemClock } from "../../core/clock.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { type ConnectOptions, connect, type IoredisClient } from "../../core/redis/connect.ts";
import { createRedisClient, type RedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { pause, systemTimers } from "../../core/timers.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { trustRedis } from "../redis-authorities.ts";
import type { Cleanup } from "../run-program.ts";

const attempts = 10;
const pauseMs = 1_000;
const commandTimeoutMs = 10_000;

/** `name` = of its connections, as Redis lists them. */
export async function openJobRedis(
  { redis: url, redisCaFile }: { readonly redis: string; readonly redisCaFile: string | undefined },
  name: string,
  cleanup: Cleanup,
): Promise<{ readonly redisClient: RedisClient; readonly store: Store }> {
  await trustRedis(redisCaFile, cleanup);
  const options = { target: parseRedisUrl(url), name, commandTimeout: commandTimeoutMs };
  const redisClient = createRedisClient(await connectPatiently(options, cleanup.stopping));
  cleanup.add(() => redisClient.disconnect());
  const store = await createRedisStore({ url, clock: systemClock, commandTimeoutMs });
  cleanup.add(() => store.close());
  return { redisClient, store };
}

async function connectPatiently(options: ConnectOptions, stopping: AbortSignal): Promise<IoredisClient> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect(options);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === attempts) throw error;
    }
    await pause(systemTimers, pauseMs, stopping);
  }
}
