// What a replica does about orders to purge stored data, and nothing else of it.

import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { carryOutPurges, type PurgeDeps } from "../../../dataplane/config/carry-out-purges.ts";
import { followOrders } from "../../../dataplane/config/follow-orders.ts";

export interface PurgingReplica {
  readonly redisClient: RedisClient;
  readonly store: PurgeDeps["store"];
  readonly onDone?: (id: string) => void;
  /** Also called with a look that has failed. */
  readonly onFailed: (failures: readonly unknown[]) => void;
}

export function purgingReplica({ redisClient, store, onDone, onFailed }: PurgingReplica): { stop(): Promise<void> } {
  const purges = carryOutPurges({ redisClient, store, onDone: (_order, _result, id) => onDone?.(id), onFailed });
  const looking = followOrders({
    redisClient,
    onOpen: (open) => purges.carryOut(open),
    onFailed: (error) => onFailed([error]),
  });
  return {
    async stop() {
      await looking.stop();
      await purges.stop();
    },
  };
}
