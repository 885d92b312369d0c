// Gives replicas orders about stored data that take long, and learns how far they have come. Orders
// are written under the same fence as configuration, where those of purges are.

import { configKeys } from "../../core/config/config-keys.ts";
import type { CopyOrder, CopyProgress, CopyResult } from "../../core/config/copy-order.ts";
import type { CheckFigures, CheckOrder, CheckResult } from "../../core/config/object-check.ts";
import type { OrderKind } from "../../core/config/order-kind.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, listOf, optionalText } from "../../core/redis/reply.ts";
import { createPublishScripts } from "./publish-scripts.ts";
import type { Publisher } from "./publisher.ts";

/** What replicas say of an order. */
export type OrderState<Progress, Result> =
  /** Redis has lost it. */
  | { readonly state: "lost" }
  /** No figures: no replica has begun, or not said so yet. */
  | { readonly state: "open"; readonly figures: Progress | undefined }
  | { readonly state: "done"; readonly result: Result };

/** Orders of one kind. */
export interface ReplicaOrders<Order, Progress, Result> {
  order(id: string, order: Order): Promise<void>;
  /** Forgets an order, done or not, with what was found. */
  forget(id: string): Promise<void>;
  /** All that are not forgotten, by id. */
  all(): Promise<ReadonlyMap<string, Order>>;
  statesOf(ids: readonly string[]): Promise<ReadonlyMap<string, OrderState<Progress, Result>>>;
}

export type CheckOrders = ReplicaOrders<CheckOrder, CheckFigures, CheckResult>;
export type CopyOrders = ReplicaOrders<CopyOrder, CopyProgress, CopyResult>;
export type CheckState = OrderState<CheckFigures, CheckResult>;

export function createReplicaOrders<Order, Progress, Result>(
  redisClient: RedisClient,
  publisher: Pick<Publisher, "fenced">,
  kind: OrderKind<Order, Progress, Result>,
): ReplicaOrders<Order, Progress, Result> {
  const { orders: ordersKey, results: resultsKey } = configKeys;
  const scripts = createPublishScripts(redisClient);
  const texts = async (key: string, ids: readonly string[]): Promise<readonly (string | undefined)[]> =>
    listOf(await redisClient.read(key, "HMGET", key, ...ids)).map(optionalText);
  return {
    order: (id, order) => publisher.fenced((epoch) => scripts.writeOrder(epoch, id, kind.write(order))),
    forget: (id) => publisher.fenced((epoch) => scripts.writeOrder(epoch, id, "")),
    async all() {
      const orders = new Map<string, Order>();
      for (const [id, text] of fieldsOf(await redisClient.read(ordersKey, "HGETALL", ordersKey))) {
        const order = kind.read(text);
        if (order !== undefined) orders.set(id, order);
      }
      return orders;
    },
    async statesOf(ids) {
      if (ids.length === 0) return new Map();
      // In this order, so that an order that is done and forgotten meanwhile counts as lost.
      const progress = await texts(kind.progressKey, ids);
      const results = await texts(resultsKey, ids);
      const orders = await texts(ordersKey, ids);
      return new Map(ids.map((id, at) => [id, stateOf(kind, orders[at], results[at], progress[at])]));
    },
  };
}

function stateOf<Progress, Result>(
  kind: Pick<OrderKind<unknown, Progress, Result>, "readProgress" | "readResult">,
  order: string | undefined,
  found: string | undefined,
  progress: string | undefined,
): OrderState<Progress, Result> {
  if (order === undefined) return { state: "lost" };
  const result = found === undefined ? undefined : kind.readResult(found);
  if (result !== undefined) return { state: "done", result };
  return { state: "open", figures: progress === undefined ? undefined : kind.readProgress(progress) };
}
