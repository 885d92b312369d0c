// Processes that are killed while clients write: replicas, and Redis with each kind of durability.

import { recordSeconds } from "../../../dataplane/operation/idempotency.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { proxyOf } from "../world-replica.ts";
import { follows } from "./changes.ts";

/**
 * What may be gone of an append-only file that is synced every second: Redis puts a sync off for
 * two seconds at most.
 */
const everysecMs = 2_000;

export const replicaKill: Scenario = {
  name: "replica-kill",
  does: "kill -9 of one of two replicas under writes, again and again; each is started again on its ports",
  plan: { redis: oneServer("none"), follows },
  seconds: 12,
  async run({ world, history, random, left, pause }: Stage) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      await pause(300, 1_500);
      history.fault(`kill -9 ${replica.name}`);
      await replica.kill();
      await pause(0, 500);
      await replica.start();
    }
  },
};

/** A write that leaves a record says at its end for how long; a look for one does not. */
const leavesRecord = new RegExp(`:idempotency:[^]*\\r\\n${recordSeconds}\\r\\n`);

export const replicaKillUnheard: Scenario = {
  name: "replica-kill-unheard",
  does: "kill -9 of one of two replicas, again and again, when Redis has carried out a POST with an Idempotency-Key and the replica has not got the reply",
  plan: { redis: oneServer("none"), follows, proxies: true },
  seconds: 12,
  async run({ world, history, random, left, pause }: Stage) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      const proxy = proxyOf(replica);
      await pause(100, 500);
      proxy.dropRepliesTo(leavesRecord);
      // Nobody may ask any more: a run ends at the first thing that must not be.
      await Promise.race([proxy.dropped(), pause(10_000)]);
      history.fault(`kill -9 ${replica.name}, which did not hear`);
      await replica.kill();
      proxy.cut();
      await replica.start();
    }
  },
};

function redisKill(durability: "always" | "everysec"): Scenario["run"] {
  return async ({ world, history, left, pause, mayLose }) => {
    // What was stored before the first kill is on the disk by then, whatever the setting.
    if (durability === "everysec") await pause(everysecMs);
    while (left() > 0) {
      await pause(200, 1_500);
      history.fault("kill -9 redis");
      const from = history.now() - everysecMs;
      await world.redis.server.kill();
      if (durability === "everysec") mayLose(from);
      await pause(0, 1_200);
      await world.redis.server.restart();
      await pause(1_500, 2_500);
    }
  };
}

export const redisKillAlways: Scenario = {
  name: "redis-kill-always",
  does: "kill -9 of Redis with `appendfsync always` under writes, again and again",
  plan: { redis: oneServer("always"), follows },
  seconds: 12,
  run: redisKill("always"),
};

export const redisKillEverysec: Scenario = {
  name: "redis-kill-everysec",
  does: "kill -9 of Redis with `appendfsync everysec` under writes, again and again",
  plan: { redis: oneServer("everysec"), follows },
  seconds: 12,
  run: redisKill("everysec"),
};
