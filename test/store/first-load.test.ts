// A project's first load on a replica while the project changes: what was read before the change
// must not stay.

import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { projectConfigKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createRedisDirectory, type RedisDirectory } from "../../dataplane/config/redis-directory.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { changed, project, withRootKey } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop");

let redis: TestRedis;
let redisClient: RedisClient;
let waiting: RedisClient;
let replica: RedisDirectory | undefined;

beforeAll(async () => {
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  waiting = await openRedisClient(redis.url, 10_000);
});
afterAll(async () => {
  await replica?.stop();
  redisClient.disconnect();
  await redis.stop();
});

it("is read again when the change comes before the first reading is taken over", async () => {
  const publisher = await begunPublisher({ redisClient, keyring });
  await publisher.publish(shop);
  await publisher.complete();
  const held = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  let applied = 0;
  const commands: RedisClient = {
    ...redisClient,
    async read(key, name, ...args) {
      const reply = await redisClient.read(key, name, ...args);
      if (key === projectConfigKey(ref) && name === "HGETALL") {
        read.resolve();
        await held.promise;
      }
      return reply;
    },
  };
  replica = createRedisDirectory({
    beforeTaking: async () => undefined,
    commands,
    waiting,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    onApplied: (revision) => {
      applied = revision;
    },
  });
  const { directory } = replica;
  await eventually(() => expect(directory.synced()).toBe(true));
  const first = directory.project(ref);
  await read.promise;
  const { revision } = await publisher.publish(changed(shop, withRootKey("new")));
  // Long enough for the hint to come while the reading stands still.
  await eventually(() => expect([...directory.projects()]).toHaveLength(1));
  setTimeout(held.resolve, 300);
  await first;
  await eventually(() => expect(applied).toBeGreaterThanOrEqual(revision));
  const now = await directory.project(ref);
  expect(now.outcome === "found" && now.value.rootKeys.has("new")).toBe(true);
});
