// What becomes of keys of external issuers that a replica met and does not have, from its
// acknowledgement to the operator, on real Redis.

import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { maxWanted } from "../../core/config/wanted-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import { systemTimers, type Timers } from "../../core/timers.ts";
import { createAcknowledger } from "../../dataplane/config/acknowledge.ts";
import { openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { createAcknowledgements, type LookObservation } from "../../operator/publish/acknowledgements.ts";
import { liveMs } from "../../operator/publish/replicas.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, writeHeartbeat } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { project } from "../support/http/projects.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualTime } from "../support/time/manual-time.ts";

const keyring = parseKeyring(newKeyringText());

/** The look that is due every second, whoever waits, comes much sooner. */
const oftenLooking: Timers = { ...systemTimers, after: (ms, run) => systemTimers.after(ms === 1_000 ? 50 : ms, run) };

let redis: TestRedis;
let redisClient: RedisClient;
useEmptiedRedis((own) => {
  ({ redis, redisClient } = own);
});

describe("keys of external issuers that a replica lacks", () => {
  const corp = { project: "default/shop", issuer: "corp" };
  const listed = async (name: string): Promise<unknown> => {
    const key = acknowledgementKey(name);
    return JSON.parse(optionalText(await redisClient.read(key, "HGET", key, "wantedKeys")) ?? "null");
  };

  it("are said with its next acknowledgement, which it sends soon, and for five seconds", async () => {
    const time = manualTime();
    const own = { kids: () => [], building: () => [], heartbeatMs: 3_600_000, monotonic: time.monotonic };
    const acknowledger = createAcknowledger(redisClient, "a", own);
    acknowledger.applied(1, []);
    await eventually(async () => expect(await listed("a")).toEqual([]));
    acknowledger.wantKeys(corp);
    acknowledger.wantKeys(corp);
    await eventually(async () => expect(await listed("a")).toEqual([corp]));
    await time.advance(4_999);
    acknowledger.wantKeys({ ...corp, issuer: "other" });
    await eventually(async () => expect(await listed("a")).toEqual([corp, { ...corp, issuer: "other" }]));
    await time.advance(1);
    acknowledger.applied(2, []);
    await eventually(async () => expect(await listed("a")).toEqual([{ ...corp, issuer: "other" }]));
    await acknowledger.stop();
  });

  it("are said in turn where they are more than fit, so that nobody's push out somebody else's", async () => {
    const time = manualTime();
    const own = { kids: () => [], building: () => [], heartbeatMs: 20, monotonic: time.monotonic };
    const acknowledger = createAcknowledger(redisClient, "a", own);
    acknowledger.applied(1, []);
    const many = Array.from({ length: maxWanted + 1 }, (_, n) => ({ ...corp, issuer: `issuer-${n}` }));
    for (const each of many) acknowledger.wantKeys(each);
    await eventually(async () => expect(await listed("a")).toEqual(many.slice(0, maxWanted)));
    await time.advance(5_000);
    await eventually(async () => expect(await listed("a")).toEqual(many.slice(maxWanted)));
    await time.advance(5_000);
    await eventually(async () => expect(await listed("a")).toEqual([]));
    await acknowledger.stop();
  });

  it("are said by a replica that follows Redis", async () => {
    await (await begunPublisher({ redisClient, keyring })).publish(project("shop"));
    const config = await openRedisDirectory({
      url: redis.url,
      keyring: unchangingKeyring(keyring),
      clock: systemClock,
      replica: "a",
    });
    onTestFinished(() => config.close());
    config.wantKeys(corp);
    await eventually(async () => expect(await listed("a")).toEqual([corp]));
  });

  it("count no longer once the look that found them is too old", async () => {
    let now = 0;
    const fields = ["revision", 9, "refusals", "[]", "kids", "[]", "wantedKeys", JSON.stringify([corp])];
    await writeHeartbeat(redisClient, "wants", fields, 0);
    const { timers } = manualTime();
    const looking = createAcknowledgements({ redisClient, timers, monotonic: () => now });
    onTestFinished(() => looking.stop());
    await eventually(() => expect(looking.wantedKeys()).toEqual([corp]));
    now = liveMs + 1;
    expect(looking.wantedKeys()).toEqual([]);
  });

  it("count for nothing where they are no list of them, or more than a replica may list", async () => {
    const wanted = { project: "default/shop", issuer: "corp" };
    const write = (value: unknown) =>
      redisClient.write(
        configKeys.replicas,
        ...["HSET", acknowledgementKey("wants"), "wantedKeys", JSON.stringify(value)],
      );
    await writeHeartbeat(redisClient, "wants", ["revision", 9, "refusals", "[]", "kids", "[]"], 0);
    await write([wanted]);
    const observed: LookObservation[] = [];
    const looking = createAcknowledgements({
      redisClient,
      timers: oftenLooking,
      observe: (observation) => void observed.push(observation),
    });
    onTestFinished(() => looking.stop());
    await eventually(() => expect(looking.wantedKeys()).toEqual([wanted]));
    for (const value of [{ wanted }, [{ project: "default/shop" }], Array.from({ length: 101 }, () => wanted)]) {
      observed.length = 0;
      await write(value);
      const unreadable = { kind: "unreadable", replica: "wants", fields: ["wantedKeys"] };
      await eventually(() => expect(observed).toContainEqual(unreadable));
      await eventually(() => expect(looking.wantedKeys()).toEqual([]));
    }
  });
});
