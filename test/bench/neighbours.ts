// Measures what a busy project does to another one of the same replica: a client reads an object of its own project on a fixed schedule,
// while callers of the other project send one kind of request as fast as they are answered. The baseline is the same load on another
// replica with a Redis of its own, which shares only the cores with the client's. Run alone: `node test/bench/neighbours.ts`.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startRedis } from "../support/redis/redis.ts";
import { readLength } from "./bench-arguments.ts";
import { type CostlyRequest, costlyRequests } from "./costly-requests.ts";
import { findLoader, type Loader, type LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import { startServer } from "./processes.ts";
import { createBook, fillPlane, type OwnedPlane } from "./stage.ts";
import { bookText } from "./subjects.ts";

export interface Neighbours {
  readonly rounds: number;
  /** Of each round. */
  readonly seconds: number;
  /** Of the client's reads while the machine does nothing else. */
  readonly alone: Latency;
  readonly rows: readonly NeighbourRow[];
}

interface NeighbourRow {
  readonly name: string;
  /** The highest ratio of the client's p99 beside a load on its own replica to that beside the same load on another. */
  readonly budget: number;
  /** By round. */
  readonly sameReplica: readonly BesideLoad[];
  /** By round: the baseline. */
  readonly otherReplica: readonly BesideLoad[];
}

/** Milliseconds. */
interface Latency {
  readonly p50: number;
  readonly p99: number;
}

interface BesideLoad extends Latency {
  /** Requests of the load that were answered. */
  readonly loadPerSecond: number;
  /** Milliseconds for which the event loop of the client's replica stood still at most. */
  readonly maxStop: number;
  /** Milliseconds that the slowest answer to a liveness probe of that replica took. */
  readonly maxProbe: number;
}

interface Replica {
  readonly plane: OwnedPlane;
  readonly bookId: string;
  maxStop(): Promise<number>;
  stop(): Promise<void>;
}

const usualBudget = 1.1;
/** Where each request of the load costs what hundreds of the client's do. */
const costlyBudget = 2;
/** Where each is one command of Redis that takes some 10 ms, which nothing can interrupt. */
const wholeCommandBudget = 5;
/** Milliseconds. */
const maxStopBudget = 50;
const maxProbeBudget = 100;
/** From an answer to the next probe. */
const probeEveryMs = 100;
const costlyConnections = 24;
const objects = 1_000;
/** From one read's beginning to the next one's. */
const readEveryMs = 4;
/** The load begins so long before the first read, and ends so long after the last. */
const marginMs = 500;

interface NeighbourLoad {
  readonly name: string;
  readonly connections: number;
  readonly budget: number;
  /** Sends it to the replica for so many seconds, and says how many requests were answered in each. */
  send(replica: Replica, seconds: number): Promise<number>;
}

interface UsualLoad {
  readonly name: string;
  readonly connections: number;
  requestTo(replica: Replica): LoadRequest;
}

const authorized = ({ admin }: OwnedPlane) => ({
  authorization: `apikey ${admin}`,
  "content-type": "application/json",
});
const get: UsualLoad["requestTo"] = ({ plane, bookId }) => ({
  url: `${plane.base}/api/books/${bookId}`,
  headers: authorized(plane),
});

const usualLoads: readonly UsualLoad[] = [
  { name: "gets, 64 connections", connections: 64, requestTo: get },
  { name: "gets, 512 connections", connections: 512, requestTo: get },
  {
    name: "sorted lists of 100, 64 connections",
    connections: 64,
    requestTo: ({ plane }) => ({ url: `${plane.base}/api/books?_sort=-price&_limit=100`, headers: authorized(plane) }),
  },
  {
    name: "creates, 64 connections",
    connections: 64,
    requestTo: ({ plane }) => ({
      url: `${plane.base}/api/books`,
      method: "POST",
      headers: authorized(plane),
      body: bookText(1),
    }),
  },
];

function loadsBy(loader: Loader): readonly NeighbourLoad[] {
  const usual = usualLoads.map(({ name, connections, requestTo }) => ({
    name,
    connections,
    budget: usualBudget,
    send: async (replica: Replica, seconds: number) =>
      (await loader(requestTo(replica), { connections, seconds })).perSecond,
  }));
  const costly = costlyRequests.map((request) => ({
    name: `${request.name}, ${connectionsOf(request)} connections`,
    connections: connectionsOf(request),
    budget: request.isOneCommand ? wholeCommandBudget : costlyBudget,
    send: ({ plane }: Replica, seconds: number) => sendRepeatedly(request, plane, seconds),
  }));
  return [...usual, ...costly];
}

const connectionsOf = ({ connections = costlyConnections }: CostlyRequest): number => connections;

/** From a process of its own: what sends megabytes would hold up the client that is measured. */
async function sendRepeatedly(request: CostlyRequest, plane: OwnedPlane, seconds: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "jsonplane-bench-"));
  const file = join(folder, "request");
  writeFileSync(file, request.bytes(plane));
  const { hostname, port } = new URL(plane.base);
  const sender = await startServer("repeat-request.ts", [file, hostname, port, String(connectionsOf(request))]);
  try {
    await sleep(seconds * 1000);
    const answered = Object.entries((await sender.ask("answered")) as Readonly<Record<string, number>>);
    const others = answered.filter(([status]) => ![...request.statuses, "503"].includes(status));
    if (others.length > 0) throw new Error(`${request.name}: answered with ${others.map(([status]) => status)}`);
    return answered.reduce((sum, [, count]) => sum + count, 0) / seconds;
  } finally {
    await sender.stop();
    rmSync(folder, { recursive: true });
  }
}

