// What happens between replicas and Redis: connections that end, stand still, lose something, or
// are dead without anybody saying so.

import { oneServer } from "../redis-deployments.ts";
import type { Scenario } from "../scenario.ts";
import { proxyOf } from "../world-replica.ts";
import { follows } from "./changes.ts";

const plan = { redis: oneServer("none"), proxies: true, follows } as const;

export const connectionCuts: Scenario = {
  name: "connection-resets",
  does: "all connections between a replica and Redis are reset, again and again; before some resets, requests or replies are dropped",
  plan,
  seconds: 12,
  async run({ world, history, random, left, pause }) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      const how = random.pick(["cut", "requests", "replies"] as const);
      history.fault(`${replica.name}: ${how}`);
      if (how !== "cut") {
        proxyOf(replica).drop(how);
        await pause(5, 200);
      }
      proxyOf(replica).cut();
      await pause(100, 900);
    }
  },
};

export const stalls: Scenario = {
  name: "stalls",
  does: "nothing passes between a replica and Redis for one to four seconds; then everything arrives, late",
  plan,
  seconds: 16,
  async run({ world, history, random, left, pause }) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      history.fault(`${replica.name}: a stall`);
      proxyOf(replica).hold();
      await pause(1_000, 4_000);
      proxyOf(replica).release();
      await pause(300, 1_500);
    }
  },
};

export const halfOpen: Scenario = {
  name: "half-open",
  does: "a replica's connections to Redis pass nothing any more but are not closed, as after a firewall dropped them; new ones work",
  plan,
  seconds: 16,
  async run({ world, history, random, left, pause }) {
    while (left() > 0) {
      const replica = random.pick(world.replicas);
      history.fault(`${replica.name}: half-open`);
      proxyOf(replica).abandon();
      await pause(3_500, 5_000);
    }
  },
};
