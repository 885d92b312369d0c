// Turns ranges of values, and the position that a page begins behind, into bounds of a sorted set's members. Pure.

import { compareEncoded } from "../order.ts";
import type { IdRange, Position } from "../ports/lists.ts";
import type { Owner } from "../ports/refs.ts";
import type { ValueRange } from "../ranges.ts";
import { separator } from "./keys.ts";
import type { LexRange } from "./range-scripts.ts";

/** Stands behind the separator and all that follows it. */
const behind = "\u0001";

export interface PageStart {
  /** Whose part of an index that is kept by owner; undefined in one of everybody's. */
  readonly owner: Owner | undefined;
  readonly descending: boolean;
  readonly after: Position | undefined;
}

/** The parts of an index that hold these values, all of them ascending. */
export function wholeRanges(ranges: readonly ValueRange[], owner: Owner | undefined): readonly LexRange[] {
  const begin = beginOf(owner);
  return ranges.map(({ from, to }) => ({ from: `[${begin}${from}`, to: `(${begin}${to}` }));
}

/** What is left of them behind the start, in the direction of the list. */
export function rangesAfter(ranges: readonly ValueRange[], start: PageStart): readonly LexRange[] {
  const { owner, descending, after } = start;
  const ordered = descending ? ranges.toReversed() : ranges;
  if (after === undefined) return wholeRanges(ordered, owner);
  const member = after.value + separator + after.id;
  const begin = beginOf(owner);
  return ordered.flatMap(({ from, to }) => {
    const isBehindStart = compareEncoded(member, from) >= 0;
    const isBehindEnd = compareEncoded(member, to) >= 0;
    const whole = { from: `[${begin}${from}`, to: `(${begin}${to}` };
    if (isBehindStart && !isBehindEnd) {
      return [descending ? { ...whole, to: `(${begin}${member}` } : { ...whole, from: `(${begin}${member}` }];
    }
    return isBehindEnd === descending ? [whole] : [];
  });
}

/** For a sorted set whose members start with their ids. */
export function wholeIds(ids: IdRange | undefined): LexRange {
  if (ids === undefined) return { from: "-", to: "+" };
  return { from: `[${ids.from}`, to: `(${ids.to}` };
}

/** What is left of them behind the start. */
export function idsAfter({ descending, after }: PageStart, ids: IdRange | undefined): LexRange {
  const whole = wholeIds(ids);
  if (after === undefined) return whole;
  // A cursor that lies outside of the range leaves all of it, or nothing.
  if (descending) return ids !== undefined && after.id >= ids.to ? whole : { ...whole, to: `(${after.id}` };
  return ids !== undefined && after.id < ids.from ? whole : { ...whole, from: `[${after.id}${behind}` };
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
