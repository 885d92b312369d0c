// Opens the data plane's store on a Redis of a test.

import { systemClock } from "../../../core/clock.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import { createRedisStore, type RedisStoreOptions } from "../../../dataplane/store/redis/redis-store.ts";

/**
 * Waits longer for an answer than a replica does, by default: on a busy machine a test
 * may stand still for seconds.
 */
export function openRedisStore(options: Partial<RedisStoreOptions> & Pick<RedisStoreOptions, "url">): Promise<Store> {
  return createRedisStore({ clock: systemClock, commandTimeoutMs: 20_000, ...options });
}
