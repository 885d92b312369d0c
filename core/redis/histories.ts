// Asks each primary what it calls the history of writes that it holds: the replication id, which Redis draws anew when a server starts, from
// whatever files, and when a follower is promoted. Behind a name that was never seen, acknowledged writes may be missing.

import { Cluster, type Redis } from "ioredis";
import { type Client, isReady } from "./connect.ts";

/** Of those that answer. */
export async function historiesOf(client: Client): Promise<readonly string[]> {
  if (!isReady(client)) return [];
  const servers = client instanceof Cluster ? client.nodes("master") : [client];
  const found = await Promise.all(servers.map(historyOf));
  return found.filter((history) => history !== undefined);
}

async function historyOf(server: Redis): Promise<string | undefined> {
  try {
    return /^master_replid:(\w+)/m.exec(await server.info("replication"))?.[1];
  } catch {
    // It is away, which is news to nobody who asks this: it will be asked again.
    return undefined;
  }
}
