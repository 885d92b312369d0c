// A Redis that refuses writes for a while: no memory, a replica by mistake, a disk that is full.

import { askRedis } from "../../support/redis/ask-redis.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { follows } from "./changes.ts";

async function configure({ world }: Stage, command: string): Promise<void> {
  const reply = await askRedis(world.redis.server.port, command);
  if (!reply.startsWith("+OK")) throw new Error(`${command}: ${reply.trim()}`);
}

function inAndOut(what: string, enter: string, leave: string): Scenario["run"] {
  return async (stage) => {
    while (stage.left() > 0) {
      stage.history.fault(what);
      await configure(stage, enter);
      const refused = stage.history.beginRefusing(stage.world.replicas.length);
      await stage.pause(300, 2_000);
      refused.end();
      await configure(stage, leave);
      await stage.pause(300, 1_000);
    }
  };
}

export const outOfMemory: Scenario = {
  name: "out-of-memory",
  does: "`maxmemory` is set below the memory that Redis uses, with `noeviction`, and raised again",
  plan: { redis: oneServer("none"), follows, sessionClients: 2, limits: true, ends: "go on" },
  seconds: 12,
  run: inAndOut("no memory", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
};

export const readOnly: Scenario = {
  name: "readonly",
  does: "Redis becomes the replica of a server that does not exist, answers READONLY, and becomes a primary again",
  plan: { redis: oneServer("none"), sessionClients: 2, limits: true, ends: "fail closed" },
  seconds: 12,
  run: inAndOut("READONLY", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
};
