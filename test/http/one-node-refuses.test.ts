// What goes on while a node of a Redis Cluster refuses writes and others take them: each project
// waits for its own node.

import { hash } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Clock, systemClock } from "../../core/clock.ts";
import { collectionKeys, counterKey, sessionKeys } from "../../dataplane/store/redis/keys.ts";
import { login, outcome, refresh, type Sender } from "../support/http/api-calls.ts";
import { send } from "../support/http/http-client.ts";
import { project, withLimits, withResource, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { nodeOf } from "../support/redis/move-slot.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster, type TestRedisCluster } from "../support/redis/redis-cluster.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";

const { MISCONF } = refusedWrites;
const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const limit = 2;

let cluster: TestRedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.stop());

const closing: (() => Promise<void>)[] = [];
const refusing = new Set<TestRedis>();
afterEach(async () => {
  for (const node of refusing) await leave(node);
  for (const close of closing.splice(0).reverse()) await close();
});

async function enter(node: TestRedis): Promise<void> {
  await MISCONF.enter(node);
  refusing.add(node);
}

async function leave(node: TestRedis): Promise<void> {
  await MISCONF.leave(node);
  refusing.delete(node);
}

/** Moves on when a test says so, for every replica that it starts. */
let aheadMs = 0;
const clock: Clock = {
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
};

const namespace = "refusing";
/** A name of which this is so; each call finds other names. */
let tried = 0;
function nameWhere(isWanted: (name: string) => boolean): string {
  for (;;) {
    tried += 1;
    const name = `shop-${tried}`;
    if (isWanted(name)) return name;
  }
}

/** Of a project whose sessions this node keeps. */
const nameAt = (node: number) =>
  nameWhere((name) => nodeOf(cluster, sessionKeys({ namespace, name }).byUser) === cluster.nodes[node]);

async function replica(...names: readonly string[]): Promise<Served> {
  const store = await openRedisStore({ url: cluster.url, clock });
  const projects = names.map((name) =>
    project(
      name,
      withUser("alice"),
      withResource("messages", { access: anyone }),
      withLimits({ anonymousWritesPerMinute: limit }),
    ),
  );
  const served = await serveFrom(store, projects, { clock, namespace });
  closing.push(async () => {
    await served.plane.close();
    await store.close();
  });
  return served;
}

const projectOf = (served: Served, name: string): Sender => ({
  send: (path, sent) => send(served.origin, `/${namespace}/${name}${path}`, sent),
});

it("refreshes are noted by the node that takes writes again, while those of another one wait", async () => {
  const [waits, recovers] = [nameAt(1), nameAt(2)];
  const served = await replica(waits, recovers);
  const before = await login(projectOf(served, waits), "alice");
  const noted = await login(projectOf(served, recovers), "alice");
  const after = await login(projectOf(served, waits), "alice");
  const [refused, taking] = cluster.nodes.slice(1) as [TestRedis, TestRedis];
  await enter(refused);
  await enter(taking);
  aheadMs += 100_000;
  const refreshedAt = Math.floor(clock.now() / 1_000);
  expect((await refresh(projectOf(served, waits), before.refresh_token)).status).toBe(200);
  expect((await refresh(projectOf(served, recovers), noted.refresh_token)).status).toBe(200);
  expect((await refresh(projectOf(served, waits), after.refresh_token)).status).toBe(200);
  await leave(taking);
  await eventually(async () => {
    const session = await served.store.session({ namespace, name: recovers }, noted.session_id);
    expect(session?.lastRefresh).toBeGreaterThanOrEqual(refreshedAt);
  });
});

it("the hour of refreshes that are not noted is counted for each node alone", async () => {
  const [first, later] = [nameAt(1), nameAt(2)];
  const served = await replica(first, later);
  const { refresh_token } = await login(projectOf(served, first), "alice");
  const other = await login(projectOf(served, later), "alice");
  const [node, otherNode] = cluster.nodes.slice(1) as [TestRedis, TestRedis];
  await enter(node);
  expect((await refresh(projectOf(served, first), refresh_token)).status).toBe(200);
  aheadMs += 3_700_000;
  expect(outcome(await refresh(projectOf(served, first), refresh_token))).toEqual([503, "store_unavailable"]);
  await enter(otherNode);
  for (let times = 0; times < 2; times += 1) {
    expect((await refresh(projectOf(served, later), other.refresh_token)).status).toBe(200);
  }
});

it("writes without a credential go on, counted by each replica alone, where only the node of their count refuses", async () => {
  const [counting, holding] = [cluster.nodes[1] as TestRedis, cluster.nodes[2]];
  const name = nameWhere((each) => {
    const count = counterKey(hash("sha256", `${namespace}/${each}`).slice(0, 16), "");
    const data = collectionKeys({ project: { namespace, name: each }, resource: "messages" }).ids;
    return nodeOf(cluster, count) === counting && nodeOf(cluster, data) === holding;
  });
  const replicas = [projectOf(await replica(name), name), projectOf(await replica(name), name)];
  const create = async (at: Sender) => outcome(await at.send("/api/messages", { method: "POST", body: {} }));
  await enter(counting);
  for (const at of replicas) {
    const created: unknown[] = [];
    for (let times = 0; times < limit; times += 1) created.push((await create(at))[0]);
    expect(created).toEqual(Array(limit).fill(201));
    expect(await create(at)).toEqual([429, "write_throttled"]);
  }
});
