// The CPU time that a request takes: of the server that answers it, all threads, and of Redis beside it.

import type { TestRedis } from "../support/redis.ts";
import { askRedis } from "../support/redis-line.ts";
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

/** Microseconds since they started. */
async function cpuOf(nodes: readonly TestRedis[]): Promise<number> {
  const infos = await Promise.all(nodes.map(({ port }) => askRedis(port, "INFO cpu")));
  const seconds = infos.flatMap((info) => [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)]);
  return seconds.reduce((sum, [, text]) => sum + Number(text) * 1e6, 0);
}
