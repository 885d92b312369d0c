// Wall clocks of replicas that jump by about an hour and back, as after a virtual machine was
// moved. Their process gets another Date before the program starts (shifted-date.ts); timers and
// Redis' own clock go on as they are.

import { oneServer } from "../redis-deployments.ts";
import type { Scenario } from "../scenario.ts";

const minute = 60_000;

export const clockJumps: Scenario = {
  name: "clock-jumps",
  does: "the wall clock of a replica jumps by an hour, give or take two minutes, forward or back, and returns seconds later",
  plan: { redis: oneServer("none"), shiftedClocks: true, sessionClients: 2, limits: true },
  seconds: 20,
  async run({ world, history, random, left, pause }) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      const by = random.pick([-1, 1]) * (60 * minute + (random.fraction() * 4 - 2) * minute);
      history.fault(`${replica.name}: ${Math.round(by / minute)} min`);
      await replica.shiftClock(by);
      await pause(1_000, 3_000);
      await replica.shiftClock(0);
      await pause(500, 2_000);
      if (random.fraction() < 0.4) {
        await replica.kill();
        await replica.start();
      }
    }
    // So that what was ended first is beyond its limit.
    await pause(10_500);
  },
};
