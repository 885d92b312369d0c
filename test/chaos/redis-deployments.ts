// The Redis that a scenario runs on: one server, a primary behind a Sentinel, or a Cluster whose
// primaries have replicas.

import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster, type TestRedisCluster } from "../support/redis/redis-cluster.ts";
import { startRedisSentinel, type TestSentinel } from "../support/redis/redis-sentinel.ts";

export interface RedisDeployment {
  readonly url: string;
  /** The one server, or the first primary. */
  readonly server: TestRedis;
  readonly sentinel?: TestSentinel;
  readonly cluster?: TestRedisCluster;
  stop(): Promise<void>;
}

export type OpenRedis = () => Promise<RedisDeployment>;

/** `durability` as Redis calls it; `none` keeps everything in memory only. */
export function oneServer(durability: "none" | "always" | "everysec", dir?: string): OpenRedis {
  return async () => {
    const args = durability === "none" ? [] : ["--appendonly", "yes", "--appendfsync", durability];
    const server = await startRedis({ args, ...(dir !== undefined && { dir }) });
    return { url: server.url, server, stop: () => server.stop() };
  };
}

export const behindSentinel: OpenRedis = async () => {
  const sentinel = await startRedisSentinel();
  return { url: sentinel.url, server: sentinel.primary, sentinel, stop: () => sentinel.stop() };
};

export function onCluster(options: { readonly replicas: boolean }): OpenRedis {
  return async () => {
    const cluster = await startRedisCluster(3, { ...options, nodeTimeoutMs: 2_000 });
    const [server] = cluster.nodes;
    if (server === undefined) throw new Error("A cluster has a node");
    return { url: cluster.url, server, cluster, stop: () => cluster.stop() };
  };
}
