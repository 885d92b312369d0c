// Starts a real Redis Cluster with the RedisJSON module for tests: primaries that share all 16,384
// slots, on request with a replica each. Refuses when a server doesn't come up or the nodes don't
// agree within twenty seconds.

import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../process/free-port.ts";
import { eventually } from "../time/eventually.ts";
import { askRedis } from "./ask-redis.ts";
import { startRedis, type TestRedis } from "./redis.ts";

export interface TestRedisCluster {
  /** All primaries in one address, as a replica is given it. */
  readonly url: string;
  /** Masters, as they were at the start. */
  readonly nodes: readonly TestRedis[];
  /** One per master, in the same order, or none. */
  readonly replicas: readonly TestRedis[];
  stop(): Promise<void>;
}

type Node = Pick<TestRedis, "host" | "port">;

const slots = 16_384;
const agreeSeconds = 20;
/** Short while they get to know each other, which it paces. */
const joiningTimeoutMs = 2_000;
/**
 * For how long a node may say nothing before the others take it for gone, where that isn't the
 * subject: a busy machine may stand still.
 */
const patientTimeoutMs = 30_000;

export interface ClusterOptions {
  /** A replica for each master. */
  readonly replicas?: boolean;
  readonly nodeTimeoutMs?: number;
}

export async function startRedisCluster(size = 3, options: ClusterOptions = {}): Promise<TestRedisCluster> {
  const { replicas: doubled = false, nodeTimeoutMs = patientTimeoutMs } = options;
  const nodes = await joinedNodes(size);
  const replicas: TestRedis[] = [];
  const stop = async () => {
    await Promise.all([...nodes, ...replicas].map((node) => node.stop()));
  };
  try {
    await untilWhole(nodes);
    if (doubled) for (const node of nodes) replicas.push(await startReplicaOf(node));
    await setNodeTimeout([...nodes, ...replicas], nodeTimeoutMs);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: clusterUrl(nodes), nodes, replicas, stop };
}

/** All nodes in one address. */
export function clusterUrl(nodes: readonly Node[]): string {
  return `redis+cluster://${nodes.map(({ host, port }) => `${host}:${port}`).join(",")}`;
}

/** Masters that have been told of each other; it takes them two seconds to agree (`untilWhole`). */
export async function joinedNodes(size: number): Promise<readonly TestRedis[]> {
  const busPorts = await Promise.all(Array.from({ length: size }, freePort));
  const nodes = await Promise.all(busPorts.map(startNode));
  try {
    await join(nodes, busPorts);
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  }
  return nodes;
}

/** Waits until every node knows all others and sees every slot served. */
export async function untilWhole(nodes: readonly Node[]): Promise<void> {
  await Promise.all(nodes.map((node) => agrees(node, nodes.length)));
}

export async function setNodeTimeout(nodes: readonly Node[], milliseconds = patientTimeoutMs): Promise<void> {
  for (const node of nodes) await command(node, `CONFIG SET cluster-node-timeout ${milliseconds}`);
}

/** A replica of a node of a Cluster. Waits until it has everything that its master holds. */
export async function startReplicaOf(master: TestRedis): Promise<TestRedis> {
  const replica = await startNode(await freePort());
  const bus = /@(\d+)\S* \S*myself/.exec(await askRedis(master.port, "CLUSTER NODES"))?.[1];
  await command(replica, `CLUSTER MEET ${master.host} ${master.port} ${bus}`);
  const id = (await askRedis(master.port, "CLUSTER MYID")).split("\r\n")[1];
  await eventually(() => command(replica, `CLUSTER REPLICATE ${id}`), { withinMs: agreeSeconds * 1_000 });
  await eventually(
    async () => {
      const link = await askRedis(replica.port, "INFO replication");
      if (!link.includes("master_link_status:up")) throw new Error("The replica is not in step");
    },
    { withinMs: agreeSeconds * 1_000 },
  );
  return replica;
}

function startNode(busPort: number): Promise<TestRedis> {
  const cluster = ["--cluster-enabled", "yes", "--cluster-port", String(busPort)];
  const timeout = ["--cluster-node-timeout", String(joiningTimeoutMs)];
  const config = ["--cluster-config-file", "nodes.conf", "--repl-diskless-sync-delay", "0"];
  return startRedis({ args: [...cluster, ...timeout, ...config] });
}

async function join(nodes: readonly TestRedis[], busPorts: readonly number[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const from = Math.floor((index * slots) / nodes.length);
    const to = Math.floor(((index + 1) * slots) / nodes.length) - 1;
    await command(node, `CLUSTER ADDSLOTSRANGE ${from} ${to}`);
    await command(node, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
  }
  const [first, ...others] = nodes;
  if (!first) throw new Error("A cluster has at least one node");
  for (const [index, node] of others.entries()) {
    await command(first, `CLUSTER MEET ${node.host} ${node.port} ${busPorts[index + 1]}`);
  }
}

async function command(node: Node, text: string): Promise<void> {
  const reply = await askRedis(node.port, text);
  if (!reply.startsWith("+OK")) throw new Error(`${text} on port ${node.port}: ${reply.trim()}`);
}

async function agrees(node: Node, size: number): Promise<void> {
  const deadline = Date.now() + agreeSeconds * 1_000;
  while (Date.now() < deadline) {
    const info = await askRedis(node.port, "CLUSTER INFO");
    const whole = info.includes("cluster_state:ok") && info.includes(`cluster_slots_ok:${slots}`);
    if (whole && info.includes(`cluster_size:${size}`)) return;
    await sleep(50);
  }
  throw new Error(`The node on port ${node.port} doesn't see a whole cluster after ${agreeSeconds} s`);
}
