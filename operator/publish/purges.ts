// Orders that stored data be removed for good, and learns when a replica has done so.

import { configKeys } from "../../core/config/config-keys.ts";
import { type PurgeOrder, writePurgeOrder } from "../../core/config/purge-order.ts";
import type { Gateway } from "../../core/redis/gateway.ts";

export interface Purges {
  /** `id` is the caller's, the same on every attempt: an order given twice is one. */
  order(id: string, order: PurgeOrder): Promise<void>;
  /** True from `order` to `forget`: a replica may be carrying it out. */
  isOrdered(id: string): Promise<boolean>;
  /** True when a replica has carried it out. */
  isDone(id: string): Promise<boolean>;
  /** Forgets an order, done or not. */
  forget(id: string): Promise<void>;
}

export function createPurges(gateway: Gateway): Purges {
  const { purges, purged } = configKeys;
  return {
    async order(id, order) {
      await gateway.write(purges, "HSETNX", purges, id, writePurgeOrder(order));
    },
    isOrdered: async (id) => (await gateway.read(purges, "HEXISTS", purges, id)) === 1,
    isDone: async (id) => (await gateway.read(purged, "HEXISTS", purged, id)) === 1,
    async forget(id) {
      // The order first: were it the other way round, a replica would carry it out again.
      await gateway.write(purges, "HDEL", purges, id);
      await gateway.write(purged, "HDEL", purged, id);
    },
  };
}
