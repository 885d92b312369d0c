// One to four data-plane processes over one Redis, each with its part of the connections: what more replicas bring where all of
// them, Redis and the load share the cores.

import type { TestRedis } from "../support/redis.ts";
import type { Load, Loader, LoadOptions, LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import type { Plane } from "./neighbours.ts";
import { type BenchServer, startServer } from "./processes.ts";
import { bookText } from "./subjects.ts";

const most = 4;
const objects = 200;
/** DESIGN.md's: two against one, where client, Redis and both share two cores. */
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

type Ask = (base: string) => LoadRequest;

export async function measureReplicas(redis: TestRedis, measure: MeasureOptions): Promise<readonly ReplicaRow[]> {
  const planes: BenchServer<Plane>[] = [];
  const bares: BenchServer<{ port: number }>[] = [];
  try {
    for (let at = 0; at < most; at += 1) planes.push(await startServer("plane-server.ts", [redis.url]));
    for (let at = 0; at < most; at += 1) bares.push(await startServer("bare-server.ts", [redis.url]));
    const first = planes[0]?.says as Plane;
    const ids = await fill(first, objects);
    const origins = planes.map((plane) => plane.says.base);
    const bareOrigins = bares.map((bare) => `http://127.0.0.1:${bare.says.port}`);
    const rows: ReplicaRow[] = [];
    for (const [name, ask] of Object.entries(asksOf(first.admin, ids)))
      rows.push(await row(name, origins, ask, measure));
    const bare: Ask = (base) => ({ url: `${base}/create`, method: "POST", headers: json, body: bookText(1) });
    rows.push(await row("bare fastify and ioredis, JSON.SET", bareOrigins, bare, measure));
    return rows;
  } finally {
    await Promise.all([...planes, ...bares].map((server) => server.stop()));
  }
}

const json = { "content-type": "application/json" };

function asksOf(admin: string, ids: readonly string[]): Readonly<Record<string, Ask>> {
  const headers = { authorization: `apikey ${admin}` };
  return {
    "get, API key": (base) => ({ url: `${base}/api/books/${ids[0]}`, headers }),
    "list of 10, sorted": (base) => ({ url: `${base}/api/books?_sort=-price`, headers }),
    "create, three indexes": (base) => ({
      url: `${base}/api/books`,
      method: "POST",
      headers: { ...headers, ...json },
      body: bookText(1),
    }),
  };
}

async function row(name: string, bases: readonly string[], ask: Ask, measure: MeasureOptions): Promise<ReplicaRow> {
  const perSecond: number[][] = bases.map(() => []);
  const connections = Math.max(1, Math.floor(measure.options.connections / most)) * most;
  // The compilers of all of them have seen the request before it counts.
  await together(bases, ask, { ...measure, options: { seconds: 1, connections } });
  for (let round = 0; round < measure.rounds; round += 1) {
    for (const [at, rates] of perSecond.entries()) {
      const loads = await together(bases.slice(0, at + 1), ask, measure);
      rates.push(loads.reduce((sum, load) => sum + load.perSecond, 0));
    }
  }
  process.stdout.write(`${name}: ${perSecond.map((rates) => Math.round(median(rates))).join(", ")}/s\n`);
  return { name, perSecond };
}

/** The same load on all at once, which share the connections. */
function together(bases: readonly string[], ask: Ask, { loader, options }: MeasureOptions): Promise<readonly Load[]> {
  const connections = Math.max(1, Math.floor(options.connections / bases.length));
  return Promise.all(bases.map((base) => loader(ask(base), { ...options, connections })));
}

/** Ids of new books. */
export async function fill({ base, admin }: Plane, count: number, resource = "books"): Promise<readonly string[]> {
  const headers = { authorization: `apikey ${admin}`, ...json };
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const reply = await fetch(`${base}/api/${resource}`, { method: "POST", headers, body: bookText(at) });
    if (reply.status !== 201) throw new Error(`A book was answered with ${reply.status}: ${await reply.text()}`);
    ids.push(((await reply.json()) as { id: string }).id);
  }
  return ids;
}

/** A part of the section in docs/benchmarks.md. */
export function replicaLines(rows: readonly ReplicaRow[], { options }: MeasureOptions): readonly string[] {
  const cellOf = (one: readonly number[], many: readonly number[] = []): string => {
    const ratios = many.map((rate, round) => rate / (one[round] ?? Number.NaN));
    return `${Math.round(median(many))} · ${spread(ratios)}`;
  };
  const line = ({ name, perSecond: [one = [], ...others] }: ReplicaRow): string =>
    `| ${[name, Math.round(median(one)), ...others.map((many) => cellOf(one, many))].join(" | ")} |`;
  return [
    "## One to four replicas",
    "",
    `${options.connections} connections in all, spread over the replicas; requests a second of all together, and how many times those of one`,
    `replica in the same round (median, lowest–highest). Budget: two against one ≥ ${budget}, where client, Redis and both share two`,
    "cores; what is beyond the cores brings nothing, and bare fastify shows where that is.",
    "",
    "| operation | one | two | three | four |",
    "|---|---:|---:|---:|---:|",
    ...rows.map(line),
    "",
  ];
}

/** `1.23 (1.10–1.31)` */
export function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
}
