// One to four data-plane processes over one Redis, each with its part of the connections: what more replicas bring where all of
// them, Redis and the load share the cores.

import type { TestRedis } from "../support/redis/redis.ts";
import { fillBooks, hottestRequests } from "./hottest.ts";
import type { Load, Loader, LoadOptions, LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import { type BenchServer, startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

const most = 4;
const objects = 200;
/** Throughput of two against one, where client, Redis and both share two cores. */
const budget = 1.2;

export interface MeasureOptions {
  readonly loader: Loader;
  readonly options: LoadOptions;
  readonly rounds: number;
}

interface ReplicaRow {
  readonly name: string;
  /** By number of replicas, from one: one figure per round. */
  readonly perSecond: readonly (readonly number[])[];
}

export async function measureReplicas(redis: TestRedis, measure: MeasureOptions): Promise<readonly ReplicaRow[]> {
  const planes: BenchServer<Plane>[] = [];
  const bares: BenchServer<{ port: number }>[] = [];
  try {
    for (let at = 0; at < most; at += 1) planes.push(await startServer("plane-server.ts", [redis.url]));
    for (let at = 0; at < most; at += 1) bares.push(await startServer("bare-server.ts", [redis.url]));
    const [first] = planes;
    if (!first) throw new Error("There is no replica");
    const ids = await fillBooks(first.says, objects);
    const hot = planes.map(({ says }) => hottestRequests(says.base, says.admin, ids));
    const rows: ReplicaRow[] = [];
    for (const name of Object.keys(hot[0] ?? {})) {
      const requests = hot.flatMap((each) => each[name] ?? []);
      rows.push(await row(name, requests, measure));
    }
    const bare = bares.map(({ says }) => bareCreate(says.port));
    rows.push(await row("bare fastify and ioredis, JSON.SET", bare, measure));
    return rows;
  } finally {
    await Promise.all([...planes, ...bares].map((server) => server.stop()));
  }
}

function bareCreate(port: number): LoadRequest {
  const headers = { "content-type": "application/json" };
  return { url: `http://127.0.0.1:${port}/create`, method: "POST", headers, body: bookText(1) };
}

/** `requests` = the same one to each replica. */
async function row(name: string, requests: readonly LoadRequest[], measure: MeasureOptions): Promise<ReplicaRow> {
  const perSecond: number[][] = requests.map(() => []);
  // The compilers of all of them have seen the request before it counts.
  await together(requests, measure);
  for (let round = 0; round < measure.rounds; round += 1) {
    for (const [at, rates] of perSecond.entries()) {
      const loads = await together(requests.slice(0, at + 1), measure);
      rates.push(loads.reduce((sum, load) => sum + load.perSecond, 0));
    }
  }
  process.stdout.write(`${name}: ${perSecond.map((rates) => Math.round(median(rates))).join(", ")}/s\n`);
  return { name, perSecond };
}

/** All at once; they share the connections. */
function together(requests: readonly LoadRequest[], { loader, options }: MeasureOptions): Promise<readonly Load[]> {
  const connections = Math.max(1, Math.floor(options.connections / requests.length));
  return Promise.all(requests.map((request) => loader(request, { ...options, connections })));
}

/** A part of the section in docs/benchmarks.md. */
export function replicaLines(rows: readonly ReplicaRow[], { options }: MeasureOptions): readonly string[] {
  const missed = rows.filter((each) => !isBare(each) && median(ratiosOf(each, 1)) < budget);
  return [
    "## One to four replicas",
    "",
    `${options.connections} connections in all, spread over the replicas. Requests a second of all replicas together, and their ratio to one`,
    "replica in the same round (median, lowest–highest). More replicas than cores bring nothing; bare fastify shows where that begins.",
    "",
    "| operation | one | two | three | four | budget of two |",
    "|---|---:|---:|---:|---:|---:|",
    ...rows.map(lineOf),
    "",
    ...(missed.length === 0 ? [] : [`**Below the budget:** ${missed.map(({ name }) => name).join("; ")}.`, ""]),
  ];
}

function lineOf(row: ReplicaRow): string {
  const cells = row.perSecond.map((rates, at) => {
    const rate = String(Math.round(median(rates)));
    return at === 0 ? rate : `${rate}<br>**${spread(ratiosOf(row, at))}**`;
  });
  return `| ${[row.name, ...cells, isBare(row) ? "–" : `≥ ${budget}`].join(" | ")} |`;
}

/** Against one replica, round by round. */
function ratiosOf({ perSecond: [one = [], ...others] }: ReplicaRow, at: number): readonly number[] {
  return (others[at - 1] ?? []).map((rate, round) => rate / (one[round] ?? Number.NaN));
}

function isBare({ name }: ReplicaRow): boolean {
  return name.startsWith("bare");
}

/** `1.23 (1.10–1.31)` */
export function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
}
