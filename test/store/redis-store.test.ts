// Runs the store's conformance suite against real Redis JSON: one server, and a Cluster of three. The first goes by a clock
// that the suite moves, but for sessions, whose end is counted by Redis' own clock, and has no more permissions than
// docs/reference/redis.md names; the second goes by the time of day, so that Redis' own expiry is seen as well.

import { afterAll, beforeAll, describe } from "vitest";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { manualClock } from "../support/manual-clock.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis-acl.ts";
import { startRedisCluster, type TestRedisCluster } from "../support/redis-cluster.ts";
import { describeBucketStore } from "./contract/buckets.ts";
import { describeCounterStore } from "./contract/counters.ts";
import { describeDocumentStore } from "./contract/documents.ts";
import type { MakeStore, StoreUnderTest } from "./contract/fixture.ts";
import { describeObjectStore } from "./contract/objects.ts";
import { describeReceipts } from "./contract/receipts.ts";
import { describeSessionStore } from "./contract/sessions.ts";

describe("one Redis", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
    await allowAsDocumented(redis);
  });
  afterAll(() => redis.stop());

  const url = (): string => documentedUrl(redis, "jsonplane-dataplane");
  const byMovedClock: MakeStore = async () => {
    const clock = manualClock();
    return { ...(await replicas(url(), clock)), advance: (milliseconds) => clock.advance(milliseconds) };
  };
  describeObjectStore("Redis store", byMovedClock);
  describeDocumentStore("Redis store", byMovedClock);
  describeReceipts("Redis store", () => replicas(url(), systemClock));
  describeSessionStore("Redis store", () => replicas(url(), systemClock));
  describeCounterStore("Redis store", byMovedClock);
  describeBucketStore("Redis store", byMovedClock);
});

describe("a Cluster of three", () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  const make: MakeStore = () => replicas(cluster.url, systemClock);
  describeObjectStore("Redis Cluster store", make);
  describeDocumentStore("Redis Cluster store", make);
  describeReceipts("Redis Cluster store", make);
  describeSessionStore("Redis Cluster store", make);
  describeCounterStore("Redis Cluster store", make);
  describeBucketStore("Redis Cluster store", make);
});

/** A store, and as many others as are opened, all closed together. */
async function replicas(url: string, clock: Clock): Promise<StoreUnderTest> {
  const opened: Store[] = [];
  const open = async () => {
    const store = await createRedisStore({ url, clock });
    opened.push(store);
    return store;
  };
  return {
    store: await open(),
    open,
    clock,
    async close() {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}
