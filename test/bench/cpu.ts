// CPU time of processes and of Redis, in microseconds since they started.

import { readFile } from "node:fs/promises";
import { askRedis } from "../support/redis/ask-redis.ts";
import type { TestRedis } from "../support/redis/redis.ts";

/** Of all threads; NaN where the system has no /proc. */
export async function cpuOfProcess(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The program's name, in parentheses, may hold spaces. User and system time are the 12th and 13th
  // field behind it, in hundredths.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

export async function cpuOfRedis({ port }: TestRedis): Promise<number> {
  const seconds = (await askRedis(port, "INFO cpu")).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm);
  return [...seconds].reduce((sum, [, text]) => sum + Number(text) * 1e6, 0);
}
