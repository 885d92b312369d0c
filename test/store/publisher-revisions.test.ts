// How the steps of a publisher get their revisions, on real Redis: growing, one after the other,
// and never on top of what another one left.

import { beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { NotTheWriter } from "../../operator/publish/refusals.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { type Around, begunPublisher, redisClientAround } from "../support/fleet/publishing.ts";
import { changed, project, withRootKey } from "../support/http/projects.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const keyring = parseKeyring(newKeyringText());
const { meta } = configKeys;

let clock: ManualClock;
let redisClient: RedisClient;
let publisher: Publisher;
let count = 0;

useEmptiedRedis((own) => {
  ({ redisClient } = own);
});

beforeEach(async () => {
  clock = manualClock(1_000);
  publisher = await begunPublisher({ redisClient, keyring, clock });
});

/** The revision of one step, which writes something new. */
async function step(by = publisher): Promise<number> {
  count += 1;
  return (await by.publish(changed(project("shop"), withRootKey(`k${count}`)))).revision;
}

const around = (what: Omit<Around, "script">) =>
  begunPublisher({ redisClient: redisClientAround(redisClient, { script: "publish", ...what }), keyring, clock });
const storedRevision = async () => optionalText(await redisClient.read(meta, "HGET", meta, "revision"));
const unavailable = () => {
  throw new StoreUnavailable("away");
};

describe("revisions", () => {
  it("are milliseconds, and one more where these would not grow", async () => {
    expect([await step(), await step()]).toEqual([1_000, 1_001]);
    clock.advance(500);
    expect([await step(), publisher.newest(), await storedRevision()]).toEqual([1_500, 1_500, "1500"]);
    clock.adjust(-500);
    expect(await step(await begunPublisher({ redisClient, keyring, clock }))).toBe(1_501);
  });

  it("are given one after the other", async () => {
    let running = 0;
    const counting: RedisClient = {
      ...redisClient,
      async run(script, keys, args) {
        running += 1;
        expect(running).toBe(1);
        const reply = await redisClient.run(script, keys, args);
        running -= 1;
        return reply;
      },
    };
    const mine = await begunPublisher({ redisClient: counting, keyring, clock });
    const done = await Promise.all(["one", "two", "three"].map((name) => mine.publish(project(name))));
    expect(done.map(({ revision }) => revision).sort()).toEqual([1_000, 1_001, 1_002]);
  });

  it("go on after a step that was not sent, and the newest is one that was published", async () => {
    const failing = await around({ call: 2, before: unavailable });
    await step(failing);
    await expect(step(failing)).rejects.toThrow(StoreUnavailable);
    expect(failing.newest()).toBe(1_000);
    expect(await step(failing)).toBe(1_002);
  });

  it.each([
    ["of another publisher's step", "77"],
    ["of an older time", "2"],
    ["that was lost", undefined],
  ])("end at one %s", async (_, found) => {
    await step();
    if (found === undefined) await redisClient.write(meta, "HDEL", meta, "revision");
    else await redisClient.write(meta, "HSET", meta, "revision", found);
    await expect(step()).rejects.toThrow(NotTheWriter);
    expect(publisher.isWriter()).toBe(false);
  });

  it("end at a step that failed and took place all the same", async () => {
    const failing = await around({ call: 2, after: unavailable });
    await step(failing);
    await expect(step(failing)).rejects.toThrow(StoreUnavailable);
    await expect(step(failing)).rejects.toThrow(NotTheWriter);
  });

  it("stand while Redis says the newest that was published", async () => {
    const failing = await around({ call: 2, before: unavailable });
    await step(failing);
    await expect(step(failing)).rejects.toThrow(StoreUnavailable);
    expect(await failing.verify()).toBe("writer");
    await redisClient.write(meta, "HSET", meta, "revision", "1001");
    expect(await failing.verify()).toBe("lost");
  });
});
