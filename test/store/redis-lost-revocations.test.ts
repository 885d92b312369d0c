// Ends of sessions that Redis acknowledged and lost: a follower is promoted that had not heard of
// them, a server comes back with an older snapshot. Whoever ended one tells it again.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { ProjectRef } from "../../core/config/types.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { revocations, sessionKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { nodeOf } from "../support/redis/move-slot.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster, type TestRedisCluster } from "../support/redis/redis-cluster.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";
import { freshProject } from "./contract/fixture.ts";

const ample = { maxPerUser: 1_000, maxPerProject: 1_000 };
const tokenLifetimeSeconds = 300;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function kept<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const part = await starting;
  closing.push(() => part.stop());
  return part;
}

async function open(url: string, rereadMs?: number): Promise<Store> {
  const store = await openRedisStore({ url, ...(rereadMs !== undefined && { rereadMs }) });
  closing.push(() => store.close());
  return store;
}

/** One that notices within moments that Redis is another one. */
async function openReplica(url: string): Promise<Store> {
  const store = await open(url, 300);
  await store.followEndedSessions(() => undefined);
  return store;
}

async function begin(store: Store, project: ProjectRef, id: string): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const session = { id, projectUid: "p", username: "al", credentialRevision: "r", created: now, lastRefresh: now };
  expect(await store.putSession(project, { ...session, expires: now + 72 * 3_600 }, ample)).toBe("stored");
}

/** Says so to replicas that start from now on, and has no session that could be refreshed. */
async function expectEnded(store: Store, project: ProjectRef, id: string): Promise<void> {
  await eventually(
    async () => {
      expect(await store.session(project, id)).toBeUndefined();
      const received = new Map<string, number>();
      const { stop } = await store.followEndedSessions((ended, seconds) => received.set(ended, seconds));
      await stop();
      expect(received.get(id)).toBeGreaterThan(0);
      expect(received.get(id)).toBeLessThanOrEqual(tokenLifetimeSeconds);
    },
    { withinMs: 60_000 },
  );
  expect(await store.sessions(project, { limit: 10 })).toEqual([]);
}

/** One whose sessions are kept by another node than the revocations of all, and than these. */
function projectBeside(cluster: TestRedisCluster, ...others: readonly ProjectRef[]): ProjectRef {
  const taken = [revocations.set, ...others.map((other) => sessionKeys(other).byUser)].map((key) =>
    nodeOf(cluster, key),
  );
  for (;;) {
    const project = freshProject();
    if (!taken.includes(nodeOf(cluster, sessionKeys(project).byUser))) return project;
  }
}

/** A node that doesn't answer from now on, until the test is over. */
async function standStill(node: TestRedis): Promise<void> {
  await node.kill("SIGSTOP");
  closing.push(() => node.kill("SIGCONT"));
}

async function fallBack(redis: TestRedis): Promise<void> {
  await redis.kill("SIGKILL");
  await redis.restart();
}

it("are told to a follower that was promoted without them", async () => {
  const old = await kept(startRedis());
  const next = await kept(startRedis());
  const proxy = await kept(startTcpProxy(old.port));
  await askRedis(next.port, `REPLICAOF 127.0.0.1 ${old.port}`);
  const replica = await openReplica(`redis://127.0.0.1:${proxy.port}`);
  const project = freshProject();
  await begin(replica, project, "one");
  await eventually(async () => {
    expect(await askRedis(next.port, `EXISTS ${sessionKeys(project).session("one")}`)).toContain(":1");
  });
  await askRedis(next.port, "REPLICAOF NO ONE");
  expect(await replica.endSession(project, "one", tokenLifetimeSeconds)).toBe(true);
  proxy.lead(next.port);
  proxy.cut();
  await expectEnded(await open(next.url), project, "one");
});

it("are told to a server that came back with an older snapshot, however often it does", async () => {
  const redis = await kept(startRedis());
  const replica = await openReplica(redis.url);
  const project = freshProject();
  await begin(replica, project, "one");
  await askRedis(redis.port, "SAVE");
  expect(await replica.endSession(project, "one", tokenLifetimeSeconds)).toBe(true);
  for (let times = 0; times < 2; times += 1) {
    await fallBack(redis);
    await expectEnded(await open(redis.url), project, "one");
  }
});

