// What is watched of the servers of Redis: the memory that they use, and the end of their certificates. They are asked now and then and side by
// side, so that a scrape waits for none of them.

import type { MemoryUse } from "../../core/redis/primaries.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";

export interface RedisServer {
  /** `host:port` of a Cluster's primary; `primary` of a Redis that has one only. */
  readonly server: string;
  /** Undefined when it doesn't say. */
  readonly memory: MemoryUse | undefined;
  /** Unix milliseconds; undefined without TLS. */
  readonly certificateEnds: number | undefined;
}

/** Never rejects. */
export function lookAtRedis(redisClient: Pick<RedisClient, "primaries">): Promise<readonly RedisServer[]> {
  const asked = redisClient.primaries().map(async (primary) => ({
    server: primary.name || "primary",
    memory: await primary.memory(),
    certificateEnds: primary.certificateEnds(),
  }));
  return Promise.all(asked);
}
