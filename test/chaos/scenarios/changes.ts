// Subscribers of changes without any other fault than their own: they are cut off, and fall behind.

import { askRedis } from "../../support/redis/ask-redis.ts";
import { oneServer } from "../redis-deployments.ts";
import type { Scenario } from "../scenario.ts";

/** More changes than a run makes: no position ever gets too old. */
export const follows = { maxEntries: 100_000 } as const;

export const changesFollowed: Scenario = {
  name: "changes",
  does: "nothing but subscribers that are cut off at random; three replicas",
  plan: { redis: oneServer("none"), replicas: 3, follows },
  seconds: 12,
  run: ({ pause, seconds }) => pause(seconds * 1_000),
};

export const changesTrimmed: Scenario = {
  name: "changes-trimmed",
  does: "logs keep about twenty changes, and subscribers stay away for longer than that; three replicas",
  plan: { redis: oneServer("none"), replicas: 3, follows: { maxEntries: 20 } },
  seconds: 12,
  async run({ world, pause, seconds }) {
    // Redis removes the oldest entries of a log by so many at once.
    await askRedis(world.redis.server.port, "CONFIG SET stream-node-max-entries 10");
    await pause(seconds * 1_000);
  },
};
