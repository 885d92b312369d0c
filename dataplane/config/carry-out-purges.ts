// Carries out the operator's purge orders, one replica at a time, in small steps, and notes which are done. An order that is
// interrupted goes on where it was left: what is gone is gone.

import { setTimeout as sleep } from "node:timers/promises";
import { configKeys } from "../../core/config/config-keys.ts";
import { type PurgeOrder, readPurgeOrder } from "../../core/config/purge-order.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf, textsOf } from "../../core/redis/reply.ts";
import { createPurgeOrderScripts, type PurgeOrderScripts } from "./purge-order-scripts.ts";
import {
  type PurgedCollections,
  type PurgedDocuments,
  type PurgedSessions,
  purgeCollection,
  purgeProjectSessions,
  purgeWholeDocument,
} from "./purge-whole.ts";

export interface PurgeDeps {
  readonly gateway: Gateway;
  readonly store: PurgedCollections & PurgedDocuments & PurgedSessions;
  /** Told once everything of an order is gone, by the replica that notes so. */
  readonly onDone: (id: string, order: PurgeOrder) => void;
  readonly onFailed: (error: unknown) => void;
}

/** A look costs one read of a key that hardly ever is there; whoever deletes something waits for it. */
const lookMilliseconds = 500;
/** Renewed before every step; a replica that died in the middle is followed by another one after this time. */
const lockMilliseconds = 5_000;

/** Looks for orders until it is stopped. */
export function carryOutPurges(deps: PurgeDeps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const scripts = createPurgeOrderScripts(deps.gateway);
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await round(deps, scripts, stopping.signal).catch(deps.onFailed);
      await sleep(lookMilliseconds, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function round(deps: PurgeDeps, scripts: PurgeOrderScripts, signal: AbortSignal): Promise<void> {
  const { gateway } = deps;
  const orders = fieldsOf(await gateway.read(configKeys.purges, "HGETALL", configKeys.purges));
  if (orders.size === 0) return;
  const done = new Set(textsOf(await gateway.read(configKeys.purged, "HKEYS", configKeys.purged)));
  const open = [...orders].filter(([id]) => !done.has(id));
  if (open.length === 0 || !(await scripts.takeLock(lockMilliseconds))) return;
  const failures: unknown[] = [];
  for (const [id, text] of open) {
    const order = readPurgeOrder(text);
    try {
      // One that a newer operator wrote waits for a newer replica.
      if (order && (await purge(deps, { id, order }, signal)) && (await isOpen(gateway, id))) {
        await scripts.noteDone(id);
        deps.onDone(id, order);
      }
    } catch (error) {
      // The next one may be of another project, on another node of a Cluster.
      failures.push(error);
    }
  }
  await dropStaleMarks(gateway, orders, done);
  // The lock is left to run out, so that what fails is not tried again at once.
  if (failures.length > 0) throw failures[0];
  await gateway.write(configKeys.purgeLock, "DEL", configKeys.purgeLock);
}

/**
 * Of a replica that stood still between its last look and its mark: the operator, which had the order's mark already, asks for it no more.
 */
async function dropStaleMarks(
  gateway: Gateway,
  orders: ReadonlyMap<string, string>,
  done: ReadonlySet<string>,
): Promise<void> {
  const { purged } = configKeys;
  const stale = [...done].filter((id) => !orders.has(id));
  if (stale.length > 0) await gateway.write(purged, "HDEL", purged, ...stale);
}

/** False when it was interrupted before the end. */
async function purge(
  deps: PurgeDeps,
  { id, order }: { readonly id: string; readonly order: PurgeOrder },
  signal: AbortSignal,
): Promise<boolean> {
  // Looked at before every step: when this replica stood still, another one may have finished. Should it stand still after the look, the
  // step takes nothing that was stored since.
  const goesOn = async (): Promise<boolean> => {
    if (signal.aborted || !(await isOpen(deps.gateway, id))) return false;
    await deps.gateway.write(configKeys.purgeLock, "PEXPIRE", configKeys.purgeLock, lockMilliseconds);
    return true;
  };
  const { project } = order;
  switch (order.what) {
    case "rootkey":
      return purgeWholeDocument(deps.store, { project, rootKey: order.name }, goesOn);
    case "resource":
      return purgeCollection(deps.store, { project, resource: order.name }, goesOn);
    case "sessions":
      return purgeProjectSessions(deps.store, { project, projectUid: order.projectUid }, goesOn);
  }
}

async function isOpen(gateway: Gateway, id: string): Promise<boolean> {
  const { purges, purged } = configKeys;
  const [isOrdered, isDone] = await Promise.all([
    gateway.read(purges, "HEXISTS", purges, id),
    gateway.read(purged, "HEXISTS", purged, id),
  ]);
  return isOrdered === 1 && isDone === 0;
}
