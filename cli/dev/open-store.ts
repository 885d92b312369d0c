// Opens the store that dev mode keeps data in: the embedded one in its data folder, or Redis JSON where a URL says so. Only
// the one that is used is loaded.

import type { Clock } from "../../core/clock.ts";
import type { Store, StoreObservation } from "../../dataplane/store/port.ts";

export interface StoreOptions {
  /** Redis URL; undefined = embedded. */
  readonly redis: string | undefined;
  readonly directory: string;
  readonly clock: Clock;
  readonly observe: (observation: StoreObservation) => void;
}

export async function openStore({ redis, directory, clock, observe }: StoreOptions): Promise<Store> {
  if (redis !== undefined) {
    const { createRedisStore } = await import("../../dataplane/store/redis/redis-store.ts");
    return await createRedisStore({ url: redis, clock, observe });
  }
  const { createEmbeddedStore } = await import("../../dataplane/store/embedded/embedded-store.ts");
  return await createEmbeddedStore({ directory, clock, observe });
}
