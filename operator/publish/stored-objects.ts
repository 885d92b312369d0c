// How many objects the resources of each Project hold, as replicas count them. A figure that can't
// be read counts as absent, and is named.

import { storedObjectsKey } from "../../core/config/config-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";

export interface StoredObjects {
  /** By `<namespace>/<name>`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Projects whose figures can't be read. */
  readonly unreadable: readonly string[];
}

export const noStoredObjects: StoredObjects = { counts: new Map(), unreadable: [] };

/** Rejects where Redis can't be asked. Nothing is there while no replica counts. */
export async function readStoredObjects(redisClient: Pick<RedisClient, "read">): Promise<StoredObjects> {
  const fields = fieldsOf(await redisClient.read(storedObjectsKey, "HGETALL", storedObjectsKey));
  const counts = new Map<string, number>();
  const unreadable: string[] = [];
  for (const [name, text] of fields) {
    if (/^[0-9]{1,15}$/.test(text)) counts.set(name, Number(text));
    else unreadable.push(name);
  }
  return { counts, unreadable };
}
