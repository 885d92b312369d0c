// Says which node of a Redis Cluster has a slot, and moves a slot to another one, step by step as
// an operator's tool does, with time for writes in between.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { CommandBatcher, TrackedCommand } from "../../../core/redis/command.ts";
import type { TestRedis } from "./redis.ts";
import type { TestRedisCluster } from "./redis-cluster.ts";

const slots = 16_384;
const defaultPause = 30;
const keysAtOnce = 1_000;
/** Hundreds, one by one and with a pause after each, would take minutes. */
const maxSingle = 20;
/** For how long the other node may not answer. */
const migrateMs = 30_000;

export function slotOf(key: string): number {
  return new TrackedCommand({ name: "get", args: [], keys: [key] }, new CommandBatcher()).getSlot();
}

/** The master that held this key's slot at the start. */
export function nodeOf({ nodes }: TestRedisCluster, key: string): TestRedis {
  return nodes[Math.floor((slotOf(key) * nodes.length) / slots)] as TestRedis;
}

export interface MovePace {
  /** Between two steps; 30 ms by default. */
  readonly pauseMs?: number;
  /**
   * Keys that go first, one by one, the first twenty of them; by default three, whichever they are.
   */
  readonly first?: (key: string) => boolean;
  /** Awaited once those have gone. */
  readonly between?: () => Promise<void>;
}

/** From the node that holds keys of the slot to the next one. */
export async function moveSlot({ nodes }: TestRedisCluster, slot: number, pace: MovePace = {}): Promise<void> {
  const clients = nodes.map(({ host, port }) => new Redis({ host, port }));
  const { pauseMs = defaultPause } = pace;
  try {
    const counts = await Promise.all(clients.map((client) => client.cluster("COUNTKEYSINSLOT", slot)));
    const from = counts.findIndex((count) => count > 0);
    const to = (from + 1) % nodes.length;
    const [source, target] = [clients[from], clients[to]];
    const holder = nodes[to];
    if (source === undefined || target === undefined || holder === undefined) throw new Error("Nobody holds the slot");
    const [sourceId, targetId] = [await source.cluster("MYID"), await target.cluster("MYID")];
    await target.cluster("SETSLOT", slot, "IMPORTING", sourceId);
    await source.cluster("SETSLOT", slot, "MIGRATING", targetId);
    await sleep(pauseMs);
    await moveKeys(source, holder, slot, pace);
    for (const client of [target, source, ...clients]) await client.cluster("SETSLOT", slot, "NODE", targetId);
    await sleep(pauseMs);
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function moveKeys(
  source: Redis,
  to: TestRedis,
  slot: number,
  { pauseMs = defaultPause, first, between }: MovePace,
): Promise<void> {
  for (;;) {
    const keys = (await source.cluster("GETKEYSINSLOT", slot, keysAtOnce)) as readonly string[];
    if (keys.length === 0) return;
    // One by one first, so that scripts meet keys on both sides.
    const single = first === undefined ? keys.slice(0, 3) : keys.filter(first).slice(0, maxSingle);
    for (const key of single) {
      await source.call("MIGRATE", to.host, to.port, key, 0, migrateMs);
      await sleep(pauseMs);
    }
    await between?.();
    const rest = keys.filter((key) => !single.includes(key));
    if (rest.length > 0) await source.call("MIGRATE", to.host, to.port, "", 0, migrateMs, "KEYS", ...rest);
  }
}
