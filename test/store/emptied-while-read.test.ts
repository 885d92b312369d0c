// Redis is emptied between two commands by which a replica follows the configuration: what it
// doesn't find then is not gone.

import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createRedisDirectory, type RedisDirectory } from "../../dataplane/config/redis-directory.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, openRedisClient, publishWithoutHint } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { changed, project, withRootKey } from "../support/http/projects.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyring = parseKeyring(newKeyringText());
const ref = { namespace: "default", name: "shop" };
const shop = project("shop");
const next = changed(shop, withRootKey("new"));

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
let replica: RedisDirectory | undefined;
let waiting: RedisClient | undefined;

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});
afterEach(async () => {
  await replica?.stop();
  waiting?.disconnect();
});

it.each([
  ["all projects are read", "HGETALL", () => publishWithoutHint({ redisClient, keyring }, shop, next)],
  ["a changed project is looked for", "HGET", () => publisher.publish(next)],
] as const)("a replica whose Redis is emptied before %s goes on with what it has", async (_, command, change) => {
  await publisher.publish(shop);
  await publisher.complete();
  let isArmed = false;
  let looksSince = 0;
  const commands: RedisClient = {
    ...redisClient,
    async read(key, name, ...args) {
      if (isArmed && key === configKeys.projects && name === command) {
        isArmed = false;
        await redisClient.write(configKeys.meta, "FLUSHALL");
        looksSince = 0;
      }
      if (key === configKeys.meta) looksSince += 1;
      return redisClient.read(key, name, ...args);
    },
  };
  waiting = await openRedisClient(redis.url, 10_000);
  replica = createRedisDirectory({
    beforeTaking: async () => undefined,
    commands,
    waiting,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    onApplied: () => undefined,
    rereadMs: 100,
  });
  const { directory } = replica;
  await eventually(() => expect(directory.synced()).toBe(true));
  expect((await directory.project(ref)).outcome).toBe("found");
  isArmed = true;
  await change();
  await eventually(() => {
    expect(isArmed).toBe(false);
    expect(looksSince).toBeGreaterThan(2);
  });
  expect(directory.projects()).toEqual([ref]);
  expect((await directory.project(ref)).outcome).toBe("found");
});
