// What replicas tell the operator of quotas, on real Redis with the rights that
// docs/reference/redis.md names.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys, usageKey } from "../../core/config/config-keys.ts";
import type { QuotaUses } from "../../core/config/quota-uses.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import { reportUsage } from "../../dataplane/config/report-usage.ts";
import {
  type Acknowledgements,
  createAcknowledgements,
  type LookObservation,
} from "../../operator/publish/acknowledgements.ts";
import { createQuotaAggregator, type QuotaAggregator } from "../../operator/publish/quota-aggregator.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualTime } from "../support/time/manual-time.ts";

const shop = "default/shop";
const objects = (used: number, limit = 1_000): QuotaUses => ({ objects: { used, limit } });

let redis: TestRedis;
let everything: RedisClient;
let dataplane: RedisClient;
let operator: RedisClient;
const reporters: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  redis = await startRedis();
  await allowAsDocumented(redis);
  everything = await openRedisClient(redis.url);
  dataplane = await openRedisClient(documentedUrl(redis, "jsonplane-dataplane"));
  operator = await openRedisClient(documentedUrl(redis, "jsonplane-operator"));
});
afterAll(async () => {
  for (const redisClient of [everything, dataplane, operator]) redisClient.disconnect();
  await redis.stop();
});
afterEach(async () => {
  for (const reporter of reporters.splice(0)) await reporter.stop();
});

/** A replica that tells what its table says, again and again. */
function telling(replica: string, uses: Record<string, QuotaUses>, redisClient: RedisClient = dataplane): void {
  const reports = () =>
    Object.entries(uses).map(([name, quotas]) => ({ project: { namespace: "default", name }, quotas }));
  reporters.push(reportUsage({ redisClient, replica, reports, everyMs: 20 }));
}

/**
 * The Redis client of a replica that is killed after so many calls: nothing that comes later
 * reaches Redis.
 */
function dyingAfter(calls: number): RedisClient {
  let left = calls;
  const alive = <T>(call: () => Promise<T>): Promise<T> => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error("killed")) : call();
  };
  return {
    ...dataplane,
    write: (key, name, ...args) => alive(() => dataplane.write(key, name, ...args)),
    run: (script, keys, args) => alive(() => dataplane.run(script, keys, args)),
  };
}

