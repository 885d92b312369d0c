// The CPU time that a request takes: of the server that answers it, all threads, and of Redis beside it.

import { readFile } from "node:fs/promises";
import { askRedis } from "../support/redis/ask-redis.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import type { Load } from "./load.ts";
import type { BenchServer } from "./processes.ts";

export interface Costly {
  readonly load: Load;
  /** Microseconds a request. */
  readonly server: number;
  readonly redis: number;
}

export interface Observed {
  readonly server: BenchServer<unknown>;
  /** All nodes that it asks. */
  readonly nodes: readonly TestRedis[];
}

/** What `run` sends is all that is asked meanwhile. */
export async function costOf({ server, nodes }: Observed, run: () => Promise<Load>): Promise<Costly> {
  const taken = async () => ({ server: Number(await server.ask("cpu")), redis: await cpuOf(nodes) });
  const before = await taken();
  const load = await run();
  const after = await taken();
  return {
    load,
    server: (after.server - before.server) / load.requests,
    redis: (after.redis - before.redis) / load.requests,
  };
}

/** Microseconds since it started, all threads; NaN where the system has no /proc. For servers that can't be asked. */
export async function cpuOfProcess(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The program's name, in parentheses, may hold spaces; user and system time are the 12th and 13th field behind it, in hundredths.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Microseconds since they started. */
export async function cpuOf(nodes: readonly TestRedis[]): Promise<number> {
  const infos = await Promise.all(nodes.map(({ port }) => askRedis(port, "INFO cpu")));
  const seconds = infos.flatMap((info) => [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)]);
  return seconds.reduce((sum, [, text]) => sum + Number(text) * 1e6, 0);
}
