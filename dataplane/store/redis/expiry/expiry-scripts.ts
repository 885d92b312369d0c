// Typed wrappers of the scripts that find and remove expired objects: only they know the positions
// of keys and arguments.

import { RedisFault } from "../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf, textOf, textsOf } from "../../../../core/redis/reply.ts";
import { decodedTime } from "../../expiry.ts";
import type { Owner } from "../../ports/refs.ts";
import type { IndexSet, StoredIndex } from "../indexes/index-set.ts";
import { idAndOwner } from "../indexes/indexes.ts";
import { type CollectionKeys, expiring } from "../keys.ts";
import { type IndexEntry, indexKeys, setValues } from "../objects/object-scripts.ts";
import { code, freeingScript, scriptReply, storeScript } from "../store-script.ts";

/** What a step works with: the collection's index of expiry in force, and its index set. */
export interface ExpiryIndex {
  readonly keys: CollectionKeys;
  readonly set: IndexSet;
  readonly index: StoredIndex;
}

export interface ExpiredObject {
  readonly id: string;
  readonly owner: Owner;
  /** Its value in the index of expiry. */
  readonly time: string;
  /** "" where only the entry is left of it. */
  readonly text: string;
}

export interface FoundExpired {
  readonly now: number;
  readonly next: number | undefined;
  readonly objects: readonly ExpiredObject[];
}

export interface RemovedObject extends Omit<ExpiredObject, "text"> {
  /** SHA-1 of the text that was read, "" where there was none. */
  readonly hash: string;
  /** One for each other index of the set. */
  readonly entries: readonly IndexEntry[];
}

/** Of one moment. */
export interface CountedExpired {
  /** Encoded, by the clock of the Redis that has the collection. */
  readonly now: string;
  readonly expired: number;
  /** The index's first entry; "" = it is empty. */
  readonly first: string;
  /** Of the sorted set, those that have expired included. */
  readonly members: number;
}

export interface ExpiryScripts {
  /** The time of the Redis that has the collection, in milliseconds. */
  time(keys: CollectionKeys): Promise<number>;
  count(of: ExpiryIndex, set: string): Promise<CountedExpired | "stale">;
  /** `left` = how many of those that expired first it leaves to others, where there are more. */
  read(of: ExpiryIndex, maxObjects: number, left: number): Promise<FoundExpired | "stale">;
  /** How many were removed. */
  remove(of: ExpiryIndex, objects: readonly RemovedObject[]): Promise<number | "stale">;
  /**
   * Notes a collection for that time, unless an earlier one is noted; undefined = now, unless any
   * is.
   */
  note(name: string, at: number | undefined): Promise<void>;
  /** Names of collections, and when their time comes again. */
  take(max: number, takenMs: number): Promise<{ readonly names: readonly string[]; readonly until: number }>;
  /** When the time comes again, undefined = never, or `conflict`: it is not as it was taken. */
  takeAgain(name: string, until: number, inMs: number | undefined): Promise<number | undefined | "conflict">;
}

/** Reading them takes Redis about a millisecond. */
const bytesPerCall = 256 * 1024;

export function createExpiryScripts(redisClient: RedisClient): ExpiryScripts {
  const count = storeScript("expiry/count-expired-3", "read");
  const read = storeScript("expiry/read-expired-3", "read");
  // They free more than they write: expired objects may be what fills the memory.
  const remove = freeingScript("expiry/remove-expired-n");
  const take = freeingScript("expiry/take-expiring-1");
  const takeAgain = freeingScript("expiry/take-again-1");

  return {
    async time({ indexSet }) {
      const [seconds = "", microseconds] = textsOf(await redisClient.read(indexSet, "TIME"));
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
    async count({ keys, set, index }, sortedSet) {
      const own = [keys.indexSet, keys.index(index.slot), sortedSet];
      const reply = scriptReply(await redisClient.run(count, own, [set.version]));
      if (reply.code === code.stale_index_set) return "stale";
      const [now, expired, members, first] = reply.rest;
      return { now: textOf(now), expired: numberOf(expired), members: numberOf(members), first: textOf(first) };
    },
    async read({ keys, set, index }, maxObjects, left) {
      const own = [keys.indexSet, keys.index(index.slot), keys.ids];
      const args = [set.version, keys.objectKeyPrefix, maxObjects, bytesPerCall, left];
      const reply = scriptReply(await redisClient.run(read, own, args));
      if (reply.code === code.stale_index_set) return "stale";
      const [now = "", next = "", ...rest] = textsOf(reply.rest);
      if (rest.length % 3 !== 0) throw new RedisFault(`The script ${read.name} left out a part`, { code: "REPLY" });
      const objects: ExpiredObject[] = [];
      for (let at = 0; at < rest.length; at += 3) {
        const [time = "", member = "", text = ""] = rest.slice(at, at + 3);
        objects.push({ ...idAndOwner(member), time, text });
      }
      return { now: decodedTime(now), next: next === "" ? undefined : decodedTime(next), objects };
    },
    async remove({ keys, set, index }, objects) {
      const others = set.indexes.filter((each) => each !== index);
      const keepsOwners = set.owners.areKept;
      const sets = indexKeys(keys, others, keepsOwners);
      const perObject = objects.flatMap(({ id, owner }) => [keys.objectKey(id), keys.owned(owner)]);
      const own = [keys.indexSet, keys.ids, keys.log, keys.index(index.slot), ...sets, ...perObject];
      const values = objects.flatMap(({ id, owner, hash, time, entries }) => {
        const ofSets = setValues(entries, keepsOwners ? owner : undefined);
        return [id, owner, hash, time, ...ofSets];
      });
      const reply = scriptReply(
        await redisClient.run(remove, own, [set.version, keys.declaredLog, sets.length, ...values]),
      );
      return reply.code === code.stale_index_set ? "stale" : numberOf(reply.rest[0]);
    },
    async note(name, at) {
      await redisClient.write(expiring, "ZADD", expiring, at === undefined ? "NX" : "LT", at ?? 0, name);
    },
    async take(max, takenMs) {
      const [until, ...names] = scriptReply(await redisClient.run(take, [expiring], [max, takenMs])).rest;
      return { until: numberOf(until), names: textsOf(names) };
    },
    async takeAgain(name, until, inMs) {
      const reply = scriptReply(await redisClient.run(takeAgain, [expiring], [name, until, inMs ?? ""]));
      if (reply.code === code.conflict) return "conflict";
      const [at] = reply.rest;
      return at === "" ? undefined : numberOf(at);
    },
  };
}