describe("what the operator is told of quotas", () => {
  let now: number;
  let quotas: QuotaAggregator;
  beforeEach(() => {
    now = 0;
    quotas = createQuotaAggregator(operator, () => now);
  });
  const reported = async (...replicas: readonly string[]) => {
    await quotas.read(replicas);
    return quotas.quotaUsages().get(shop);
  };

  it("is what a replica knows, of several the most, and goes with the project or the replica", async () => {
    const [one, other] = [{ shop: objects(5), gone: objects(1) } as Record<string, QuotaUses>, { shop: objects(7) }];
    telling("a", one);
    telling("b", other);
    await eventually(async () => expect(await reported("a", "b", "none")).toEqual(objects(7)));
    await eventually(async () => {
      await quotas.read(["a"]);
      expect([...quotas.quotaUsages().keys()].sort()).toEqual(["default/gone", "default/shop"]);
    });
    delete one.gone;
    await eventually(async () => {
      await quotas.read(["a"]);
      expect([...quotas.quotaUsages().keys()]).toEqual(["default/shop"]);
    });
    for (const reporter of reporters.splice(0)) await reporter.stop();
    expect(await everything.read(usageKey("a"), "EXISTS", usageKey("a"), usageKey("b"))).toBe(0);
  });

  it("is told anew after Redis was emptied", async () => {
    telling("a", { shop: objects(5) });
    await eventually(async () => expect(await reported("a")).toEqual(objects(5)));
    await everything.write(configKeys.meta, "FLUSHALL");
    await eventually(async () => expect(await reported("a")).toEqual(objects(5)));
  });

  it("is told of all projects when Redis was emptied just before one of them changed", async () => {
    const uses = { shop: objects(5), other: objects(1) };
    let emptied = false;
    const emptyingOnce: RedisClient = {
      ...dataplane,
      async run(script, keys, args) {
        if (uses.other.objects?.used === 2 && !emptied) {
          emptied = true;
          await everything.write(configKeys.meta, "FLUSHALL");
        }
        return dataplane.run(script, keys, args);
      },
    };
    telling("a", uses, emptyingOnce);
    await eventually(async () => expect(await reported("a")).toEqual(objects(5)));
    uses.other = objects(2);
    await eventually(async () => {
      const stored = fieldsOf(await everything.read(usageKey("a"), "HGETALL", usageKey("a")));
      const parsed = [...stored].map(([name, text]) => [name, JSON.parse(text)]);
      expect(Object.fromEntries(parsed)).toEqual({ "default/shop": objects(5), "default/other": objects(2) });
      expect(emptied).toBe(true);
    });
  });

  it.each([1, 2, 3])("expires with a replica that died after its call %i", async (calls) => {
    const replica = `died-after-${calls}`;
    telling(replica, { shop: objects(5), other: objects(1) }, dyingAfter(calls));
    await eventually(async () => expect(await reported(replica)).toEqual(objects(5)));
    const seconds = Number(await everything.read(usageKey(replica), "TTL", usageKey(replica)));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  it("writes nothing to Redis where no project has a quota", async () => {
    telling("idle", {});
    telling("busy", { shop: objects(1) });
    await eventually(async () => expect(await reported("busy")).toEqual(objects(1)));
    expect(await everything.read(usageKey("idle"), "EXISTS", usageKey("idle"))).toBe(0);
  });

  it("calls for a status at once when a limit is another one, and once a minute at most when a quota is nearly full or has room again", async () => {
    const uses = { shop: objects(100) };
    telling("a", uses);
    const set = async (used: number, limit = 1_000) => {
      uses.shop = objects(used, limit);
      await eventually(async () => {
        const text = await everything.read(usageKey("a"), "HGET", usageKey("a"), shop);
        expect(JSON.parse(String(text))).toEqual(objects(used, limit));
      });
    };
    const stateAfter = async (used: number, limit?: number) => {
      await set(used, limit);
      expect(await reported("a")).toEqual(objects(used, limit));
      return quotas.quotaStates().get(shop);
    };
    const roomy = await stateAfter(100);
    now += 60_000;
    expect(await stateAfter(799)).toBe(roomy);
    const nearlyFull = await stateAfter(800);
    expect(nearlyFull).not.toBe(roomy);
    now += 59_999;
    expect(await stateAfter(749)).toBe(nearlyFull);
    now += 1;
    expect(await stateAfter(750)).toBe(nearlyFull);
    expect(await stateAfter(749)).toBe(roomy);
    expect(await stateAfter(749, 900)).not.toBe(roomy);
  });

  it("reaches whoever follows the acknowledgements of live replicas, and says so when it changed", async () => {
    telling("a", { shop: objects(5) });
    await everything.write(configKeys.replicas, "ZADD", configKeys.replicas, Date.now() + 5_000, "a");
    await eventually(async () => expect(await reported("a")).toEqual(objects(5)));
    const time = manualTime();
    let changes = 0;
    const { timers, monotonic } = time;
    const acknowledgements = createAcknowledgements({
      redisClient: operator,
      timers,
      monotonic,
      onChange: () => (changes += 1),
    });
    await eventually(() => expect(acknowledgements.quotaUsages().get(shop)).toEqual(objects(5)));
    await eventually(() => expect(changes).toBe(1));
    expect([...acknowledgements.quotaUsages().keys()]).toEqual([shop]);
    acknowledgements.stop();
  });

  describe("and can't be read", () => {
    let observed: LookObservation[];
    let acknowledgements: Acknowledgements;
    const look = async (): Promise<void> => {
      await everything.write(configKeys.replicas, "ZADD", configKeys.replicas, Date.now() + 5_000, "by-hand");
      observed = [];
      acknowledgements = createAcknowledgements({
        redisClient: operator,
        ...manualTime(),
        observe: (observation) => void observed.push(observation),
      });
    };
    afterEach(async () => {
      acknowledgements.stop();
      await everything.write(configKeys.meta, "FLUSHALL");
    });

    it("is named, and the figures of others are not affected", async () => {
      const key = usageKey("by-hand");
      await everything.write(key, "HSET", key, "default/shop", JSON.stringify(objects(5)), "default/other", "{");
      await look();
      await eventually(() => expect(acknowledgements.quotaUsages().get(shop)).toEqual(objects(5)));
      expect(observed).toContainEqual({ kind: "unreadableUsage", replica: "by-hand", projects: ["default/other"] });
    });

    it("is named, where the key is of another type, and the figures of other replicas are not affected", async () => {
      await everything.write(usageKey("by-hand"), "SET", usageKey("by-hand"), "no hash");
      const key = usageKey("whole");
      await everything.write(key, "HSET", key, "default/shop", JSON.stringify(objects(5)));
      await everything.write(configKeys.replicas, "ZADD", configKeys.replicas, Date.now() + 5_000, "whole");
      await look();
      await eventually(() => expect(acknowledgements.quotaUsages().get(shop)).toEqual(objects(5)));
      const error = expect.objectContaining({ code: "WRONGTYPE" });
      expect(observed).toContainEqual({ kind: "unreadableUsage", replica: "by-hand", projects: [], error });
    });
  });
});
