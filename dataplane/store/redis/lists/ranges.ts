// Reads ranges of an index. Turns ranges of values, and the position that a page begins after, into
// bounds of a sorted set's members.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf, textOf, textsOf } from "../../../../core/redis/reply.ts";
import { compareEncoded } from "../../order.ts";
import type { IdRange, Position, ValueCount } from "../../ports/lists.ts";
import type { Owner } from "../../ports/refs.ts";
import { allValues, type ValueRange } from "../../ranges.ts";
import { type CollectionKeys, separator } from "../keys.ts";
import { behindAll, type FoundIds, type ReadPage } from "../objects/object-scripts.ts";
import { code, scriptReply, storeScript } from "../store-script.ts";

/** Bounds as of ZRANGE BYLEX: `-`, `+`, or `[` or `(` and a text. */
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

export interface ReadMembers extends Pick<ReadRanges, "keys" | "version" | "idIs"> {
  /** The sorted sets to read, and the ranges of each. */
  readonly sets: readonly SetRanges[];
  readonly max: number;
}

interface SetRanges {
  readonly set: string;
  readonly ranges: readonly LexRange[];
}

export interface CountValues extends Pick<ReadRanges, "keys" | "set" | "version" | "idIs"> {
  readonly ranges: readonly LexRange[];
  readonly max: number;
}

export interface RangeScripts {
  ranges(call: ReadRanges): Promise<RangesReply | "stale">;
  /** All members in the ranges, as they are, all read in one step; `too_many`: more than `max`. */
  members(call: ReadMembers): Promise<readonly string[] | "too_many" | "stale">;
  /**
   * How many members have each value: what stands before their ids; `too_many`: more than `max`.
   */
  values(call: CountValues): Promise<readonly ValueCount[] | "too_many" | "stale">;
}

export function createRangeScripts(redisClient: RedisClient): RangeScripts {
  const readRanges = storeScript("lists/read-ranges-2", "read");
  const countValues = storeScript("lists/count-values-2", "read");
  const readMembers = storeScript("lists/read-members-n", "read");

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
    async members({ keys, sets, version = "*", max }) {
      const args = [version, max, ...sets.flatMap(({ ranges }) => [ranges.length, ...bounds(ranges)])];
      const names = [keys.indexSet, ...sets.map(({ set }) => set)];
      const reply = scriptReply(await redisClient.run(readMembers, names, args));
      if (reply.code === code.stale_index_set) return "stale";
      return reply.code === code.more ? "too_many" : reply.rest.flatMap(textsOf);
    },
    async values({ keys, set, version = "*", ranges, max }) {
      const args = [version, max, ...bounds(ranges)];
      const reply = scriptReply(await redisClient.run(countValues, [set, keys.indexSet], args));
      if (reply.code === code.stale_index_set) return "stale";
      if (reply.code === code.more) return "too_many";
      const { rest } = reply;
      return Array.from({ length: rest.length / 2 }, (_, at) => ({
        value: textOf(rest[2 * at]),
        count: numberOf(rest[2 * at + 1]),
      }));
    },
  };
}

/** A member of an index without its id. */
export function valueIn(member: string): string {
  return member.slice(0, member.lastIndexOf(separator));
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

/** Stands behind the separator and all that follows it. */
const behind = "\u0001";

export interface PageStart {
  /** Whose entries of an index by owner; undefined in the index of everybody's. */
  readonly owner: Owner | undefined;
  readonly descending: boolean;
  readonly after: Position | undefined;
}

const all: LexRange = { from: "-", to: "+" };

export function isAll(range: LexRange): boolean {
  return hasSameBounds([range], [all]);
}

export function hasSameBounds(some: readonly LexRange[], others: readonly LexRange[]): boolean {
  return bounds(some).join(separator) === bounds(others).join(separator);
}

/** The same page by its range. */
export function rangesOfPage({ begin, ...page }: ReadPage): ReadRanges {
  const range = begin === undefined ? all : { from: `[${begin}`, to: `(${behindAll(begin)}` };
  return { ...page, counted: [range], shown: [range] };
}

/** The parts of an index that hold these values, all of them ascending. */
export function lexRanges(ranges: readonly ValueRange[], owner: Owner | undefined): readonly LexRange[] {
  if (ranges === allValues && owner === undefined) return [all];
  const begin = beginOf(owner);
  return ranges.map(({ from, to }) => ({ from: `[${begin}${from}`, to: `(${begin}${to}` }));
}

/** What is left of them behind the start, in the direction of the list. */
export function rangesAfter(ranges: readonly ValueRange[], start: PageStart): readonly LexRange[] {
  const { owner, descending, after } = start;
  const ordered = descending ? ranges.toReversed() : ranges;
  if (after === undefined) return lexRanges(ordered, owner);
  const member = after.value + separator + after.id;
  const begin = beginOf(owner);
  return ordered.flatMap(({ from, to }) => {
    const isBehindStart = compareEncoded(member, from) >= 0;
    const isBehindEnd = compareEncoded(member, to) >= 0;
    const entire = { from: `[${begin}${from}`, to: `(${begin}${to}` };
    if (isBehindStart && !isBehindEnd) {
      return [descending ? { ...entire, to: `(${begin}${member}` } : { ...entire, from: `(${begin}${member}` }];
    }
    return isBehindEnd === descending ? [entire] : [];
  });
}

/** For a sorted set whose members start with their ids. */
export function idLexRange(ids: IdRange | undefined): LexRange {
  if (ids === undefined) return all;
  return { from: `[${ids.from}`, to: `(${ids.to}` };
}

/** What is left of them behind the start. */
export function idsAfter({ descending, after }: PageStart, ids: IdRange | undefined): LexRange {
  const entire = idLexRange(ids);
  if (after === undefined) return entire;
  // A cursor that lies outside of the range leaves all of it, or nothing.
  if (descending) return ids !== undefined && after.id >= ids.to ? entire : { ...entire, to: `(${after.id}` };
  return ids !== undefined && after.id < ids.from ? entire : { ...entire, from: `[${after.id}${behind}` };
}

/** Where a page ended whose last member this is. */
export function positionOf(member: string, owner: Owner | undefined): Position {
  const unowned = owner === undefined ? member : member.slice(owner.length + separator.length);
  const end = unowned.lastIndexOf(separator);
  return { value: unowned.slice(0, end), id: unowned.slice(end + separator.length) };
}

function beginOf(owner: Owner | undefined): string {
  return owner === undefined ? "" : owner + separator;
}
