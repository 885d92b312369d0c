// A Redis that refuses writes for a while: no memory, a replica by mistake, a disk that is full.

import { askRedis } from "../../support/redis/redis-line.ts";
import { oneServer } from "../places.ts";
import type { Scenario, Stage } from "../scenario.ts";

async function tell({ world }: Stage, command: string): Promise<void> {
  const reply = await askRedis(world.redis.server.port, command);
  if (!reply.startsWith("+OK")) throw new Error(`${command}: ${reply.trim()}`);
}

function inAndOut(what: string, enter: string, leave: string): Scenario["run"] {
  return async (stage) => {
    while (stage.left() > 0) {
      stage.history.fault(what);
      await tell(stage, enter);
      await stage.pause(300, 2_000);
      await tell(stage, leave);
      await stage.pause(300, 1_000);
    }
  };
}

export const outOfMemory: Scenario = {
  name: "out-of-memory",
  does: "`maxmemory` falls below what Redis holds, with `noeviction`, and rises again",
  promises: "nothing acknowledged is lost; reads go on; no half of a write is left",
  plan: { redis: oneServer("none") },
  seconds: 12,
  run: inAndOut("no memory", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
};

export const readOnly: Scenario = {
  name: "readonly",
  does: "Redis becomes the replica of a server that isn't there, answers READONLY, and is a primary again",
  promises: "nothing acknowledged is lost; reads go on",
  plan: { redis: oneServer("none") },
  seconds: 12,
  run: inAndOut("READONLY", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
};
