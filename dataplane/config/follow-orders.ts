// Looks for the operator's orders about stored data, and passes on those that are open, of whatever
// kind. Each kind is carried out by itself (carry-out-orders.ts).

import { configKeys } from "../../core/config/config-keys.ts";
import { isNewerFormat } from "../../core/config/fields.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, optionalText, textsOf } from "../../core/redis/reply.ts";
import { repeatedly, systemTimers } from "../../core/timers.ts";

export interface FollowOrdersDeps {
  readonly redisClient: RedisClient;
  /** Called with each look that finds any that are not carried out, with all of these, by id. */
  readonly onOpen: (orders: ReadonlyMap<string, string>) => void;
  /** A look has failed; there is another one soon. */
  readonly onFailed: (error: unknown) => void;
}

/** A look costs one read of a key that hardly ever exists; a deletion waits for the next one. */
const pauseMs = 500;

/** Looks until it is stopped. */
export function followOrders({ redisClient, onOpen, onFailed }: FollowOrdersDeps): { stop(): Promise<void> } {
  /** Results of orders that the look before didn't find. */
  let stale: ReadonlySet<string> = new Set();

  const look = async (): Promise<void> => {
    const { orders: ordersKey, results } = configKeys;
    const orders = fieldsOf(await redisClient.read(ordersKey, "HGETALL", ordersKey));
    if (orders.size === 0 || (await isOfNewerVersion(redisClient))) return;
    const done = new Set(textsOf(await redisClient.read(results, "HKEYS", results)));
    const open = new Map([...orders].filter(([id]) => !done.has(id)));
    if (open.size > 0) onOpen(open);
    // A replica that was paused just before it recorded a result leaves one behind: meanwhile
    // another replica had recorded it, and the operator had dropped the order.
    const before = stale;
    stale = done.difference(new Set(orders.keys()));
    const gone = [...stale.intersection(before)];
    if (gone.length > 0) await redisClient.write(results, "HDEL", results, ...gone);
  };

  return repeatedly(systemTimers, async () => {
    await look().catch(onFailed);
    return pauseMs;
  });
}

/** An order of a newer version may have a member that this one doesn't know and that narrows it. */
async function isOfNewerVersion(redisClient: RedisClient): Promise<boolean> {
  const { meta } = configKeys;
  return isNewerFormat(optionalText(await redisClient.read(meta, "HGET", meta, "format")));
}
