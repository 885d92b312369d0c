// Subscribers of changes without any other fault than their own: they are cut off, and fall behind.

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
  does: "logs keep about a hundred changes, and subscribers stay away for longer than that; three replicas",
  plan: { redis: oneServer("none"), replicas: 3, follows: { maxEntries: 100 } },
  seconds: 12,
  run: ({ pause, seconds }) => pause(seconds * 1_000),
};
