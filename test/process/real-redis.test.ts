import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis } from "../support/redis/redis.ts";
import { startRedisCluster } from "../support/redis/redis-cluster.ts";
import { eventually } from "../support/time/eventually.ts";

it("a test's Redis speaks JSON, and keeps what it acknowledged over a kill when it writes a log", async () => {
  const redis = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  expect(await askRedis(redis.port, "JSON.SET a $ 1")).toBe("+OK\r\n");
  const before = redis.pid;
  await redis.kill();
  await expect(askRedis(redis.port, "PING")).rejects.toThrow();
  await redis.restart();
  expect(redis.pid).not.toBe(before);
  expect(await askRedis(redis.port, "JSON.GET a")).toBe("$1\r\n1\r\n");
  await redis.stop();
  expect(existsSync(redis.dir)).toBe(false);
});

it("a test's cluster serves every slot, with JSON, on three nodes", async () => {
  const cluster = await startRedisCluster(3);
  const answers = await Promise.all(cluster.nodes.map((node) => askRedis(node.port, "JSON.SET a $ 1")));
  expect(answers.filter((answer) => answer === "+OK\r\n")).toHaveLength(1);
  expect(answers.filter((answer) => answer.startsWith("-MOVED"))).toHaveLength(2);
  await cluster.stop();
});

it("a Redis that can't start says so with the end of its log", async () => {
  await expect(startRedis({ args: ["--maxmemory-policy", "none"] })).rejects.toThrow(/did not start on port \d+/);
});

it("a test's Redis does not outlive a test process that is killed", async () => {
  const support = new URL("../support/redis/redis.ts", import.meta.url).href;
  const script = `const { startRedis } = await import("${support}"); const r = await startRedis(); console.log(r.port, r.dir);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const [port = "", dir = ""] = String((await lines.next()).value).split(" ");
  expect(await askRedis(Number(port), "PING")).toBe("+PONG\r\n");
  child.kill("SIGKILL");
  await eventually(() => expect(askRedis(Number(port), "PING")).rejects.toThrow());
  await eventually(() => expect(existsSync(dir)).toBe(false));
});
