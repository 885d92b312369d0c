// The checks of stored objects, with what the leader knows: its caches, its queue, and Redis once
// it was reached.

import type { Clock } from "../../core/clock.ts";
import { projectOfKey } from "../../core/config/config-keys.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { Lane } from "../queue/lanes.ts";
import { createObjectChecks, type ObjectChecks } from "../stored-data/object-checks.ts";
import type { OperatorContext } from "./operator-context.ts";

export type CheckMaintenance = ObjectChecks;

export interface CheckMaintenanceDeps {
  readonly context: Pick<OperatorContext, "caches"> & { readonly clock: Clock };
  readonly enqueue: (key: string, lane: Lane) => void;
  /** Undefined before Redis was reached. */
  readonly redis: () => Pick<OpenRedis, "checkOrders"> | undefined;
}

export function createCheckMaintenance({ context, enqueue, redis }: CheckMaintenanceDeps): CheckMaintenance {
  const { caches, clock } = context;
  return createObjectChecks({
    now: () => clock.now(),
    orders: () => redis()?.checkOrders,
    resourceOf: (key, uid) =>
      caches.index.objectsOf(projectOfKey(key)).resources.find(({ metadata }) => metadata.uid === uid),
    enqueue: (key) => enqueue(key, "bulk"),
  });
}
