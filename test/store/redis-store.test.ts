// Runs the store's conformance suite against real Redis JSON. It goes by a clock that the suite
// moves, but for what Redis counts by its own clock, and has no more permissions than
// docs/reference/redis.md names.

import { afterAll, beforeAll, describe } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { redisReplicas } from "../support/redis/redis-replicas.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { describeBucketStore } from "./contract/buckets.ts";
import { describeChangeLogs } from "./contract/changes.ts";
import { describeCounterStore } from "./contract/counters.ts";
import { describeDocumentStore } from "./contract/documents.ts";
import { describeExpiry } from "./contract/expiry.ts";
import type { MakeStore } from "./contract/fixture.ts";
import { describeIdempotencyRecords } from "./contract/idempotency-records.ts";
import { describeObjectStore } from "./contract/objects.ts";
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
    return { ...(await redisReplicas(url(), clock)), advance: (milliseconds) => clock.advance(milliseconds) };
  };
  const byOwnClock: MakeStore = () => redisReplicas(url(), systemClock);
  describeObjectStore("Redis store", byMovedClock);
  describeDocumentStore("Redis store", byMovedClock);
  describeIdempotencyRecords("Redis store", byOwnClock);
  describeChangeLogs("Redis store", byOwnClock);
  describeExpiry("Redis store", byOwnClock);
  describeSessionStore("Redis store", byOwnClock);
  describeCounterStore("Redis store", byOwnClock);
  describeBucketStore("Redis store", byOwnClock);
});
