// Typed wrappers of the scripts that read ranges of an index: the only place that knows the positions of their keys and arguments.

import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { numberOf, textOf, textsOf } from "../../../core/redis/reply.ts";
import { type CollectionKeys, separator } from "./keys.ts";
import type { FoundIds } from "./object-scripts.ts";
import { code, scriptReply, storeScript } from "./store-script.ts";

/** From one member of a sorted set to another, as ZRANGE BYLEX names them: `-`, `+`, or `[` or `(` and a text. */
export interface LexRange {
  readonly from: string;
  readonly to: string;
}

/** Whether a member begins or ends with the id. */
export type IdPosition = "first" | "last";

export interface ReadRanges {
  readonly keys: CollectionKeys;
  /** The sorted set to read. */
  readonly set: string;
  /** Present when the set is an index, or one owner's: its index set's version. */
  readonly version?: string | undefined;
  readonly idIs: IdPosition;
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
  /** Whose members are counted. */
  readonly counted: readonly LexRange[];
  /** Whose members are shown, in the page's order. */
  readonly shown: readonly LexRange[];
}

export interface RangesReply extends FoundIds {
  /** The page's last member, when there are more after it. */
  readonly last: string | undefined;
}

export interface ReadCandidates {
  readonly keys: CollectionKeys;
  readonly set: string;
  readonly version?: string | undefined;
  readonly idIs: IdPosition;
  readonly ranges: readonly LexRange[];
  readonly max: number;
}

export interface RangeScripts {
  ranges(call: ReadRanges): Promise<RangesReply | "stale">;
  candidates(call: ReadCandidates): Promise<readonly string[] | "too_many" | "stale">;
}

export function createRangeScripts(redisClient: RedisClient): RangeScripts {
  const readRanges = storeScript("read-ranges-2", "read");
  const readCandidates = storeScript("read-candidates-2", "read");

  return {
    async ranges(call) {
      const { keys, set, version = "*", idIs, offset, limit, descending, counted, shown } = call;
      const first = [version, idIs, offset, limit, descending ? 1 : 0];
      const args = [...first, counted.length, ...bounds(counted), ...bounds(shown)];
      const reply = scriptReply(await redisClient.run(readRanges, [set, keys.indexSet], args));
      if (reply.code === code.stale_index_set) return "stale";
      const [count, ids, last] = reply.rest;
      return { count: numberOf(count), ids: textsOf(ids), last: textOf(last) || undefined };
    },
    async candidates({ keys, set, version = "*", idIs, ranges, max }) {
      const args = [version, max, ...bounds(ranges)];
      const reply = scriptReply(await redisClient.run(readCandidates, [set, keys.indexSet], args));
      if (reply.code === code.stale_index_set) return "stale";
      return reply.code === code.more
        ? "too_many"
        : reply.rest.flatMap((members) => textsOf(members).map((member) => idIn(member, idIs)));
    },
  };
}

/** A member of ids begins with one, that of an index ends in it. */
export function idIn(member: string, idIs: IdPosition): string {
  if (idIs === "last") return member.slice(member.lastIndexOf(separator) + separator.length);
  const end = member.indexOf(separator);
  return end < 0 ? member : member.slice(0, end);
}

function bounds(ranges: readonly LexRange[]): readonly string[] {
  return ranges.flatMap(({ from, to }) => [from, to]);
}
