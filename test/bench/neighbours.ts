// Measures what one tenant at full speed does to another: a quiet client's reads of its own project, alone and while another
// project's callers do one thing as fast as they can. Run alone: `node test/bench/neighbours.ts`.

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "../support/redis/redis.ts";
import { findLoader, type Loader, type LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import { startServer } from "./processes.ts";
import { bookText } from "./subjects.ts";

export interface NeighbourRow {
  readonly noise: string;
  readonly connections: number;
  /** Whether the noise is on another server. */
  readonly isElsewhere: boolean;
  /** Milliseconds, medians of the rounds. */
  readonly alone: Quiet;
  readonly beside: Quiet;
  /** What the noisy tenant got meanwhile. */
  readonly noisePerSecond: number;
}

interface Quiet {
  readonly p50: number;
  readonly p99: number;
}

export interface Plane {
  readonly base: string;
  readonly admin: string;
  readonly beside: { readonly base: string; readonly key: string };
}

/** A server that shares nothing with the plane but cores: what the quiet client loses beside its load, it loses to the machine. */
export interface Elsewhere {
  readonly port: number;
}

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = 3;
/** Between two reads of the quiet client. */
const pauseMs = 2;

export async function measureNeighbours(
  load: Loader,
  plane: Plane,
  elsewhere: Elsewhere,
): Promise<readonly NeighbourRow[]> {
  const headers = { authorization: `apikey ${plane.admin}`, "content-type": "application/json" };
  const { id } = await create(plane.beside.base, plane.beside.key);
  const read = { url: `${plane.beside.base}/api/books/${id}`, authorization: `apikey ${plane.beside.key}` };
  const book = (await create(plane.base, plane.admin)).id;
  const onElsewhere: LoadRequest = { url: `http://127.0.0.1:${elsewhere.port}/get/0` };
  const gets: LoadRequest = { url: `${plane.base}/api/books/${book}`, headers };
  const lists: LoadRequest = { url: `${plane.base}/api/books?_sort=-price&_limit=100`, headers };
  const creates: LoadRequest = { url: `${plane.base}/api/books`, method: "POST", headers, body: bookText(1) };
  const noises = [
    { noise: "for comparison: load on another server", connections: 64, request: onElsewhere },
    { noise: "for comparison: load on another server", connections: 512, request: onElsewhere },
    { noise: "gets", connections: 64, request: gets },
    { noise: "gets", connections: 512, request: gets },
    { noise: "sorted lists of 100", connections: 64, request: lists },
    { noise: "creates", connections: 64, request: creates },
  ];
  const rows: NeighbourRow[] = [];
  for (const { noise, request, connections } of noises) {
    const alone: Quiet[] = [];
    const beside: Quiet[] = [];
    const speeds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await quietly(read));
      const noisy = load(request, { connections, seconds: seconds + 1 });
      await sleep(500);
      beside.push(await quietly(read));
      speeds.push((await noisy).perSecond);
    }
    rows.push({
      noise: `${noise}, ${connections} connections`,
      connections,
      isElsewhere: request === onElsewhere,
      alone: middle(alone),
      beside: middle(beside),
      noisePerSecond: median(speeds),
    });
  }
  return rows;
}

/** The p99 beside the other project's load, divided by that beside the same load elsewhere: 1.1 at most. */
const budget = 1.1;

/** Of rows beyond it, as a clause each. */
export function missedNeighbours(rows: readonly NeighbourRow[]): readonly string[] {
  return rows.flatMap((row) => {
    const ratio = ratioOf(row, rows);
    return ratio > budget ? [`p99 beside ${row.noise}: ${ratio.toFixed(2)} of ${budget}`] : [];
  });
}

/** To the row whose load, of as many connections, is elsewhere. */
function ratioOf({ beside, connections }: NeighbourRow, rows: readonly NeighbourRow[]): number {
  const elsewhere = rows.find((row) => row.isElsewhere && row.connections === connections);
  return beside.p99 / (elsewhere?.beside.p99 ?? Number.NaN);
}

/** A section of docs/benchmarks.md. */
export function neighbourLines(rows: readonly NeighbourRow[]): readonly string[] {
  const line = (row: NeighbourRow): string => {
    const { noise, alone, beside, noisePerSecond } = row;
    const times = [alone.p50, beside.p50, alone.p99, beside.p99].map((each) => each.toFixed(2));
    const ratio = row.isElsewhere ? "1" : ratioOf(row, rows).toFixed(2);
    return `| ${[noise, ...times, ratio, Math.round(noisePerSecond)].join(" | ")} |`;
  };
  return [
    "## A noisy neighbour",
    "",
    "One client reads an object of its own project every few milliseconds: alone, and while callers of another project do one thing as",
    "fast as the replica allows. The client and both loads share the cores. So the p99 is compared with the p99 that the client has",
    `while gets over as many connections are on another server (bare): budget ≤ ${budget}. Medians of ${rounds} rounds, in milliseconds.`,
    "",
    "| the other project's callers | p50 alone | p50 beside | p99 alone | p99 beside | p99 against load elsewhere | their requests /s |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...rows.map(line),
    "",
  ];
}

function middle(figures: readonly Quiet[]): Quiet {
  return { p50: median(figures.map(({ p50 }) => p50)), p99: median(figures.map(({ p99 }) => p99)) };
}

async function quietly(read: { readonly url: string; readonly authorization: string }): Promise<Quiet> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const durations: number[] = [];
  const until = performance.now() + (seconds - 0.5) * 1000;
  while (performance.now() < until) {
    const began = performance.now();
    await get(read.url, read.authorization, agent);
    durations.push(performance.now() - began);
    await sleep(pauseMs);
  }
  agent.destroy();
  durations.sort((left, right) => left - right);
  const at = (share: number): number => durations[Math.floor(durations.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function get(url: string, authorization: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { authorization } }, (response) => {
      if (response.statusCode !== 200)
        reject(new Error(`The quiet tenant's read was answered with ${response.statusCode}`));
      response.resume().once("end", resolve);
    });
    sent.once("error", reject).end();
  });
}

async function create(base: string, key: string): Promise<{ readonly id: string }> {
  const headers = { authorization: `apikey ${key}`, "content-type": "application/json" };
  const reply = await fetch(`${base}/api/books`, { method: "POST", headers, body: bookText(0) });
  return (await reply.json()) as { id: string };
}

if (import.meta.main) {
  const redis = await startRedis();
  const plane = await startServer<Plane>("plane-server.ts", [redis.url]);
  const elsewhere = await startServer<Elsewhere>("bare-server.ts", [redis.url]);
  for (let index = 0; index < 200; index += 1) await create(plane.says.base, plane.says.admin);
  try {
    const loader = await findLoader();
    console.log(neighbourLines(await measureNeighbours(loader.load, plane.says, elsewhere.says)).join("\n"));
  } finally {
    await Promise.all([plane.stop(), elsewhere.stop()]);
    await redis.stop();
  }
}
