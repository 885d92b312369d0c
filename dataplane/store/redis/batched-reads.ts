// Batches the reads of stored JSON, whole objects and documents alike: what is read in one turn of the event loop becomes one JSON.MGET for
// each hash tag, several for more than 32 keys. Each caller gets what is true of its own key, as if it had been read alone. Refuses with
// StoreUnavailable, and RedisFault where something else than JSON is stored.

import { isErrorReply } from "../../../core/redis/failure.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { listOf, optionalText } from "../../../core/redis/reply.ts";
import { createKeySet } from "./key-set.ts";
import { hashTagOf, separator } from "./keys.ts";
import { createTurnBatches } from "./turn-batches.ts";

export interface BatchedReads {
  /** The text of a JSON value, or what JSON.GET finds at `path` in it; undefined when nothing is stored. */
  read(key: string, path?: string): Promise<string | undefined>;
  /** Whether a value was small when this replica saw it last; false for one that it has not seen lately. */
  isSmall(key: string): boolean;
  /** Says what is stored, or that nothing is. */
  note(key: string, text: string | undefined): void;
}

/** Values of one command: so many of 16 KiB hold Redis for some 1.3 ms. */
const maxBatch = 32;
/** Bytes of a value for which others may wait. */
const maxBatchedBytes = 16 * 1024;

interface Read extends PromiseWithResolvers<string | undefined> {
  /** Of the key and the path. */
  readonly name: string;
  readonly key: string;
  readonly path: string | undefined;
}

export function createBatchedReads(redisClient: RedisClient): BatchedReads {
  // A value that was not seen lately may be as large as values get, or may not be there: it is read alone.
  const lastSeenSmall = createKeySet();
  /**
   * What this turn has asked for and is not sent yet, by name. A map of its own for each turn: one that stays, and whose entries come and go, is
   * copied as it fills with what was deleted, and each copy keeps the reads of the one before it alive, which made minor garbage collections
   * four times as long.
   */
  let asked = new Map<string, Read>();

  const note = (key: string, text: unknown): void => {
    if (isSmall(text)) lastSeenSmall.add(key);
    else lastSeenSmall.delete(key);
  };

  const readAlone = async ({ key, path, resolve, reject }: Read): Promise<void> => {
    try {
      const words = path === undefined ? [key] : [key, path];
      const text = optionalText(await redisClient.read(key, "JSON.GET", ...words));
      resolve(text);
      if (path === undefined) note(key, text);
    } catch (error) {
      reject(error);
    }
  };

  const take = (read: Read, text: unknown): void => {
    if (!isSmall(text)) lastSeenSmall.delete(read.key);
    if (typeof text === "string") read.resolve(text);
    // JSON.MGET answers null for a key without a value, for one that holds something else, and, while a Cluster moves the slot, for one
    // that is on another node than the first.
    else void readAlone(read);
  };

  const readTogether = async (reads: readonly Read[]): Promise<void> => {
    try {
      const keys = reads.map(({ key }) => key);
      const texts = listOf(await redisClient.readMany(keys, "JSON.MGET", ...keys, "."));
      for (const [at, read] of reads.entries()) take(read, texts[at]);
    } catch (error) {
      // An error that Redis answers with, such as TRYAGAIN, need not be true of each value.
      const each = isErrorReply(error) ? readAlone : ({ reject }: Read) => reject(error);
      for (const read of reads) void each(read);
    }
  };

  const send = (reads: readonly Read[]): void => {
    const small: Read[] = [];
    for (const read of reads) {
      asked.delete(read.name);
      if (read.path === undefined && lastSeenSmall.has(read.key)) small.push(read);
      else void readAlone(read);
    }
    if (asked.size === 0) asked = new Map();
    if (small.length > 1) void readTogether(small);
    else for (const read of small) void readAlone(read);
  };
  const add = createTurnBatches<Read>({ redisClient, maxLength: maxBatch, send });

  return {
    isSmall: (key) => lastSeenSmall.has(key),
    note,
    read(key, path) {
      // The same read, asked for twice in one turn, is sent once.
      const name = path === undefined ? key : key + separator + path;
      const same = asked.get(name);
      if (same !== undefined) return same.promise;
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
      const read = { name, key, path, promise, resolve, reject };
      asked.set(name, read);
      // Of one hash tag each, because a Cluster refuses a command over several slots.
      add(hashTagOf(key), read);
      return promise;
    },
  };
}

function isSmall(text: unknown): boolean {
  return typeof text === "string" && Buffer.byteLength(text) <= maxBatchedBytes;
}
