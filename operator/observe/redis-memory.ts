// How much memory the servers of Redis use. They are asked now and then and side by side, so that a scrape waits for none of them.

import type { Gateway } from "../../core/redis/gateway.ts";
import type { MemoryUse } from "../../core/redis/primaries.ts";

export interface ServerMemory extends MemoryUse {
  /** `host:port` of a Cluster's primary; `primary` of a Redis that has one only. */
  readonly server: string;
}

/** Of those that answer. Never rejects. */
export async function redisMemory(gateway: Pick<Gateway, "primaries">): Promise<readonly ServerMemory[]> {
  const asked = gateway.primaries().map(async (primary) => {
    const memory = await primary.memory();
    return memory === undefined ? [] : [{ server: primary.name || "primary", ...memory }];
  });
  return (await Promise.all(asked)).flat();
}
