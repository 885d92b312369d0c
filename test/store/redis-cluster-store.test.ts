// Runs the store's conformance suite against real Redis JSON in a Cluster of three. It goes by the
// time of day, so that Redis' own expiry is seen as well.

import { beforeAll, describe } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { redisReplicas } from "../support/redis/redis-replicas.ts";
import { sharedRedisCluster } from "../support/redis/shared-redis.ts";
import { describeBucketStore } from "./contract/buckets.ts";
import { describeChangeLogs } from "./contract/changes.ts";
import { describeCounterStore } from "./contract/counters.ts";
import { describeDocumentStore } from "./contract/documents.ts";
import { describeExpiry } from "./contract/expiry.ts";
import type { MakeStore } from "./contract/fixture.ts";
import { describeIdempotencyRecords } from "./contract/idempotency-records.ts";
import { describeObjectStore } from "./contract/objects.ts";
import { describeSessionStore } from "./contract/sessions.ts";

describe("a Cluster of three", () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await sharedRedisCluster());
  });

  const make: MakeStore = () => redisReplicas(url, systemClock);
  describeObjectStore("Redis Cluster store", make);
  describeDocumentStore("Redis Cluster store", make);
  describeIdempotencyRecords("Redis Cluster store", make);
  describeChangeLogs("Redis Cluster store", make);
  describeExpiry("Redis Cluster store", make);
  describeSessionStore("Redis Cluster store", make);
  describeCounterStore("Redis Cluster store", make);
  describeBucketStore("Redis Cluster store", make);
});
