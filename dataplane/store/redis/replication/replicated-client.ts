// The client for writes of projects with `durability: Replicated`. It has a connection of its own,
// opened with the first such write; what only reads goes over the one that all use.

import { NoReplica } from "../../../../core/errors/store-errors.ts";
import { RedisFault } from "../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf } from "../../../../core/redis/reply.ts";
import type { IdempotencyRecords } from "../../ports/idempotency.ts";
import { createIdempotencyRecords, recordNameOf, repeatedBy } from "../idempotency-records.ts";
import { code, freeingScript, scriptReply } from "../store-script.ts";

export interface ReplicatedClient extends IdempotencyRecords {
  readonly redisClient: RedisClient;
  close(): Promise<void>;
}

export interface ReplicationOptions {
  /** A client whose writes wait for a Redis replica, so long at most. */
  open(withinMs: number): Promise<RedisClient>;
  readonly withinMs: number;
}

/**
 * Refuses writes with NoReplica where their primary's Redis replicas are away: it is asked before
 * the first write, and before the next one after each that failed.
 */
export function createReplicatedClient(
  redisClient: RedisClient,
  { open, withinMs }: ReplicationOptions,
): ReplicatedClient {
  const writeAgain = freeingScript("replication/write-record-again-1");
  const { idempotencyRecord } = createIdempotencyRecords(redisClient);
  let opening: Promise<RedisClient> | undefined;
  /** What each primary has answered, until a write to it fails. */
  const asked = new Map<string, Promise<void>>();

  const opened = (): Promise<RedisClient> => {
    opening ??= open(withinMs).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  const requireReplica = async (client: RedisClient, key: string): Promise<void> => {
    try {
      // Also whether it may be asked: a write that it may not wait for is not sent.
      if (numberOf(await client.read(key, "WAIT", 1, withinMs)) > 0) return;
    } catch (error) {
      // Refuses the write as well, by which ioredis learns where the primary is.
      if (isOfReplica(error)) return;
      throw error;
    }
    throw new NoReplica(`No Redis replica has answered within ${withinMs} ms`);
  };

  const run: RedisClient["run"] = async (script, keys, args) => {
    const client = await opened();
    const [key = ""] = keys;
    const primary = client.primaryOf(key);
    const answer = asked.get(primary) ?? requireReplica(client, key);
    asked.set(primary, answer);
    try {
      await answer;
      return await client.run(script, keys, args);
    } catch (error) {
      if (asked.get(primary) === answer) asked.delete(primary);
      throw error;
    }
  };

  /** What answers a repeated write is replicated, too, whichever connection wrote it. */
  const recordAgain = async (name: string): Promise<string | undefined> =>
    repeatedBy(scriptReply(await run(writeAgain, [name], [])))?.record;

  return {
    redisClient: {
      ...redisClient,
      async run(script, keys, args) {
        if (script.kind === "read") return redisClient.run(script, keys, args);
        const reply = await run(script, keys, args);
        if (Array.isArray(reply) && reply[0] === code.repeated) await recordAgain(keys.at(-1) ?? "");
        return reply;
      },
    },
    async idempotencyRecord(of, key) {
      const found = await idempotencyRecord(of, key);
      return found && recordAgain(recordNameOf(of, key));
    },
    async close() {
      const client = await opening?.catch(() => undefined);
      client?.disconnect();
    },
  };
}

function isOfReplica(error: unknown): boolean {
  return error instanceof RedisFault && /replica instances/.test((error.cause as Error).message);
}
