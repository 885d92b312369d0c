// One data plane over a Redis Cluster of three primaries, against the same over one Redis, with collections that lie on all primaries.

import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster } from "../support/redis/redis-cluster.ts";
import { collections } from "./bench-project.ts";
import { type Costly, costOf } from "./cpu.ts";
import { fillBooks } from "./hottest.ts";
import type { LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import { type MeasureOptions, spread } from "./more-replicas.ts";
import { type BenchServer, startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

const objectsPerCollection = 30;

interface NodeRow {
  readonly name: string;
  readonly one: readonly Costly[];
  readonly three: readonly Costly[];
}

export interface NodeFigures {
  readonly rows: readonly NodeRow[];
  /** Of the Cluster's commands, by primary. */
  readonly nodeShares: readonly number[];
}

interface Deployment {
  readonly nodes: readonly TestRedis[];
  readonly plane: BenchServer<Plane>;
  readonly requests: Readonly<Record<string, LoadRequest>>;
  stop(): Promise<void>;
}

export async function measureNodes(measure: MeasureOptions): Promise<NodeFigures> {
  const single = await deploy(await singleRedis());
  const cluster = await deploy(await redisCluster()).catch(async (error: unknown) => {
    await single.stop();
    throw error;
  });
  try {
    const before = await commandsOf(cluster.nodes);
    const rows: NodeRow[] = [];
    for (const name of Object.keys(single.requests)) rows.push(await row(name, { single, cluster }, measure));
    const taken = (await commandsOf(cluster.nodes)).map((count, at) => count - (before[at] ?? 0));
    const all = taken.reduce((sum, count) => sum + count, 0);
    return { rows, nodeShares: taken.map((count) => count / all) };
  } finally {
    await Promise.all([single.stop(), cluster.stop()]);
  }
}

interface Servers {
  readonly url: string;
  readonly nodes: readonly TestRedis[];
  stop(): Promise<void>;
}

async function singleRedis(): Promise<Servers> {
  const redis = await startRedis();
  return { url: redis.url, nodes: [redis], stop: () => redis.stop() };
}

async function redisCluster(): Promise<Servers> {
  const { nodes, stop } = await startRedisCluster(3);
  return { url: `redis+cluster://${nodes.map((node) => `127.0.0.1:${node.port}`).join(",")}`, nodes, stop };
}

async function deploy({ url, nodes, stop }: Servers): Promise<Deployment> {
  const plane = await startServer<Plane>("plane-server.ts", [url]);
  const stopAll = async (): Promise<void> => {
    await plane.stop();
    await stop();
  };
  try {
    return { nodes, plane, requests: await requestsOf(plane.says), stop: stopAll };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

async function requestsOf(plane: Plane): Promise<Readonly<Record<string, LoadRequest>>> {
  const { base, admin } = plane;
  const headers = { authorization: `apikey ${admin}` };
  const path = `${new URL(base).pathname}/api`;
  const objects: string[] = [];
  for (const collection of collections) {
    for (const id of await fillBooks(plane, objectsPerCollection, collection))
      objects.push(`${path}/${collection}/${id}`);
  }
  return {
    "get, API key": { url: base, headers, paths: objects },
    "list of 10, sorted": {
      url: base,
      headers,
      paths: collections.map((collection) => `${path}/${collection}?_sort=-price`),
    },
    "create, three indexes": {
      url: base,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: bookText(1),
      paths: collections.map((collection) => `${path}/${collection}`),
    },
  };
}

async function row(
  name: string,
  { single, cluster }: { readonly single: Deployment; readonly cluster: Deployment },
  { loader, options, rounds }: MeasureOptions,
): Promise<NodeRow> {
  const of = ({ plane, nodes, requests }: Deployment): Promise<Costly> => {
    const request = requests[name];
    if (!request) throw new Error(`There is no request ${name}`);
    return costOf({ server: plane, nodes }, () => loader(request, options));
  };
  const one: Costly[] = [];
  const three: Costly[] = [];
  // The first one is for the compilers.
  for (let round = 0; round <= rounds; round += 1) {
    const [of1, of3] = [await of(single), await of(cluster)];
    if (round > 0) one.push(of1);
    if (round > 0) three.push(of3);
  }
  process.stdout.write(`${name}: one ${rate(one)}/s, three ${rate(three)}/s\n`);
  return { name, one, three };
}

function rate(measured: readonly Costly[]): number {
  return Math.round(median(measured.map(({ load }) => load.perSecond)));
}

async function commandsOf(nodes: readonly TestRedis[]): Promise<readonly number[]> {
  const infos = await Promise.all(nodes.map(({ port }) => askRedis(port, "INFO stats")));
  return infos.map((info) => Number(/total_commands_processed:(\d+)/.exec(info)?.[1]));
}

/** A part of the section in docs/benchmarks.md. */
export function nodeLines({ rows, nodeShares }: NodeFigures, { options }: MeasureOptions): readonly string[] {
  const cpu = (measured: readonly Costly[], of: "server" | "redis"): string =>
    String(Math.round(median(measured.map((each) => each[of]))));
  const line = ({ name, one, three }: NodeRow): string => {
    const ratios = three.map(({ load }, round) => load.perSecond / (one[round]?.load.perSecond ?? Number.NaN));
    const costs = [one, three].map((each) => `${cpu(each, "server")} + ${cpu(each, "redis")}`);
    return `| ${[name, rate(one), rate(three), spread(ratios), ...costs].join(" | ")} |`;
  };
  return [
    "## A Redis Cluster of three primaries against one Redis",
    "",
    `One replica, ${options.connections} connections, ${collections.length} collections in turn, which are on all primaries of the Cluster (their shares of the commands:`,
    `${nodeShares.map((share) => `${Math.round(share * 100)} %`).join(", ")}). A collection is on one primary as a whole. Because the cores are shared and the data plane is the busy program,`,
    "a Cluster can't be faster here. The ratio shows the cost of its client and three processes.",
    "",
    "| operation | one Redis /s | three primaries /s | ratio | CPU of data plane + Redis, µs a request: one | three |",
    "|---|---:|---:|---:|---:|---:|",
    ...rows.map(line),
    "",
  ];
}
