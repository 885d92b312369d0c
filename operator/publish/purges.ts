// Orders that stored data be removed for good, and learns when a replica has done so. Orders are
// written under the same fence as configuration: a leader that was replaced orders nothing.

import { configKeys } from "../../core/config/config-keys.ts";
import { type PurgeOrder, writePurgeOrder } from "../../core/config/purge-order.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createPublishScripts } from "./publish-scripts.ts";
import type { Publisher } from "./publisher.ts";

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

export function createPurges(redisClient: RedisClient, publisher: Pick<Publisher, "fenced">): Purges {
  const { orders, results } = configKeys;
  const scripts = createPublishScripts(redisClient);
  return {
    order: (id, order) => publisher.fenced((epoch) => scripts.writeOrder(epoch, id, writePurgeOrder(order))),
    isOrdered: async (id) => (await redisClient.read(orders, "HEXISTS", orders, id)) === 1,
    isDone: async (id) => (await redisClient.read(results, "HEXISTS", results, id)) === 1,
    forget: (id) => publisher.fenced((epoch) => scripts.writeOrder(epoch, id, "")),
  };
}
