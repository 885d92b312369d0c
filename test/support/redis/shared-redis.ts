// The Redis and the Redis Cluster that all test files of a vitest project share. They are given as
// addresses: nobody can stop, kill or restart them. A test uses names of its own on them (a
// namespace, a project of freshProject) and expects nothing of what else is there.
//
// A server of one's own (startRedis) is for a file that ends, pauses, fills, empties or
// reconfigures it, that counts or lists what the whole server holds or was asked, or that uses
// fixed keys: all published configuration is under {jsonplane}, and ended sessions are told to
// every follower. It costs some 40 ms.

import { inject } from "vitest";
import type { TestRedis } from "./redis.ts";
import { clusterUrl, setNodeTimeout, untilWhole } from "./redis-cluster.ts";

export type SharedRedis = Pick<TestRedis, "url" | "host" | "port">;

export interface SharedRedisCluster {
  /** All primaries in one address, as a replica is given it. */
  readonly url: string;
  readonly nodes: readonly SharedRedis[];
}

declare module "vitest" {
  interface ProvidedContext {
    readonly redisPort: number;
    readonly redisClusterPorts: readonly number[];
  }
}

export function sharedRedis(): SharedRedis {
  return serverAt(inject("redisPort"));
}

/** Waits until all its nodes agree, which they may not yet do when the first test wants them. */
export async function sharedRedisCluster(): Promise<SharedRedisCluster> {
  const nodes = inject("redisClusterPorts").map(serverAt);
  await untilWhole(nodes);
  await setNodeTimeout(nodes);
  return { url: clusterUrl(nodes), nodes };
}

function serverAt(port: number): SharedRedis {
  const host = "127.0.0.1";
  return { host, port, url: `redis://${host}:${port}` };
}
