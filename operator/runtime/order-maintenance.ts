// What replicas are ordered to do with stored data besides purges, with what the leader knows: its
// caches, its queue, and Redis once it was reached.

import type { Clock } from "../../core/clock.ts";
import { projectOfKey } from "../../core/config/config-keys.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import type { Lane } from "../queue/lanes.ts";
import { type CopyingRedis, createDataCopies, type DataCopies } from "../stored-data/data-copies.ts";
import { createObjectChecks, type ObjectChecks } from "../stored-data/object-checks.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface OrderMaintenance {
  readonly checks: ObjectChecks;
  readonly copies: DataCopies;
  /** For a timer. */
  refresh(): Promise<void>;
  /** Called when a writer session has begun. */
  onSessionBegun(): void;
}

export interface OrderMaintenanceDeps {
  readonly context: Pick<OperatorContext, "caches"> & { readonly clock: Clock };
  readonly enqueue: (key: string, lane: Lane) => void;
  /** Undefined before Redis was reached. */
  readonly redis: () => (CopyingRedis & Pick<OpenRedis, "checkOrders">) | undefined;
}

export function createOrderMaintenance({ context, enqueue, redis }: OrderMaintenanceDeps): OrderMaintenance {
  const { caches, clock } = context;
  const common = { now: () => clock.now(), enqueue: (key: string) => enqueue(key, "bulk") };
  const checks = createObjectChecks({
    ...common,
    orders: () => redis()?.checkOrders,
    resourceOf: (key, uid) =>
      caches.index.objectsOf(projectOfKey(key)).resources.find(({ metadata }) => metadata.uid === uid),
  });
  const copies = createDataCopies({
    ...common,
    redis,
    projectOf: (ref) => caches.index.projectOf(ref),
    isCurrent: caches.isCurrent,
  });
  return {
    checks,
    copies,
    async refresh() {
      await checks.refresh();
      await copies.refresh();
    },
    onSessionBegun() {
      checks.onSessionBegun();
      copies.onSessionBegun();
    },
  };
}
