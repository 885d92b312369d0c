// `npm run bench -- neighbours`: what a busy project does to another one of the same replica. A
// client reads an object of its own project on a schedule, while callers of the other project send
// one kind of request as fast as they are answered. The baseline is the same load on another
// replica with a Redis of its own, which shares only the cores. Exits 1 when something is far
// beyond its budget.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readArguments } from "../../tools/script-arguments.ts";
import { startRedis } from "../support/redis/redis.ts";
import { type CostlyRequest, costlyRequests } from "./costly-requests.ts";
import { lengthOf, machine, median, printTable, quantile, ratiosOf, spread } from "./figures.ts";
import { sendLoad } from "./load.ts";
import { startServer } from "./processes.ts";
import { createBook, fillPlane, type Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

/** Budgets of the ratio of the client's p99. */
const usualBudget = 1.1;
/** Where a request of the load costs what hundreds of the client's do. */
const costlyBudget = 2;
/**
 * Where each request is one command of Redis that takes some 10 ms, which nothing can interrupt.
 */
const oneCommandBudget = 5;
/** On two cores, the ratio of a row may be half or twice that of another run. */
const slack = 2;
const maxStopMs = 50;
const maxProbeMs = 100;

const objects = 1_000;
const readEveryMs = 4;
const probeEveryMs = 100;
/** The load starts this long before the first read, and ends this long after the last. */
const marginMs = 500;
const costlyConnections = 24;

interface Replica {
  readonly plane: Plane;
  readonly bookId: string;
  /** Milliseconds for which its event loop stood still at most since the last call. */
  maxStop(): Promise<number>;
  stop(): Promise<void>;
}

interface NeighbourLoad {
  readonly name: string;
  readonly connections: number;
  readonly budget: number;
  send(replica: Replica, seconds: number): Promise<void>;
}

/** Milliseconds. */
interface Measured {
  readonly p99: number;
  readonly maxStop: number;
  readonly maxProbe: number;
}

export async function measureNeighbours(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds, seconds } = lengthOf({ rounds: 5, seconds: 3 });
  console.log(`Medians of ${rounds} rounds of ${seconds} s (${machine()})\n`);
  const own = await startReplica();
  const other = await startReplica();
  try {
    const read = await neighbourRead(own.plane);
    const rows: string[][] = [];
    const missed: string[] = [];
    for (const load of loads()) {
      const same: Measured[] = [];
      const elsewhere: Measured[] = [];
      const measure = async (replica: Replica) => await beside(load, { own, replica, read, seconds });
      for (let round = 0; round < rounds; round += 1) {
        same.push(await measure(own));
        elsewhere.push(await measure(other));
      }
      rows.push(rowOf(load, same, elsewhere));
      missed.push(...missedBy(load, same, elsewhere));
    }
    printTable(
      ["the load", "p99, other replica", "p99, same", "ratio", "budget", "longest stop", "slowest probe"],
      rows,
    );
    for (const each of missed) console.log(`Beyond its budget: ${each}`);
    process.exitCode = missed.length > 0 ? 1 : 0;
  } finally {
    await Promise.all([own.stop(), other.stop()]);
  }
}

async function startReplica(): Promise<Replica> {
  const redis = await startRedis();
  const server = await startServer<Plane>("plane-server.ts", [redis.url]);
  const stop = async (): Promise<void> => {
    await server.stop();
    await redis.stop();
  };
  try {
    const { bookIds } = await fillPlane(server.says, objects);
    return { plane: server.says, bookId: bookIds[0] ?? "", maxStop: async () => (await server.ask()) as number, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function loads(): readonly NeighbourLoad[] {
  const usual = (name: string, connections: number, target: (replica: Replica) => { url: string; body?: string }) => ({
    name,
    connections,
    budget: usualBudget,
    async send(replica: Replica, seconds: number) {
      const { url, body } = target(replica);
      const headers = { authorization: `apikey ${replica.plane.admin}`, "content-type": "application/json" };
      await sendLoad({ url, headers, ...(body !== undefined && { body, method: "POST" }) }, { connections, seconds });
    },
  });
  const costly = costlyRequests.map((each) => ({
    name: each.name,
    connections: each.connections ?? costlyConnections,
    budget: each.isOneCommand ? oneCommandBudget : costlyBudget,
    send: (replica: Replica, seconds: number) => sendRepeatedly(each, replica, seconds),
  }));
  return [
    usual("gets", 64, ({ plane, bookId }) => ({ url: `${plane.base}/api/books/${bookId}` })),
    usual("gets", 512, ({ plane, bookId }) => ({ url: `${plane.base}/api/books/${bookId}` })),
    usual("sorted lists of 100", 64, ({ plane }) => ({ url: `${plane.base}/api/books?_sort=-price&_limit=100` })),
    usual("creates", 64, ({ plane }) => ({ url: `${plane.base}/api/books`, body: bookText(1) })),
    ...costly,
  ];
}

async function sendRepeatedly(costly: CostlyRequest, { plane }: Replica, seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "jsonplane-bench-"));
  const file = join(folder, "request");
  writeFileSync(file, costly.bytes(plane));
  const { hostname, port } = new URL(plane.base);
  const connections = String(costly.connections ?? costlyConnections);
  const sender = await startServer("repeat-request.ts", [file, hostname, port, connections]);
  try {
    await sleep(seconds * 1000);
    const statuses = Object.keys((await sender.ask()) as object);
    const others = statuses.filter((status) => ![...costly.statuses, "503"].includes(status));
    if (others.length > 0) throw new Error(`${costly.name}: answered with ${others}`);
  } finally {
    await sender.stop();
    rmSync(folder, { recursive: true });
  }
}

type Read = () => Promise<void>;

/** Creates an object in the neighbour's project, and reads it with a key of that project. */
export async function neighbourRead({ beside: project }: Plane): Promise<Read> {
  const { id } = await createBook(`${project.base}/api/books`, project.key, 0);
  const options = { agent: new Agent({ keepAlive: true }), headers: { authorization: `apikey ${project.key}` } };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(`${project.base}/api/books/${id}`, options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`A neighbour's read got ${response.statusCode}`));
        response.resume().once("end", resolve);
      });
      sent.once("error", reject).end();
    });
}

