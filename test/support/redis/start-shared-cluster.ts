// Vitest's global set-up of the projects whose files share a Redis Cluster of three primaries
// (shared-redis.ts). It does not wait for them to agree: most files need no Cluster, and whoever
// does waits for it.

import type { TestProject } from "vitest/node";
import { joinedNodes } from "./redis-cluster.ts";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const nodes = await joinedNodes(3);
  project.provide(
    "redisClusterPorts",
    nodes.map(({ port }) => port),
  );
  return async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
}