export async function measureNeighbours(loader: Loader): Promise<Neighbours> {
  const { rounds, seconds } = readLength({ rounds: 5, seconds: 3 });
  const own = await startReplica();
  const other = await startReplica();
  try {
    const read = await readOfNeighbour(own);
    const latencyFor = () => latencyOf(read, seconds);
    const beside = async ({ send, connections }: NeighbourLoad, replica: Replica): Promise<BesideLoad> => {
      await own.maxStop();
      const load = send(replica, seconds + (2 * marginMs) / 1000);
      await sleep(marginMs);
      // Thousands of connections that are opened at once are another matter.
      if (connections > 1_000) await own.maxStop();
      const [latency, maxProbe] = await Promise.all([latencyFor(), slowestProbe(own, seconds)]);
      return { ...latency, maxProbe, loadPerSecond: await load, maxStop: await own.maxStop() };
    };
    const alone: Latency[] = [];
    const rows = loadsBy(loader).map((load) => ({
      load,
      sameReplica: [] as BesideLoad[],
      otherReplica: [] as BesideLoad[],
    }));
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await latencyFor());
      for (const { load, sameReplica, otherReplica } of rows) {
        const onSame = async () => void sameReplica.push(await beside(load, own));
        const onOther = async () => void otherReplica.push(await beside(load, other));
        for (const measure of round % 2 === 0 ? [onSame, onOther] : [onOther, onSame]) await measure();
      }
    }
    return {
      rounds,
      seconds,
      alone: { p50: medianOf(alone, "p50"), p99: medianOf(alone, "p99") },
      rows: rows.map(({ load: { name, budget }, ...measured }) => ({ name, budget, ...measured })),
    };
  } finally {
    await Promise.all([own.stop(), other.stop()]);
  }
}

