// Keeps commands from each new connection to a server until somebody has looked at what that server holds: it may be another one than
// the server that was left, or the same one without its data.

import { Cluster } from "ioredis";
import { pause, systemTimers } from "../timers.ts";
import { type IoredisClient, isReady } from "./connect.ts";
import { createRedisClient, type RedisClient } from "./redis-client.ts";

/** Asks by `read` over the connection in question; a rejection means that it could not be looked at. */
export type LookAtServer = (read: RedisClient["read"]) => Promise<void>;

/** Milliseconds after a look that failed. */
const lookAgainMs = 100;

/**
 * A client of Redis that sends nothing over a connection before `look` has resolved for it; until then Redis is away. Rejects when the
 * first look does. A Cluster's connections come and go with its nodes, and only one of them could be asked: it isn't looked at.
 */
export async function createGuardedRedisClient(client: IoredisClient, look: LookAtServer): Promise<RedisClient> {
  if (client instanceof Cluster) return createRedisClient(client);
  const { read } = createRedisClient(client);
  /** The socket of the connection that was looked at last. */
  let lookedAt: unknown;

  const lookOver = async (): Promise<void> => {
    const { stream } = client;
    await look(read);
    // What another connection answered says nothing of this one, which is looked at by itself.
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
