// One more index is built over a large collection while a list goes on every few milliseconds. What the build adds is told by the
// same lists before it, on the same busy cores, and by Redis' own log of its slowest commands.

import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";

export interface IndexBuild {
  readonly seconds: number;
  readonly before: ListTimes;
  readonly during: ListTimes;
  /** Milliseconds that one command of the build held Redis at most; undefined when none was as slow as `slowCommandMs`. */
  readonly slowestCommandMs: number | undefined;
  /** Of Redis' memory. */
  readonly indexBytes: number;
}

/** Milliseconds. */
export interface ListTimes {
  readonly lists: number;
  readonly p99: number;
  readonly slowest: number;
}

export interface BuildingSubject {
  /** The status of a list. */
  readonly ask: (query: string) => Promise<number>;
  readonly client: Redis;
  /** Has the index declared. */
  readonly declare: () => void;
  /** A sort by it is refused until it is built. */
  readonly sort: string;
}

/** Commands that take less are in no log. */
export const slowCommandMs = 5;
const listPauseMs = 2;
const pauseBeforeMs = 15_000;

export async function buildIndex({ ask, client, declare, sort }: BuildingSubject): Promise<IndexBuild> {
  let isOver = false;
  const quiet = timesOfLists(ask, () => isOver);
  await sleep(pauseBeforeMs);
  isOver = true;
  const before = await quiet;

  const bytesBefore = await usedBytes(client);
  await client.config("SET", "slowlog-log-slower-than", slowCommandMs * 1_000);
  await client.slowlog("RESET");
  declare();
  await sleep(200);
  const began = performance.now();
  isOver = false;
  const reading = timesOfLists(ask, () => isOver);
  while ((await ask(`_limit=1&_sort=${sort}`)) !== 200) await sleep(100);
  const seconds = (performance.now() - began) / 1000;
  isOver = true;
  const during = await reading;
  const slowest = await slowestCommand(client);
  return { seconds, before, during, slowestCommandMs: slowest, indexBytes: (await usedBytes(client)) - bytesBefore };
}

export async function usedBytes(client: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
}

async function timesOfLists(ask: BuildingSubject["ask"], isOver: () => boolean): Promise<ListTimes> {
  const durations: number[] = [];
  while (!isOver()) {
    const start = performance.now();
    await ask("_limit=1");
    durations.push(performance.now() - start);
    await sleep(listPauseMs);
  }
  durations.sort((left, right) => left - right);
  return {
    lists: durations.length,
    p99: durations[Math.floor(durations.length * 0.99)] ?? Number.NaN,
    slowest: durations.at(-1) ?? Number.NaN,
  };
}

async function slowestCommand(client: Redis): Promise<number | undefined> {
  const entries = (await client.slowlog("GET", 1_000)) as readonly (readonly [number, number, number])[];
  return entries.length === 0 ? undefined : Math.max(...entries.map(([, , micros]) => micros)) / 1_000;
}