async function startReplica(): Promise<Replica> {
  const redis = await startRedis();
  const server = await startServer<OwnedPlane>("plane-server.ts", [redis.url]);
  const stop = async (): Promise<void> => {
    await server.stop();
    await redis.stop();
  };
  try {
    const { bookIds } = await fillPlane(server.says, objects);
    const maxStop = async () => (await server.ask("stop")) as number;
    return { plane: server.says, bookId: bookIds[0] ?? "", maxStop, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Read = () => Promise<void>;

/** An object of the neighbour's project, made here, by a key of that project. */
async function readOfNeighbour({ plane: { beside } }: Replica): Promise<Read> {
  const authorization = `apikey ${beside.key}`;
  const { id } = await createBook(`${beside.base}/api/books`, beside.key, 0);
  const agent = new Agent({ keepAlive: true });
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(`${beside.base}/api/books/${id}`, { agent, headers: { authorization } }, (response) => {
        if (response.statusCode !== 200)
          reject(new Error(`A neighbour's read was answered with ${response.statusCode}`));
        response.resume().once("end", resolve);
      });
      sent.once("error", reject).end();
    });
}

/** Milliseconds that the slowest of them took. */
async function slowestProbe({ plane: { probes } }: Replica, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let slowest = 0;
  while (performance.now() < end) {
    const began = performance.now();
    const response = await fetch(`${probes}/livez`);
    await response.text();
    if (response.status !== 200) throw new Error(`A liveness probe was answered with ${response.status}`);
    slowest = Math.max(slowest, performance.now() - began);
    await sleep(probeEveryMs);
  }
  return slowest;
}

/**
 * Reads begin on a schedule, whether the last one has ended or not, and are timed from the moment at which they are due: a client that
 * waited for each response would send the fewest while responses take longest (coordinated omission).
 */
async function latencyOf(read: Read, seconds: number): Promise<Latency> {
  const count = Math.floor((seconds * 1000) / readEveryMs);
  const start = performance.now();
  const durations = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const due = start + index * readEveryMs;
      await sleep(Math.max(1, due - performance.now()));
      // Timers know whole milliseconds, and may be early by less than one.
      const began = Math.min(due, performance.now());
      await read();
      return performance.now() - began;
    }),
  );
  durations.sort((left, right) => left - right);
  const at = (share: number): number => durations[Math.floor(count * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** What is beyond its budget, as a clause each. `slack` = how many times its budget a ratio may be. */
export function missedNeighbours({ rows }: Neighbours, slack = 1): readonly string[] {
  return rows.flatMap((row) => {
    const figures = [
      { what: "p99", value: median(ratiosOf(row)), budget: row.budget * slack },
      { what: "longest stop", value: medianStop(row), budget: maxStopBudget },
      { what: "slowest probe", value: medianProbe(row), budget: maxProbeBudget },
    ];
    return figures
      .filter(({ value, budget }) => value > budget)
      .map(({ what, value, budget }) => `${what} beside ${row.name}: ${value.toFixed(2)} of ${budget}`);
  });
}

const medianStop = ({ sameReplica }: NeighbourRow) => median(sameReplica.map(({ maxStop }) => maxStop));
const medianProbe = ({ sameReplica }: NeighbourRow) => median(sameReplica.map(({ maxProbe }) => maxProbe));

/** A section of docs/benchmarks.md. */
export function neighbourLines({ rounds, seconds, alone, rows }: Neighbours): readonly string[] {
  return [
    "## A noisy neighbour",
    "",
    `A client reads an object of its own project every ${readEveryMs} ms, whether it has the last response or not, while callers of another project send one`,
    "kind of request as fast as they are answered: to the same replica, or, as the baseline, to another replica with a Redis of its own. All share",
    `the cores. Medians of ${rounds} rounds of ${seconds} s, in milliseconds from the moment at which a read is due; the ratio is that of the two p99 of a round, with its lowest`,
    `and highest: budget ≤ ${usualBudget}, or ≤ ${costlyBudget} beside requests that cost far more than the client's, or`,
    `≤ ${wholeCommandBudget} beside large values, each of which is one command of Redis. The longest stop is that of the replica's event loop: budget ≤ ${maxStopBudget}. The slowest`,
    `probe is one of /livez, ${probeEveryMs} ms after the last one: budget ≤ ${maxProbeBudget}.`,
    `While nothing else runs: p50 ${alone.p50.toFixed(2)}, p99 ${alone.p99.toFixed(2)}.`,
    "",
    "| the load | p50, other replica | p50, same replica | p99, other replica | p99, same replica | ratio of p99 | longest stop | slowest probe | load /s, other replica | load /s, same replica |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...rows.map(line),
    "",
  ];
}

function line(row: NeighbourRow): string {
  const { name, sameReplica, otherReplica } = row;
  const both = [otherReplica, sameReplica];
  const times = (["p50", "p99"] as const).flatMap((which) => both.map((each) => medianOf(each, which).toFixed(2)));
  const speeds = both.map((each) => Math.round(median(each.map(({ loadPerSecond }) => loadPerSecond))));
  const ratios = ratiosOf(row);
  const bounds = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2)).join("–");
  const worst = [medianStop(row), medianProbe(row)].map((each) => each.toFixed(0));
  return `| ${[name, ...times, `${median(ratios).toFixed(2)} (${bounds})`, ...worst, ...speeds].join(" | ")} |`;
}

/** By round. */
function ratiosOf({ sameReplica, otherReplica }: NeighbourRow): readonly number[] {
  return sameReplica.map(({ p99 }, round) => p99 / (otherReplica[round]?.p99 ?? Number.NaN));
}

function medianOf(latencies: readonly Latency[], which: keyof Latency): number {
  return median(latencies.map((each) => each[which]));
}

if (import.meta.main) {
  const { load } = await findLoader();
  const neighbours = await measureNeighbours(load);
  console.log(neighbourLines(neighbours).join("\n"));
  // On two cores the ratio of a row may be half or twice that of another run.
  const missed = missedNeighbours(neighbours, 2);
  for (const each of missed) console.log(`beyond its budget: ${each}`);
  process.exitCode = missed.length > 0 ? 1 : 0;
}
