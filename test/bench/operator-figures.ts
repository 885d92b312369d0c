// Reads figures of a running operator: from its metrics, and from the system.

import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { configKeys } from "../../core/config/config-keys.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { cpuOfProcess } from "./cpu.ts";

/** Sum of a counter's series whose labels match. */
export function counter(metrics: string, name: string, labels: RegExp): number {
  let sum = 0;
  for (const line of metrics.split("\n")) {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line);
    if (match?.[1] === name && labels.test(match[2] ?? "{}")) sum += Number(match[3]);
  }
  return sum;
}

export function readyObjects(metrics: string): number {
  return counter(metrics, "jsonplane_objects", /condition="Ready".*status="True"|status="True".*condition="Ready"/);
}

export async function untilReady(
  operator: OperatorProcess,
  objects: number,
  say: (text: string) => void,
): Promise<void> {
  let reported = 0;
  for (;;) {
    const ready = readyObjects(await operator.metrics());
    if (ready >= objects) return;
    if (ready - reported >= objects / 10) {
      reported = ready;
      say(`  ${ready} of ${objects} Ready`);
    }
    // A look walks over all objects: seldom, so that it costs little.
    await sleep(2_000);
  }
}

/** Resolves when every Project is published. */
export async function untilServed(port: number, projects: number): Promise<void> {
  while ((await askRedis(port, `HLEN ${configKeys.projects}`)).trim() !== `:${projects}`) await sleep(100);
}

/** Seconds of CPU that the process has used. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await cpuOfProcess(pid)) / 1e6;
}

/** Seconds of CPU that all programs which this process has started have used: API server, etcd, Redis, operators, replicas. */
export async function cpuSecondsOfAll(): Promise<number> {
  const threads = await readdir("/proc/self/task");
  const children = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, "utf8")));
  const pids = children.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
  const seconds = await Promise.all(pids.map(cpuSeconds));
  // One that has just ended is counted no more.
  return seconds.filter((each) => !Number.isNaN(each)).reduce((sum, each) => sum + each, 0);
}

/** MiB, as the kernel counted it. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}