it("are not told at all where it was said that nothing happened", async () => {
  const redis = await kept(startRedis());
  const replica = await openReplica(redis.url);
  const [project, ended] = [freshProject(), freshProject()];
  await begin(replica, project, "one");
  await begin(replica, ended, "two");
  await askRedis(redis.port, "SAVE");
  expect(await replica.endSession(ended, "two", tokenLifetimeSeconds)).toBe(true);
  await refusedWrites.NOREPLICAS.enter(redis);
  await expect(replica.endSession(project, "one", tokenLifetimeSeconds)).rejects.toThrow(StoreUnavailable);
  await fallBack(redis);
  // What is sent again is sent at once.
  await expectEnded(await open(redis.url), ended, "two");
  expect(await replica.session(project, "one")).toBeDefined();
});

it("are told to the one node of a Cluster that lost them, of which the others know nothing", async () => {
  const cluster = await kept(startRedisCluster());
  const replica = await openReplica(cluster.url);
  const project = projectBeside(cluster);
  const node = nodeOf(cluster, sessionKeys(project).byUser);
  const other = await open(cluster.url);
  await begin(replica, project, "one");
  await askRedis(node.port, "SAVE");
  expect(await replica.endSession(project, "one", tokenLifetimeSeconds)).toBe(true);
  await fallBack(node);
  await expectEnded(other, project, "one");
});

describe("while a node of a Cluster does not answer", () => {
  /** Longer than any test: what waits for an answer of that node, waits. */
  const commandTimeoutMs = 3_600_000;

  it("ends of sessions on other nodes are heard of", async () => {
    const cluster = await kept(startRedisCluster());
    const project = projectBeside(cluster);
    const replica = await openRedisStore({ url: cluster.url, rereadMs: 300, commandTimeoutMs });
    closing.push(() => replica.close());
    const received = new Set<string>();
    await replica.followEndedSessions((id) => received.add(id));
    const other = await open(cluster.url);
    await standStill(nodeOf(cluster, sessionKeys(projectBeside(cluster, project)).byUser));
    // Each is followed by a look at all nodes.
    for (const id of ["one", "two", "three"]) {
      await begin(other, project, id);
      expect(await other.endSession(project, id, tokenLifetimeSeconds)).toBe(true);
      await eventually(() => expect([...received]).toContain(id), { withinMs: 60_000 });
      await sleep(600);
    }
  });
});

it("are told to a node of a Cluster however many belong to one that is away, and what is told is not told again", async () => {
  const cluster = await kept(startRedisCluster(3, { nodeTimeoutMs: 600_000 }));
  const away = projectBeside(cluster);
  const losing = nodeOf(cluster, revocations.set);
  let project = freshProject();
  while (nodeOf(cluster, sessionKeys(project).byUser) !== losing) project = freshProject();
  const replica = await openReplica(cluster.url);
  const other = await open(cluster.url);
  const many = Array.from({ length: 120 }, (_, n) => `many-${n}`);
  for (const id of many) await begin(replica, away, id);
  await begin(replica, project, "one");
  await askRedis(losing.port, "SAVE");
  for (const id of many) expect(await replica.endSession(away, id, tokenLifetimeSeconds)).toBe(true);
  expect(await replica.endSession(project, "one", tokenLifetimeSeconds)).toBe(true);
  await nodeOf(cluster, sessionKeys(away).byUser).kill("SIGKILL");
  await fallBack(losing);
  const announced = async (): Promise<number> => {
    const reply = await askRedis(losing.port, `XLEN ${revocations.stream}`);
    return Number(reply.slice(1));
  };
  await eventually(
    async () => {
      expect(await other.session(project, "one")).toBeUndefined();
      expect(await announced()).toBeGreaterThan(many.length);
    },
    { withinMs: 60_000 },
  );
  const before = await announced();
  await sleep(1_500);
  expect(await announced()).toBe(before);
});
