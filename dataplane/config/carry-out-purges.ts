// Carries out the operator's orders to remove stored data, one after the other. An order that was
// interrupted is begun again, and finds what is left.

import { purgingLockKey } from "../../core/config/config-keys.ts";
import { type PurgeOrder, readPurgeOrder } from "../../core/config/purge-order.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../store/ports/purges.ts";
import { type CarriedOrders, type CarryOutDeps, carryOutOrders } from "./carry-out-orders.ts";
import { type MayContinue, purgeCollection, purgeDocument, purgeProjectSessions } from "./purge-steps.ts";

export interface PurgeDeps extends CarryOutDeps<PurgeOrder, PurgeResult> {
  readonly store: CollectionPurges & DocumentPurges & SessionPurges;
}

/** `endedAt` in Unix milliseconds. */
export interface PurgeResult {
  readonly endedAt: number;
}

export function carryOutPurges(deps: PurgeDeps): CarriedOrders {
  return carryOutOrders<PurgeOrder, undefined, PurgeResult>(deps, {
    kind: { lockKey: purgingLockKey, read: readPurgeOrder },
    async begin(order, { mayContinue }) {
      return async () =>
        (await purge(deps.store, order, mayContinue))
          ? { isDone: true, result: { endedAt: Date.now() } }
          : { isDone: false, progress: undefined, waits: true };
    },
  });
}

/**
 * False when it was interrupted before the end. If this replica is paused meanwhile, a step removes
 * nothing that was stored since.
 */
function purge(store: PurgeDeps["store"], order: PurgeOrder, mayContinue: MayContinue): Promise<boolean> {
  const { project } = order;
  switch (order.what) {
    case "rootkey":
      return purgeDocument(store, { project, rootKey: order.name }, mayContinue);
    case "resource":
      return purgeCollection(store, { project, resource: order.name }, mayContinue);
    case "sessions":
      return purgeProjectSessions(store, { project, projectUid: order.projectUid }, mayContinue);
  }
}
