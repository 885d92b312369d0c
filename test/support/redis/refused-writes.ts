// States of a real Redis in which it answers reads and refuses writes, by the first word of its
// refusals: how each is entered and left. Takes a server of the test's own, without an append-only
// file.

import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../time/eventually.ts";
import { askRedis } from "./ask-redis.ts";
import type { TestRedis } from "./redis.ts";

export interface Refusing {
  enter(redis: TestRedis): Promise<void>;
  leave(redis: TestRedis): Promise<void>;
}

async function send({ port }: TestRedis, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const reply = await askRedis(port, command);
    if (!reply.startsWith("+")) throw new Error(`${command}: ${reply.trim()}`);
  }
}

/** A folder where Redis wants to put its file: it can't save, as on a full disk. */
const inTheWay = ({ dir }: TestRedis): string => join(dir, "dump.rdb");

async function endedSaving({ port }: TestRedis): Promise<void> {
  const info = await askRedis(port, "INFO persistence");
  if (!info.includes("rdb_bgsave_in_progress:0")) throw new Error("Redis is still saving");
}

/**
 * What it says to a write that changes nothing and is refused all the same; to one of its own
 * slots, if it is a node of a Cluster.
 */
async function answerToWrite({ port }: TestRedis): Promise<string> {
  for (let n = 0; ; n += 1) {
    const reply = await askRedis(port, `SETRANGE jsonplane-test-probe-${n} 0 ''`);
    if (!reply.startsWith("-MOVED ")) return reply;
  }
}

async function until(redis: TestRedis, start: string): Promise<void> {
  await eventually(async () => {
    const reply = await answerToWrite(redis);
    if (!reply.startsWith(start)) throw new Error(`Redis answers a write with ${reply.trim()}, not ${start}`);
  });
}

function refusing(code: string, enter: Refusing["enter"], leave: Refusing["leave"]): Refusing {
  return {
    async enter(redis) {
      await enter(redis);
      await until(redis, `-${code} `);
    },
    async leave(redis) {
      await leave(redis);
      await until(redis, ":");
    },
  };
}

export const refusedWrites = {
  /** More is held than `maxmemory` allows. */
  OOM: refusing(
    "OOM",
    (redis) => send(redis, "CONFIG SET maxmemory 1"),
    (redis) => send(redis, "CONFIG SET maxmemory 0"),
  ),
  /** A replica, of a primary that isn't there. */
  READONLY: refusing(
    "READONLY",
    (redis) => send(redis, "REPLICAOF 127.0.0.1 1"),
    (redis) => send(redis, "REPLICAOF NO ONE"),
  ),
  /** The last snapshot failed. */
  MISCONF: refusing(
    "MISCONF",
    async (redis) => {
      await mkdir(inTheWay(redis));
      await send(redis, "CONFIG SET save '3600 1'");
      // Another one may be under way.
      await eventually(() => send(redis, "BGSAVE"));
      // One that ends later would put its file in the place of the folder that is gone by then.
      await eventually(() => endedSaving(redis));
    },
    async (redis) => {
      await rmdir(inTheWay(redis));
      await send(redis, "CONFIG SET save ''");
    },
  ),
  /** Fewer replicas than `min-replicas-to-write`. */
  NOREPLICAS: refusing(
    "NOREPLICAS",
    (redis) => send(redis, "CONFIG SET min-replicas-to-write 1"),
    (redis) => send(redis, "CONFIG SET min-replicas-to-write 0"),
  ),
} as const satisfies Readonly<Record<string, Refusing>>;

/** For a test per state. */
export const refusedWriteStates: readonly (readonly [string, Refusing])[] = Object.entries(refusedWrites);
