// Holds commands of each new connection back until its server was checked: it may be another server
// than before, or the same one without its data.

import { Cluster } from "ioredis";
import { pause, systemTimers } from "../timers.ts";
import { type IoredisClient, isReady } from "./connect.ts";
import { createRedisClient, type RedisClient } from "./redis-client.ts";

/**
 * Reads by `read` over the connection in question; a rejection means that it could not be checked.
 */
export type LookAtServer = (read: RedisClient["read"]) => Promise<void>;

/** Milliseconds after a check that failed. */
const lookAgainMs = 100;

/**
 * A client of Redis that sends nothing over a connection before `look` has resolved for it; until
 * then Redis counts as away. Rejects when the first check does. A Cluster is not checked: its
 * connections come and go with its nodes, and only one of them could be asked.
 */
export async function createGuardedRedisClient(client: IoredisClient, look: LookAtServer): Promise<RedisClient> {
  if (client instanceof Cluster) return createRedisClient(client);
  const { read } = createRedisClient(client);
  /** The socket of the connection that was checked last. */
  let lookedAt: unknown;

  const lookOver = async (): Promise<void> => {
    const { stream } = client;
    await look(read);
    // The answer of another connection says nothing about this one, which is checked by itself.
    if (client.stream === stream) lookedAt = stream;
  };

  const lookUntilAnswered = async (): Promise<void> => {
    const { stream } = client;
    while (isReady(client) && client.stream === stream) {
      try {
        await lookOver();
        return;
      } catch {
        await pause(systemTimers, lookAgainMs);
      }
    }
  };

  client.on("ready", () => void lookUntilAnswered());
  await lookOver();
  return createRedisClient(client, () => isReady(client) && client.stream === lookedAt);
}
