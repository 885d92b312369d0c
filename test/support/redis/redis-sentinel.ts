// Starts a primary with JSON, a replica of it and one Sentinel that watches both, for tests of
// failovers. Refuses when the replica is not in step within twenty seconds.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedis } from "../../../tools/parts/redis.ts";
import { freePort } from "../process/free-port.ts";
import { guard } from "../process/watchdog.ts";
import { eventually } from "../time/eventually.ts";
import { askRedis } from "./ask-redis.ts";
import { startRedis, type TestRedis } from "./redis.ts";

export interface TestSentinel {
  /** `redis+sentinel://…/main`. */
  readonly url: string;
  readonly port: number;
  readonly primary: TestRedis;
  readonly replica: TestRedis;
  stop(): Promise<void>;
}

export interface SentinelOptions {
  /**
   * For how long the primary may not answer before the Sentinel takes it for gone; 1,000 by
   * default.
   */
  readonly downAfterMs?: number;
}

export async function startRedisSentinel({ downAfterMs = 1_000 }: SentinelOptions = {}): Promise<TestSentinel> {
  const args = ["--repl-diskless-sync-delay", "0"];
  const primary = await startRedis({ args });
  const replica = await startRedis({ args: [...args, "--replicaof", `127.0.0.1 ${primary.port}`] });
  const sentinel = await startSentinel(primary.port, downAfterMs);
  await eventually(
    async () => {
      const answer = await askRedis(sentinel.port, "SENTINEL CKQUORUM main");
      const link = await askRedis(replica.port, "INFO replication");
      const known = await askRedis(sentinel.port, "INFO sentinel");
      const inStep = link.includes("master_link_status:up") && known.includes("slaves=1");
      if (!answer.startsWith("+OK") || !inStep) throw new Error(`The Sentinel isn't ready: ${answer}`);
    },
    { withinMs: 20_000, everyMs: 100 },
  );
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
    port: sentinel.port,
    primary,
    replica,
    async stop() {
      await sentinel.stop();
      await Promise.all([replica.stop(), primary.stop()]);
    },
  };
}

export interface RunningSentinel {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startSentinel(primaryPort: number, downAfterMs: number): Promise<RunningSentinel> {
  const { server } = await findRedis(process.env);
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-sentinel-"));
  const port = await freePort();
  const file = join(dir, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${dir}`,
    `logfile ${join(dir, "sentinel.log")}`,
    `sentinel monitor main 127.0.0.1 ${primaryPort} 1`,
    `sentinel down-after-milliseconds main ${downAfterMs}`,
    "sentinel failover-timeout main 5000",
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const child = spawn(server, [file, "--sentinel"], { stdio: "ignore" });
  guard(child, dir);
  return {
    port,
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
