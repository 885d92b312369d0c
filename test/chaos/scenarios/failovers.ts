// Another Redis becomes the primary while clients write: by Sentinel and in a Cluster; and slots
// that move between primaries.

import { configKeys } from "../../../core/config/config-keys.ts";
import { collectionKeys, documentKeys } from "../../../dataplane/store/redis/keys.ts";
import { askRedis } from "../../support/redis/ask-redis.ts";
import { type MovePace, moveSlot, slotOf } from "../../support/redis/move-slot.ts";
import type { TestRedis } from "../../support/redis/redis.ts";
import { eventually } from "../../support/time/eventually.ts";
import { behindSentinel, onCluster } from "../redis-deployments.ts";
import type { Scenario, Stage } from "../scenario.ts";
import { follows } from "./changes.ts";

/** How far a replica that is in step may be behind. */
const replicationMs = 1_000;
const patience = { withinMs: 30_000, everyMs: 50 };

async function isPrimary({ port }: TestRedis): Promise<boolean> {
  return (await askRedis(port, "INFO replication").catch(() => "")).includes("role:master");
}

async function isInStep({ port }: TestRedis): Promise<boolean> {
  return (await askRedis(port, "INFO replication").catch(() => "")).includes("master_link_status:up");
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await eventually(async () => {
    if (!(await holds())) throw new Error(`Not yet: ${what}`);
  }, patience);
}

/** For a moment, so that something is lost: each write drops the replica. */
async function endReplication({ pause }: Stage, { port }: TestRedis): Promise<void> {
  await askRedis(port, 'CONFIG SET client-output-buffer-limit "replica 1 1 0"');
  await pause(50, 400);
}

interface KilledPrimary {
  readonly what: string;
  /** Whether clients are sent to this one by now. */
  readonly isKnown?: (primary: TestRedis) => Promise<boolean>;
}

/**
 * Kills the primary of a pair, waits until the other one is it, and brings the killed one back as a
 * replica.
 */
async function killPrimary(
  stage: Stage,
  pair: readonly [TestRedis, TestRedis],
  { what, isKnown = async () => true }: KilledPrimary,
): Promise<void> {
  const [primary, replica] = (await isPrimary(pair[0])) ? pair : [pair[1], pair[0]];
  await until("the replica is in step", () => isInStep(replica));
  await stage.pause(500, 1_500);
  if (stage.random.fraction() < 0.5) await endReplication(stage, primary);
  stage.history.fault(`kill -9 of ${what}`);
  const from = stage.history.now() - replicationMs;
  await primary.kill();
  stage.mayLose(from);
  await until("the replica was promoted", () => isPrimary(replica));
  // Without files it comes back empty: whoever starts it before it was replaced everywhere puts an
  // empty primary in its place.
  await until("everybody knows the new primary", () => isKnown(replica));
  await stage.pause(500);
  await primary.restart();
  await until("the former primary is a replica", () => isInStep(primary));
}

export const sentinelKill: Scenario = {
  name: "sentinel-failover",
  does: "kill -9 of the primary behind a Sentinel under writes; the other one is promoted, the killed one comes back as its replica",
  plan: { redis: behindSentinel, follows },
  seconds: 15,
  async run(stage) {
    const { sentinel } = stage.world.redis;
    if (sentinel === undefined) throw new Error("This scenario is for a Sentinel");
    const isKnown = async ({ port }: TestRedis): Promise<boolean> =>
      (await askRedis(sentinel.port, "SENTINEL GET-MASTER-ADDR-BY-NAME main")).includes(String(port));
    while (stage.left() > 0) {
      await killPrimary(stage, [sentinel.primary, sentinel.replica], { what: "the primary", isKnown });
    }
  },
};

export const sentinelPause: Scenario = {
  name: "sentinel-paused-primary",
  does: "the primary behind a Sentinel is paused (SIGSTOP), another one is promoted, and the old one continues as if nothing had happened; `min-replicas-to-write 1`, `min-replicas-max-lag 1`",
  plan: { redis: behindSentinel, follows },
  seconds: 15,
  async run({ world, history, left, pause, mayLose }) {
    const { sentinel } = world.redis;
    if (sentinel === undefined) throw new Error("This scenario is for a Sentinel");
    let pair: readonly [TestRedis, TestRedis] = [sentinel.primary, sentinel.replica];
    for (const { port } of pair) {
      await askRedis(port, "CONFIG SET min-replicas-max-lag 1");
      await askRedis(port, "CONFIG SET min-replicas-to-write 1");
    }
    while (left() > 0) {
      const [primary, replica] = pair;
      await until("the replica is in step", () => isInStep(replica));
      await pause(2_000, 2_500);
      history.fault("the primary stands still");
      const from = history.now() - replicationMs;
      await primary.kill("SIGSTOP");
      await until("the replica was promoted", () => isPrimary(replica));
      await pause(0, 1_000);
      await primary.kill("SIGCONT");
      await pause(1_500);
      mayLose(from);
      await until("the former primary is a replica", () => isInStep(primary));
      pair = [replica, primary];
    }
  },
};

export const clusterKill: Scenario = {
  name: "cluster-failover",
  does: "kill -9 of a Cluster's primaries under writes, one after the other; its replica is promoted, the killed one comes back as a replica",
  plan: { redis: onCluster({ replicas: true }), follows },
  seconds: 20,
  async run(stage) {
    const { cluster } = stage.world.redis;
    if (cluster === undefined) throw new Error("This scenario is for a Cluster");
    while (stage.left() > 0) {
      const at = stage.random.whole(cluster.nodes.length);
      const [first, second] = [cluster.nodes[at], cluster.replicas[at]];
      if (first === undefined || second === undefined) throw new Error("Every master has a replica");
      await killPrimary(stage, [first, second], { what: `master ${at + 1}` });
    }
  },
};

const paces: readonly MovePace[] = [
  { pauseMs: 5 },
  { pauseMs: 30 },
  { pauseMs: 300 },
  { pauseMs: 20, first: (key) => key.includes(":doc:") },
  { pauseMs: 300, first: (key) => !key.includes(":doc:") },
];

export const slotMigration: Scenario = {
  name: "slot-migration",
  does: "the slots of objects, documents and configuration move between primaries, key by key, under writes: MOVED, ASK, TRYAGAIN",
  plan: { redis: onCluster({ replicas: false }), follows },
  seconds: 12,
  async run({ world, history, random, left, pause }) {
    const { cluster } = world.redis;
    if (cluster === undefined) throw new Error("This scenario is for a Cluster");
    const project = { namespace: "default", name: "shop" };
    const slots = {
      objects: slotOf(collectionKeys({ project, resource: "items" }).ids),
      shelf: slotOf(collectionKeys({ project, resource: "shelf" }).ids),
      log: slotOf(documentKeys({ project, rootKey: "log" }).value),
      registers: slotOf(documentKeys({ project, rootKey: "registers" }).value),
      configuration: slotOf(configKeys.meta),
    };
    while (left() > 0) {
      const [what, slot] = random.pick(Object.entries(slots));
      history.fault(`the slot of ${what} moves`);
      await moveSlot(cluster, slot, random.pick(paces));
      await pause(0, 300);
    }
  },
};
