// Starts a real Redis Cluster with the RedisJSON module for tests: masters without replicas that share all 16,384 slots.
// Refuses when a server doesn't come up or the nodes don't agree within twenty seconds.

import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { startRedis, type TestRedis } from "./redis.ts";
import { askRedis } from "./redis-line.ts";

export interface TestRedisCluster {
  readonly urls: readonly string[];
  readonly nodes: readonly TestRedis[];
  stop(): Promise<void>;
}

const slots = 16_384;
const agreeSeconds = 20;

export async function startRedisCluster(size = 3): Promise<TestRedisCluster> {
  const nodes: TestRedis[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const busPorts: number[] = [];
    for (let index = 0; index < size; index += 1) {
      const busPort = await freePort();
      busPorts.push(busPort);
      nodes.push(await startNode(busPort));
    }
    await join(nodes, busPorts);
    await Promise.all(nodes.map((node) => agrees(node, size)));
  } catch (error) {
    await stop();
    throw error;
  }
  return { urls: nodes.map((node) => node.url), nodes, stop };
}

function startNode(busPort: number): Promise<TestRedis> {
  const cluster = ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--cluster-node-timeout", "2000"];
  return startRedis({ args: [...cluster, "--cluster-config-file", "nodes.conf"] });
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

async function command(node: TestRedis, text: string): Promise<void> {
  const reply = await askRedis(node.port, text);
  if (!reply.startsWith("+OK")) throw new Error(`${text} on port ${node.port}: ${reply.trim()}`);
}

/** Waits until a node knows all others and sees every slot served. */
async function agrees(node: TestRedis, size: number): Promise<void> {
  const deadline = Date.now() + agreeSeconds * 1_000;
  while (Date.now() < deadline) {
    const info = await askRedis(node.port, "CLUSTER INFO");
    const whole = info.includes("cluster_state:ok") && info.includes(`cluster_slots_ok:${slots}`);
    if (whole && info.includes(`cluster_size:${size}`)) return;
    await sleep(50);
  }
  throw new Error(`The node on port ${node.port} doesn't see a whole cluster after ${agreeSeconds} s`);
}
