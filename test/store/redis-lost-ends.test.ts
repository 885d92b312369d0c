// Ends of sessions that Redis acknowledged and lost: a follower is promoted that had not heard of them, a server comes back with an
// older snapshot. Whoever ended one tells it again.

import { afterEach, expect, it } from "vitest";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { revocations, sessionKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { slotOf } from "../support/redis/move-slot.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster } from "../support/redis/redis-cluster.ts";
import { askRedis } from "../support/redis/redis-line.ts";
import { eventually } from "../support/time/eventually.ts";
import { freshProject } from "./contract/fixture.ts";

const ample = { maxPerUser: 100, maxPerProject: 1_000 };
const tokensLive = 300;

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
      const heard = new Map<string, number>();
      const { stop } = await store.followEndedSessions((ended, seconds) => heard.set(ended, seconds));
      await stop();
      expect(heard.get(id)).toBeGreaterThan(0);
      expect(heard.get(id)).toBeLessThanOrEqual(tokensLive);
    },
    { withinMs: 60_000 },
  );
  expect(await store.sessions(project, { limit: 10 })).toEqual([]);
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
  expect(await replica.endSession(project, "one", tokensLive)).toBe(true);
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
  expect(await replica.endSession(project, "one", tokensLive)).toBe(true);
  for (let times = 0; times < 2; times += 1) {
    await fallBack(redis);
    await expectEnded(await open(redis.url), project, "one");
  }
});

it("are told to the one node of a Cluster that lost them, of which the others know nothing", async () => {
  const cluster = await kept(startRedisCluster());
  const replica = await openReplica(cluster.url);
  const nodeOf = (key: string) => Math.floor((slotOf(key) * cluster.nodes.length) / 16_384);
  let project = freshProject();
  while (nodeOf(sessionKeys(project).byUser) === nodeOf(revocations.set)) project = freshProject();
  const node = cluster.nodes[nodeOf(sessionKeys(project).byUser)] as TestRedis;
  const other = await open(cluster.url);
  await begin(replica, project, "one");
  await askRedis(node.port, "SAVE");
  expect(await replica.endSession(project, "one", tokensLive)).toBe(true);
  await fallBack(node);
  await expectEnded(other, project, "one");
});
