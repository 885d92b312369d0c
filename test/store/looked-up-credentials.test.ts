// What a replica remembers of credentials that it looked up in Redis, when they change at that very
// moment.

import { afterAll, beforeAll, expect, it } from "vitest";
import { keyField } from "../../core/config/fields.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { createCredentials } from "../../dataplane/config/credentials.ts";
import type { LiveProject } from "../../dataplane/config/directory.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { changed, project, withKey, withoutKey } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withKey("ci"));
const [sha256 = ""] = shop.keys.keys();
const live: LiveProject = {
  config: shop.project,
  signing: shop.signing,
  resources: new Map(),
  rootKeys: shop.rootKeys,
  issuers: new Map(),
};

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

/** Redis has answered a read by `answered`, and the reader hears of it after `deliver`. */
function slowAnswers() {
  const answered = Promise.withResolvers<void>();
  const delivered = Promise.withResolvers<void>();
  const slow: RedisClient = {
    ...redisClient,
    async read(key, name, ...args) {
      const reply = await redisClient.read(key, name, ...args);
      answered.resolve();
      await delivered.promise;
      return reply;
    },
  };
  return { slow, answered: answered.promise, deliver: delivered.resolve };
}

it.each([
  ["the change of that key is announced", [keyField(sha256)]],
  ["a change of anything is announced", undefined],
])(
  "a key that was read before its revocation is not remembered when %s before the answer arrives",
  async (_how, fields) => {
    const publisher = await begunPublisher({ redisClient, keyring });
    await publisher.publish(shop);
    const { slow, answered, deliver } = slowAnswers();
    const credentials = createCredentials(slow, unchangingKeyring(keyring));
    const asked = credentials.key(live, sha256);
    await answered;
    await publisher.publish(changed(shop, withoutKey("ci")));
    credentials.forget("default/shop", fields);
    deliver();
    expect((await asked).outcome).toBe("found");
    expect(await credentials.key(live, sha256)).toEqual({ outcome: "unknown" });
  },
);

it("a key that nothing was announced of is asked for once", async () => {
  const publisher = await begunPublisher({ redisClient, keyring });
  await publisher.publish(shop);
  const credentials = createCredentials(redisClient, unchangingKeyring(keyring));
  const first = await credentials.key(live, sha256);
  expect(first.outcome).toBe("found");
  // From memory, without a promise.
  expect(credentials.key(live, sha256)).toEqual(first);
});
