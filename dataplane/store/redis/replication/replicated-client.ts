// The client for writes of projects with `durability: Replicated`. It has a connection of its own,
// opened with the first such write; what only reads goes over the one that all use.

import { NoReplica } from "../../../../core/errors/store-errors.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf } from "../../../../core/redis/reply.ts";
import type { IdempotencyRecords } from "../../ports/idempotency.ts";
import { recordNameOf, repeatedBy } from "../idempotency-records.ts";
import { code, freeingScript, scriptReply } from "../store-script.ts";

export interface ReplicatedClient extends IdempotencyRecords {
  readonly redisClient: RedisClient;
  close(): Promise<void>;
}

/** Any key: only its slot counts, in a Cluster. */
const probe = "jp:{probe}:json";

export interface ReplicationOptions {
  /** A client whose writes wait for a Redis replica, so long at most. */
  open(withinMs: number): Promise<RedisClient>;
  readonly withinMs: number;
}

/** Refuses writes with NoReplica where no Redis replica has answered yet. */
export function createReplicatedClient(
  redisClient: RedisClient,
  { open, withinMs }: ReplicationOptions,
): ReplicatedClient {
  const writeAgain = freeingScript("replication/write-record-again-1");
  let opening: Promise<RedisClient> | undefined;

  const openWithReplica = async (): Promise<RedisClient> => {
    const client = await open(withinMs);
    try {
      // Also whether it may be asked: a write that it may not wait for is not sent.
      const replicas = numberOf(await client.read(probe, "WAIT", 1, withinMs));
      if (replicas < 1) throw new NoReplica(`No Redis replica has answered within ${withinMs} ms`);
      return client;
    } catch (error) {
      client.disconnect();
      throw error;
    }
  };

  const opened = (): Promise<RedisClient> => {
    opening ??= openWithReplica().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  /** What answers a repeated write is replicated, too, whichever connection wrote it. */
  const record = async (name: string): Promise<string | undefined> =>
    repeatedBy(scriptReply(await (await opened()).run(writeAgain, [name], [])))?.record;

  return {
    redisClient: {
      ...redisClient,
      async run(script, keys, args) {
        if (script.kind === "read") return redisClient.run(script, keys, args);
        const reply = await (await opened()).run(script, keys, args);
        if (Array.isArray(reply) && reply[0] === code.repeated) await record(keys.at(-1) ?? "");
        return reply;
      },
    },
    idempotencyRecord: (of, key) => record(recordNameOf(of, key)),
    async close() {
      const client = await opening?.catch(() => undefined);
      client?.disconnect();
    },
  };
}