interface Beside {
  readonly own: Replica;
  /** Gets the load. */
  readonly replica: Replica;
  readonly read: Read;
  readonly seconds: number;
}

async function beside(load: NeighbourLoad, { own, replica, read, seconds }: Beside): Promise<Measured> {
  await own.maxStop();
  const sending = load.send(replica, seconds + (2 * marginMs) / 1000);
  await sleep(marginMs);
  // Opening thousands of connections at once isn't measured.
  if (load.connections > 1_000) await own.maxStop();
  const [p99, maxProbe] = await Promise.all([p99Of(read, seconds), slowestProbe(own, seconds)]);
  await sending;
  return { p99, maxProbe, maxStop: await own.maxStop() };
}

/**
 * Reads start on a schedule, and are timed from the moment at which they are due: a client that
 * waits for each response sends the fewest while responses take longest (coordinated omission).
 */
export async function p99Of(read: Read, seconds: number): Promise<number> {
  const start = performance.now();
  const times = Array.from({ length: Math.floor((seconds * 1000) / readEveryMs) }, async (_, index) => {
    const due = start + index * readEveryMs;
    await sleep(Math.max(1, due - performance.now()));
    // Timers know whole milliseconds, and may be early by less than one.
    const began = Math.min(due, performance.now());
    await read();
    return performance.now() - began;
  });
  return quantile(await Promise.all(times), 0.99);
}

async function slowestProbe({ plane: { probes } }: Replica, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let slowest = 0;
  while (performance.now() < end) {
    const began = performance.now();
    const response = await fetch(`${probes}/livez`);
    await response.text();
    if (response.status !== 200) throw new Error(`A liveness probe got ${response.status}`);
    slowest = Math.max(slowest, performance.now() - began);
    await sleep(probeEveryMs);
  }
  return slowest;
}

function rowOf(load: NeighbourLoad, same: readonly Measured[], elsewhere: readonly Measured[]): string[] {
  const middle = (rounds: readonly Measured[], which: keyof Measured) => median(rounds.map((each) => each[which]));
  const times = [middle(elsewhere, "p99"), middle(same, "p99")].map((value) => value.toFixed(2));
  const worst = [middle(same, "maxStop"), middle(same, "maxProbe")].map((value) => value.toFixed(0));
  const ratios = spread(p99Ratios(same, elsewhere));
  return [`${load.name}, ${load.connections} connections`, ...times, ratios, `≤ ${load.budget}`, ...worst];
}

function p99Ratios(same: readonly Measured[], elsewhere: readonly Measured[]): readonly number[] {
  return ratiosOf(
    same.map(({ p99 }) => p99),
    elsewhere.map(({ p99 }) => p99),
  );
}

function missedBy(load: NeighbourLoad, same: readonly Measured[], elsewhere: readonly Measured[]): readonly string[] {
  const figures = [
    { what: "p99", value: median(p99Ratios(same, elsewhere)), budget: load.budget * slack },
    { what: "longest stop", value: median(same.map(({ maxStop }) => maxStop)), budget: maxStopMs },
    { what: "slowest probe", value: median(same.map(({ maxProbe }) => maxProbe)), budget: maxProbeMs },
  ];
  return figures
    .filter(({ value, budget }) => value > budget)
    .map(({ what, value, budget }) => `${what} beside ${load.name}: ${value.toFixed(2)} of ${budget}`);
}
