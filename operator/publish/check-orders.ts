// Orders that replicas check stored objects against a schema, and learns what they have found.
// Orders are written under the same fence as configuration, where those of purges are.

import { checkProgressKey, configKeys } from "../../core/config/config-keys.ts";
import {
  type CheckFigures,
  type CheckOrder,
  type CheckResult,
  readCheckOrder,
  readCheckProgress,
  readCheckResult,
  writeCheckOrder,
} from "../../core/config/object-check.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, listOf, optionalText } from "../../core/redis/reply.ts";
import { createPublishScripts } from "./publish-scripts.ts";
import type { Publisher } from "./publisher.ts";

/** What replicas say of an order. */
export type CheckState =
  /** Redis has lost it. */
  | { readonly state: "lost" }
  /** No figures: no replica has begun, or not said so yet. */
  | { readonly state: "open"; readonly figures: CheckFigures | undefined }
  | { readonly state: "done"; readonly result: CheckResult };

export interface CheckOrders {
  order(id: string, order: CheckOrder): Promise<void>;
  /** Forgets an order, done or not, with what was found. */
  forget(id: string): Promise<void>;
  /** All that are not forgotten, by id. */
  all(): Promise<ReadonlyMap<string, CheckOrder>>;
  statesOf(ids: readonly string[]): Promise<ReadonlyMap<string, CheckState>>;
}

export function createCheckOrders(redisClient: RedisClient, publisher: Pick<Publisher, "fenced">): CheckOrders {
  const { purges, purged } = configKeys;
  const scripts = createPublishScripts(redisClient);
  const texts = async (key: string, ids: readonly string[]): Promise<readonly (string | undefined)[]> =>
    listOf(await redisClient.read(key, "HMGET", key, ...ids)).map(optionalText);
  return {
    order: (id, order) => publisher.fenced((epoch) => scripts.orderPurge(epoch, id, writeCheckOrder(order))),
    forget: (id) => publisher.fenced((epoch) => scripts.orderPurge(epoch, id, "")),
    async all() {
      const orders = new Map<string, CheckOrder>();
      for (const [id, text] of fieldsOf(await redisClient.read(purges, "HGETALL", purges))) {
        const order = readCheckOrder(text);
        if (order !== undefined) orders.set(id, order);
      }
      return orders;
    },
    async statesOf(ids) {
      if (ids.length === 0) return new Map();
      // In this order, so that an order that is done and forgotten meanwhile counts as lost.
      const progress = await texts(checkProgressKey, ids);
      const results = await texts(purged, ids);
      const orders = await texts(purges, ids);
      return new Map(ids.map((id, at) => [id, stateOf(orders[at], results[at], progress[at])]));
    },
  };
}

function stateOf(order: string | undefined, found: string | undefined, progress: string | undefined): CheckState {
  if (order === undefined) return { state: "lost" };
  const result = found === undefined ? undefined : readCheckResult(found);
  if (result !== undefined) return { state: "done", result };
  return { state: "open", figures: progress === undefined ? undefined : readCheckProgress(progress) };
}
