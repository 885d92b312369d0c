// Operators and replicas of several versions on one Redis: what each may write is decided by the
// format of what is there and of what the others read
// (docs/adr/0052-programs-compare-the-format.md).

import { describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { ReplicasOutdated, WrittenByNewerVersion } from "../../operator/publish/refusals.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, entry, inventoryWith, newPublisher, writeHeartbeat } from "../support/fleet/publishing.ts";
import { project, withResource, withUser } from "../support/http/projects.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withUser("ann"), withResource("books"));
const books = inventoryWith(entry("books"));

let redisClient: RedisClient;
let publisher: Publisher;

useEmptiedRedis(async (own) => {
  ({ redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});

describe("an operator of another version", () => {
  const state = () => redisClient.read(configKeys.meta, "HGETALL", configKeys.meta);
  const heartbeat = (name: string, agoMs: number, ...format: readonly string[]) =>
    writeHeartbeat(redisClient, name, ["revision", 1, ...format], agoMs);

  it("writes nothing where a newer one has written, not even if it may take a Redis over", async () => {
    await publisher.publish(shop, books);
    const newer = await begunPublisher({ redisClient, keyring, format: 3 });
    const before = await state();
    await expect(publisher.begin()).rejects.toThrow(WrittenByNewerVersion);
    await expect(newPublisher({ redisClient, keyring }).begin({ takeOver: true })).rejects.toThrow(
      "has format 3, which a newer version wrote, and this operator reads up to 1: update the operator",
    );
    expect([await state(), await newer.verify()]).toEqual([before, "writer"]);
  });

  it("begins with a newer format only once every live replica can read it", async () => {
    await heartbeat("says-none", 0);
    await heartbeat("reads-one", 0, "format", "1");
    await heartbeat("reads-two", 0, "format", "2");
    await heartbeat("is-gone", 60_000);
    const newer = newPublisher({ redisClient, keyring, format: 2 });
    const refusal = await newer.begin().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ReplicasOutdated);
    expect((refusal as ReplicasOutdated).facts).toEqual({ replicas: "reads-one,says-none" });
    expect(await publisher.verify()).toBe("writer");
    await heartbeat("says-none", 0, "format", "2");
    await heartbeat("reads-one", 0, "format", "3");
    await newer.begin();
    expect([await newer.verify(), await publisher.verify()]).toEqual(["writer", "lost"]);
  });

  it("takes a format that is no number for a newer one, and a replica's for none", async () => {
    for (const format of ["2-rc", "", "1e0", "-1"]) {
      await redisClient.write(configKeys.meta, "HSET", configKeys.meta, "format", format);
      await expect(publisher.begin()).rejects.toThrow(WrittenByNewerVersion);
    }
    await redisClient.write(configKeys.meta, "HSET", configKeys.meta, "format", "1");
    await heartbeat("odd", 0, "format", "two");
    await expect(newPublisher({ redisClient, keyring, format: 2 }).begin()).rejects.toThrow(ReplicasOutdated);
    expect(await liveReplicas(redisClient)).toMatchObject([{ replica: "odd", format: 0, unreadable: ["format"] }]);
  });

  it("fills an emptied Redis at once, also beside replicas of an earlier version: those that are new wait for it", async () => {
    await redisClient.write(configKeys.meta, "FLUSHALL");
    await heartbeat("reads-one", 0, "format", "1");
    const newer = newPublisher({ redisClient, keyring, format: 2 });
    await newer.begin();
    expect(await newer.verify()).toBe("writer");
  });
});
