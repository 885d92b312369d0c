// What the operator publishes, and what replicas say of it, while Redis' memory is used up by what
// tenants store: nobody could be locked out, and nothing be removed, if that waited for room.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createAcknowledger } from "../../dataplane/config/acknowledge.ts";
import { createPurges } from "../../operator/publish/purges.ts";
import { begunPublisher, openRedisClient, storedFields } from "../support/fleet/publishing.ts";
import { project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { refusedWrites } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop", withUser("ann"), withKey("ci"), withResource("books"));
const withoutCredentials = project("shop", withResource("books"));
const other = project("other", withRootKey("flags"));

describe("a Redis whose memory is used up", () => {
  let redis: TestRedis;
  let redisClient: RedisClient;
  beforeAll(async () => {
    redis = await startRedis();
    redisClient = await openRedisClient(redis.url);
  });
  afterAll(async () => {
    redisClient.disconnect();
    await redis.stop();
  });

  it("takes what is revoked, withdrawn and ordered to be purged, and the heartbeats of replicas", async () => {
    const publisher = await begunPublisher({ redisClient, keyring });
    await publisher.publish(other);
    const { revision } = await publisher.publish(shop);
    await refusedWrites.OOM.enter(redis);
    try {
      expect((await publisher.publish(withoutCredentials)).revision).toBeGreaterThan(revision);
      expect((await storedFields(redisClient, ref)).filter((field) => /^(?:user|key):/.test(field))).toEqual([]);
      await publisher.withdraw({ namespace: "default", name: "other" });
      const purges = createPurges(redisClient, publisher);
      await purges.order("books", { what: "resource", project: ref, name: "books" });
      expect(await purges.isOrdered("books")).toBe(true);
      const acknowledger = createAcknowledger(redisClient, "r1", { kids: () => [], building: () => [] });
      acknowledger.applied(revision, []);
      await eventually(async () => {
        expect(await redisClient.read(configKeys.replicas, "ZCARD", configKeys.replicas)).toBe(1);
      });
      await acknowledger.stop();
    } finally {
      await refusedWrites.OOM.leave(redis);
    }
  });
});
