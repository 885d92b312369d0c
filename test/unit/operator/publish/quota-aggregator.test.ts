// What becomes of usage figures that can't be read. What replicas really write, tests over a real
// Redis show.

import { describe, expect, it } from "vitest";
import { usageKey } from "../../../../core/config/config-keys.ts";
import { RedisFault } from "../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { createQuotaAggregator } from "../../../../operator/publish/quota-aggregator.ts";

/** By replica, then by project: the text that stands in Redis. */
function aggregator(usage: Record<string, Record<string, string>>) {
  const read = async (_key: string, _command: string, key: string) =>
    Object.entries(usage).flatMap(([replica, fields]) =>
      key === usageKey(replica) ? Object.entries(fields).flat() : [],
    );
  return createQuotaAggregator({ read } as unknown as RedisClient, () => 0, 0);
}

const used = (count: number): string => JSON.stringify({ objects: { used: count, limit: 100 } });

describe("usage figures that can't be read", () => {
  it.each([
    ["no JSON", "{broken"],
    ["no figures", "7"],
    ["nothing", "null"],
    ["figures of something else", '{"objects":{"used":"many","limit":100}}'],
    ["figures without a limit", '{"objects":{"used":7}}'],
  ])("hold up neither other projects nor other replicas, and are named: %s", async (_, text) => {
    const quotas = aggregator({
      one: { "shop/a": used(10), "shop/b": used(20) },
      two: { "shop/a": text, "shop/b": used(30), "shop/c": text },
    });
    expect(await quotas.read(["one", "two"])).toEqual([{ replica: "two", projects: ["shop/a", "shop/c"] }]);
    expect([...quotas.quotaUsages()].map(([name, { objects }]) => [name, objects?.used])).toEqual([
      ["shop/a", 10],
      ["shop/b", 30],
    ]);
  });

  it("of a replica whose key is of another type hold up no other replica, and are named with the reason", async () => {
    const fault = new RedisFault("Redis failed HGETALL: WRONGTYPE", { code: "WRONGTYPE" });
    const read = async (_key: string, _command: string, key: string) => {
      if (key === usageKey("two")) throw fault;
      return ["shop/a", used(10)];
    };
    const quotas = createQuotaAggregator({ read } as unknown as RedisClient, () => 0, 0);
    expect(await quotas.read(["one", "two"])).toEqual([{ replica: "two", projects: [], error: fault }]);
    expect(quotas.quotaUsages().get("shop/a")?.objects?.used).toBe(10);
  });

  it("are none where a replica counts more kinds than this operator knows", async () => {
    const quotas = aggregator({ one: { "shop/a": '{"objects":{"used":1,"limit":2},"sessions":"many"}' } });
    expect(await quotas.read(["one"])).toEqual([]);
    expect(quotas.quotaUsages().get("shop/a")?.objects).toEqual({ used: 1, limit: 2 });
  });
});
