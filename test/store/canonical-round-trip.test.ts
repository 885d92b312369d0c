// Gives canonical texts to the real Redis JSON and takes them back: what is stored is what was
// sent, character by character, also after Redis wrote its data to disk and read it again.

import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../../core/json/canonical.ts";
import { stepped } from "../../core/json/number.ts";
import { connect } from "../../core/redis/connect.ts";
import { createRedisClient, type RedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { createConnectedEngine } from "../../dataplane/store/redis/engine.ts";
import { awkwardDoubles, doubleTexts, manners, names, render, strings, written } from "../support/json/json-texts.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { countForTier } from "../support/time/test-tier.ts";

function canonical(source: string): string {
  const result = canonicalJson(source, 64);
  if (!result.ok) throw new Error(`${source}: ${result.error.detail}`);
  return result.json.text;
}

describe("Redis JSON", () => {
  let redis: TestRedis;
  let client: Redis;
  let redisClient: RedisClient;
  const engine = createConnectedEngine();

  beforeAll(async () => {
    redis = await startRedis({ args: ["--enable-debug-command", "local"] });
    client = new Redis(redis.url, { maxRetriesPerRequest: 0 });
    const plain = createRedisClient(
      await connect({ target: parseRedisUrl(redis.url), commandTimeout: 60_000, name: "test" }),
    );
    await engine.identify(plain.read);
    redisClient = engine.adapt(plain);
  });
  afterAll(async () => {
    await client.quit();
    redisClient.disconnect();
    await redis.stop();
  });

  /**
   * Stores every text under a key of its own, reloads the data, and answers with what changed on
   * the way.
   */
  async function changed(texts: readonly string[]): Promise<readonly string[]> {
    await client.flushall();
    const set = client.pipeline();
    for (const [at, text] of texts.entries()) set.call("JSON.SET", `k${at}`, "$", text);
    const refused = (await set.exec())?.filter(([error]) => error !== null) ?? [];
    expect(refused).toEqual([]);
    const stored = await taken(texts.length);
    await client.call("DEBUG", "RELOAD");
    const reloaded = await taken(texts.length);
    return texts.flatMap((text, at) =>
      stored[at] === text && reloaded[at] === text ? [] : [`${text} became ${stored[at]}, then ${reloaded[at]}`],
    );
  }

  /** As the store reads. */
  function taken(count: number): Promise<readonly unknown[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => redisClient.read(`k${at}`, "JSON.GET", `k${at}`)));
  }

  const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number) => fc.sample(arbitrary, count);

  it("gives back thousands of documents of every kind", async () => {
    const sources = sample(fc.tuple(written, manners), countForTier(1_500, 40_000)).map(([value, manner]) =>
      render(value, manner),
    );
    expect(await changed(sources.map(canonical))).toEqual([]);
  });

  it("gives back every double's text, near powers of two and ten and at both ends too", async () => {
    const edges = [Number.MAX_VALUE, 2 ** -1022, 1e-308, 5e-324];
    for (let power = -1074; power < 1024; power++) edges.push(2 ** power);
    for (let power = -323; power < 309; power++) edges.push(Number(`1e${power}`));
    const near = edges
      .flatMap((edge) => [-3, -2, -1, 0, 1, 2, 3].map((step) => stepped(edge, step)))
      .filter(Number.isFinite)
      .map((value) => value.toExponential());
    const lists = [...near, ...awkwardDoubles, ...sample(doubleTexts, countForTier(5_000, 200_000))].map(
      (text, at) => `[${text},${at}]`,
    );
    expect(await changed(lists.map(canonical))).toEqual([]);
  });

  it("gives back names and strings of any characters", async () => {
    const every = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code));
    const unusual = [
      ...every,
      "\u2028",
      "\u2029",
      "\ufeff",
      "\uffff",
      "\ue000",
      "😀",
      "__proto__",
      'a"b',
      "a\\b",
      "a/b",
      "",
    ];
    const texts = [...unusual, ...sample(strings, 2_000), ...sample(names, 500)].map((name) => {
      const quoted = JSON.stringify(name);
      return `{${quoted}:${quoted}}`;
    });
    expect(await changed(texts.map(canonical))).toEqual([]);
  });

  it("still moves doubles that canonical texts avoid", async () => {
    // When this fails, RedisJSON reads doubles exactly, and core/json/number.ts can stop moving
    // them. valkey-json keeps their texts.
    await client.call("JSON.SET", "plain", "$", "1.9000000000000001");
    const moved = engine.found()?.json === "RedisJSON" ? "1.9" : "1.9000000000000001";
    expect(await client.call("JSON.GET", "plain")).toBe(moved);
  });
});
