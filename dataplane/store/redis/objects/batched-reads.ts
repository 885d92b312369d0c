// Batches the reads of stored JSON, objects and documents alike: what is read in one turn of the
// event loop becomes one JSON.MGET for each hash tag, several for more than 32 keys. Each caller
// gets the result of its own key. Refuses with StoreUnavailable, and RedisFault where something
// other than JSON is stored.
//
// Which values are small is remembered by hashes of their keys, in half a mebibyte. A key replaces
// another one when both its places are taken, and is mistaken for one with the same hash, which
// happens to one of 30,000 when the set is full.

import { isErrorReply } from "../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { listOf, optionalText } from "../../../../core/redis/reply.ts";
import { hashTagOf, separator } from "../keys.ts";
import { createTurnBatches } from "./turn-batches.ts";

export interface BatchedReads {
  /** The text of a value, or JSON.GET of `path` in it; undefined when nothing is stored. */
  read(key: string, path?: string): Promise<string | undefined>;
  /** The texts of all values; undefined, unread, unless each was small when last seen. */
  readSmall(keys: readonly string[]): Promise<readonly (string | undefined)[]> | undefined;
  /** Says what is stored, or that nothing is. */
  rememberSize(key: string, text: string | undefined): void;
}

/** Values of one command: so many of 16 KiB hold Redis for some 1.3 ms. */
const maxBatch = 32;
/** Bytes of a value for which others may wait. */
const maxBatchedBytes = 16 * 1024;

interface Read extends PromiseWithResolvers<string | undefined> {
  readonly key: string;
  readonly path: string | undefined;
  /** Of the key, or of key and path. */
  readonly hash: number;
  /** Whether the entire value is read, and was small when this replica saw it last. */
  readonly isSmall: boolean;
}

export function createBatchedReads(redisClient: RedisClient): BatchedReads {
  // A value that was not seen lately may be very large, or missing: it is read alone.
  const lastSeenSmall = createKeySet();
  /**
   * Reads that are not known to be sent, by hash. Each send starts a new map: one that stays is
   * copied as it fills with deleted entries, and old copies keep later reads alive, which made
   * minor garbage collections four times as long.
   */
  let asked = new Map<number, Read>();

  const rememberSize = (hash: number, text: unknown): void => {
    if (isSmall(text)) lastSeenSmall.add(hash);
    else lastSeenSmall.delete(hash);
  };

  const readAlone = async ({ key, path, hash, resolve, reject }: Read): Promise<void> => {
    try {
      const words = path === undefined ? [key] : [key, path];
      const text = optionalText(await redisClient.read(key, "JSON.GET", ...words));
      resolve(text);
      if (path === undefined) rememberSize(hash, text);
    } catch (error) {
      reject(error);
    }
  };

  const take = (read: Read, text: unknown): void => {
    if (!isSmall(text)) lastSeenSmall.delete(read.hash);
    if (typeof text === "string") read.resolve(text);
    // JSON.MGET answers null for a key without a value, for one that is not JSON, and, while a
    // Cluster moves the slot, for one on another node.
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
    asked = new Map();
    const small = reads.filter((read) => read.isSmall);
    for (const read of reads) if (!read.isSmall) void readAlone(read);
    if (small.length > 1) void readTogether(small);
    else for (const read of small) void readAlone(read);
  };
  const add = createTurnBatches<Read>({ redisClient, maxLength: maxBatch, send });

  /**
   * The same read, asked for twice in one turn, is sent once. Of two keys with one hash, only the
   * read of the first is shared.
   */
  const ask = (key: string, path: string | undefined, hash: number): Promise<string | undefined> => {
    const before = asked.get(hash);
    if (before?.key === key && before.path === path) return before.promise;
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const isSmall = path === undefined && lastSeenSmall.has(hash);
    const read = { key, path, hash, isSmall, promise, resolve, reject };
    if (before === undefined) asked.set(hash, read);
    // Of one hash tag each, because a Cluster refuses a command over several slots.
    add(hashTagOf(key), read);
    return promise;
  };

  return {
    read: (key, path) => ask(key, path, keyHash(path === undefined ? key : key + separator + path)),
    readSmall(keys) {
      const hashes = keys.map(keyHash);
      if (!hashes.every(lastSeenSmall.has)) return undefined;
      return Promise.all(keys.map((key, at) => ask(key, undefined, hashes[at] as number)));
    },
    rememberSize: (key, text) => rememberSize(keyHash(key), text),
  };
}

/** UTF-8 has at most three bytes per character: most texts needn't be encoded. */
function isSmall(text: unknown): boolean {
  if (typeof text !== "string" || text.length > maxBatchedBytes) return false;
  return text.length * 3 <= maxBatchedBytes || Buffer.byteLength(text) <= maxBatchedBytes;
}

export interface KeySet {
  /** Takes what `keyHash` makes of the key, as the others do. */
  add(hash: number): void;
  has(hash: number): boolean;
  delete(hash: number): void;
}

const placeBits = 17;
const places = 2 ** placeBits;
const empty = 0;

export function createKeySet(): KeySet {
  // The strings themselves, in an LRU map, would take a quarter of a kibibyte each: 32 MiB instead.
  const hashes = new Uint32Array(places);
  /**
   * Two for each hash: with one, a few of a thousand keys would replace each other all the time.
   */
  const first = (hash: number): number => hash % places;
  const second = (hash: number): number => hash >>> (32 - placeBits);
  const holds = (hash: number): boolean => hashes[first(hash)] === hash || hashes[second(hash)] === hash;
  return {
    add(hash) {
      if (!holds(hash)) hashes[hashes[first(hash)] === empty ? first(hash) : second(hash)] = hash;
    },
    has: holds,
    delete(hash) {
      if (hashes[first(hash)] === hash) hashes[first(hash)] = empty;
      else if (hashes[second(hash)] === hash) hashes[second(hash)] = empty;
    },
  };
}

/** FNV-1a over the text's UTF-16 units, 32 bits; never 0, which is an empty place. */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0 || 1;
}
