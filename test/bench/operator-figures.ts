// Reads figures of a running operator: from its metrics, and from the system.

import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { cpuOfProcess } from "./cpu.ts";

/** Sum of a counter's series whose labels match. */
export async function counter(operator: OperatorProcess, name: string, labels = /./): Promise<number> {
  let sum = 0;
  for (const line of (await operator.metrics()).split("\n")) {
    const match = /^(\w+)(\{.*\})? (\S+)$/.exec(line);
    if (match?.[1] === name && labels.test(match[2] ?? "{}")) sum += Number(match[3]);
  }
  return sum;
}

export async function readyObjects(operator: OperatorProcess): Promise<number> {
  return await counter(operator, "jsonplane_objects", /^(?=.*condition="Ready")(?=.*status="True")/);
}

export async function reconciles(operator: OperatorProcess): Promise<number> {
  return await counter(operator, "controller_runtime_reconcile_total", /controller="project"/);
}

export async function apiWrites(operator: OperatorProcess): Promise<number> {
  return await counter(operator, "rest_client_requests_total", /method="(POST|PUT|PATCH)"/);
}

export async function until(holds: () => Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await holds())) await sleep(everyMs);
}

/** Microseconds of CPU of all programs that this process has started. */
export async function cpuOfChildren(): Promise<number> {
  const threads = await readdir("/proc/self/task");
  const children = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, "utf8")));
  const pids = children.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
  const used = await Promise.all(pids.map(cpuOfProcess));
  // A process that has just ended has NaN.
  return used.filter((each) => !Number.isNaN(each)).reduce((sum, each) => sum + each, 0);
}

/** MiB. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
}
