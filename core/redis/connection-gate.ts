// Holds commands of each new connection back until its server was checked: it may be another server
// than before, or the same one without its data.

import { Cluster } from "ioredis";
import { pause, systemTimers } from "../timers.ts";
import { type IoredisClient, isReady } from "./connect.ts";
import { createRedisClient, type RedisClient } from "./redis-client.ts";

/**
 * Reads by `read` over the connection in question; a rejection means that it could not be checked.
 */
export type CheckServer = (read: RedisClient["read"]) => Promise<void>;

/** Milliseconds after a check that failed. */
const recheckMs = 100;

/**
 * A client of Redis that sends nothing over a connection before `check` has resolved for it; until
 * then Redis counts as away. Rejects when the first check does. A Cluster is not checked: its
 * connections come and go with its nodes, and only one of them could be asked. `replicatedWithinMs`
 * as of `createRedisClient`.
 */
export async function createGuardedRedisClient(
  client: IoredisClient,
  check: CheckServer,
  replicatedWithinMs?: number,
): Promise<RedisClient> {
  if (client instanceof Cluster) return createRedisClient(client, undefined, replicatedWithinMs);
  const { read } = createRedisClient(client);
  /** The socket of the connection that was checked last. */
  let checkedStream: unknown;

  const checkConnection = async (): Promise<void> => {
    const { stream } = client;
    await check(read);
    // The answer of another connection says nothing about this one, which is checked by itself.
    if (client.stream === stream) checkedStream = stream;
  };

  const checkUntilAnswered = async (): Promise<void> => {
    const { stream } = client;
    while (isReady(client) && client.stream === stream) {
      try {
        await checkConnection();
        return;
      } catch {
        await pause(systemTimers, recheckMs);
      }
    }
  };

  client.on("ready", () => void checkUntilAnswered());
  await checkConnection();
  const isChecked = () => isReady(client) && client.stream === checkedStream;
  return createRedisClient(client, isChecked, replicatedWithinMs);
}
