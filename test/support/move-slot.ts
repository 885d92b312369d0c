// Moves a slot of a Redis Cluster to another node, step by step as an operator's tool does, with time for writes in between.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { Outlet, TrackedCommand } from "../../core/redis/command.ts";
import type { TestRedisCluster } from "./redis-cluster.ts";

const keysAtOnce = 100;

export function slotOf(key: string): number {
  return new TrackedCommand({ name: "get", args: [], keys: [key] }, new Outlet()).getSlot();
}

/** From the node that holds keys of the slot to the next one; `pauseMs` between two steps. */
export async function moveSlot({ nodes }: TestRedisCluster, slot: number, pauseMs = 30): Promise<void> {
  const clients = nodes.map(({ host, port }) => new Redis({ host, port }));
  try {
    const counts = await Promise.all(clients.map((client) => client.cluster("COUNTKEYSINSLOT", slot)));
    const from = counts.findIndex((count) => count > 0);
    const to = (from + 1) % nodes.length;
    const [source, target] = [clients[from], clients[to]];
    const place = nodes[to];
    if (source === undefined || target === undefined || place === undefined) throw new Error("Nobody holds the slot");
    const [sourceId, targetId] = [await source.cluster("MYID"), await target.cluster("MYID")];
    await target.cluster("SETSLOT", slot, "IMPORTING", sourceId);
    await source.cluster("SETSLOT", slot, "MIGRATING", targetId);
    await sleep(pauseMs);
    for (;;) {
      const keys = (await source.cluster("GETKEYSINSLOT", slot, keysAtOnce)) as readonly string[];
      if (keys.length === 0) break;
      // One by one first, so that scripts meet keys on both sides.
      for (const key of keys.slice(0, 3)) {
        await source.call("MIGRATE", place.host, place.port, key, 0, 2_000);
        await sleep(pauseMs);
      }
      const rest = keys.slice(3);
      if (rest.length > 0) await source.call("MIGRATE", place.host, place.port, "", 0, 2_000, "KEYS", ...rest);
    }
    for (const client of [target, source, ...clients]) await client.cluster("SETSLOT", slot, "NODE", targetId);
    await sleep(pauseMs);
  } finally {
    for (const client of clients) client.disconnect();
  }
}
