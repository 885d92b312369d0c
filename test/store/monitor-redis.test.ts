import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { monitorRedis, type SentCommand } from "../support/redis/monitor-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

let redis: TestRedis;
let client: Redis;

beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

describe("following the commands that Redis receives", () => {
  it("begins while another client sends without pause, and gets all that is sent from then on", async () => {
    let sending = true;
    const busy = (async () => {
      for (let round = 0; sending; round++) {
        await Promise.all(Array.from({ length: 100 }, (_, index) => client.set("busy", `${round}.${index}`)));
      }
    })();
    try {
      for (let start = 0; start < 50; start++) {
        const received: SentCommand[] = [];
        const monitor = await monitorRedis(redis.port, (command) => received.push(command));
        await client.set("confirmed", start);
        await eventually(() =>
          expect(received.map(({ args }) => args)).toContainEqual(["set", "confirmed", `${start}`]),
        );
        monitor.stop();
      }
    } finally {
      sending = false;
      await busy;
    }
  });

  it("tells arguments with quotes and spaces apart, and a script's commands from a client's", async () => {
    const received: SentCommand[] = [];
    const monitor = await monitorRedis(redis.port, (command) => received.push(command));
    await client.eval('redis.call("SET", KEYS[1], ARGV[1])', 1, "a key", '"quoted" \\ [0 lua]');
    await eventually(() => expect(received.length).toBe(2));
    expect(received[0]?.args.slice(2)).toEqual(["1", "a key", '"quoted" \\ [0 lua]']);
    expect(received[0]?.source).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(received[1]).toEqual({ source: "lua", args: ["SET", "a key", '"quoted" \\ [0 lua]'] });
    monitor.stop();
  });

  it("refuses when nothing listens, and when Redis refuses the command", async () => {
    const guarded = await startRedis({ args: ["--requirepass", "secret"] });
    await expect(monitorRedis(guarded.port, () => undefined)).rejects.toThrow("NOAUTH");
    await guarded.stop();
    await expect(monitorRedis(guarded.port, () => undefined)).rejects.toThrow("ECONNREFUSED");
  });
});
