// Half-open intervals of encoded values (order.ts), as a filter on an indexed field reads them, and
// sets of them: union, intersection, complement.
//
// An index orders its entries, `<encoding>\0<id>`, by bytes. No bound ends in NUL, so a range
// contains an entry exactly when it contains the entry's encoding alone.

import { compareEncoded } from "./order.ts";

export interface ValueRange {
  /** Included. */
  readonly from: string;
  /** Excluded. */
  readonly to: string;
}

/**
 * Appended to an encoding, sorts after all entries that have it, and before every longer encoding.
 */
const afterEntries = "\u0001";
/** No encoding is less: each starts with a rank from 0 to 6. */
const lowerBound = "0";
/** Greater than every encoding. */
const upperBound = "7";

export const allValues: readonly ValueRange[] = [{ from: lowerBound, to: upperBound }];
/** A missing field is encoded as null. */
export const missingOrNull: readonly ValueRange[] = [{ from: lowerBound, to: "1" }];
export const notNull: readonly ValueRange[] = [{ from: "1", to: upperBound }];

export function equalTo(encoded: string): ValueRange {
  return { from: encoded, to: encoded + afterEntries };
}

interface RangesOrValue {
  readonly ranges?: readonly ValueRange[];
  readonly equals?: string;
}

/** What a query of an index reads: its ranges, its one value, or all values. */
export function rangesOf({ ranges, equals }: RangesOrValue): readonly ValueRange[] {
  return ranges ?? (equals === undefined ? allValues : [equalTo(equals)]);
}

/** Values of the same JSON type that are greater than `encoded`, or equal to it. */
export function greaterThan(encoded: string, orEqual: boolean): ValueRange {
  return { from: orEqual ? encoded : encoded + afterEntries, to: rangeOfType(encoded).to };
}

export function lessThan(encoded: string, orEqual: boolean): ValueRange {
  return { from: rangeOfType(encoded).from, to: orEqual ? encoded + afterEntries : encoded };
}

/** Values whose encoding starts with this one. */
export function startingWith(encoded: string): ValueRange {
  return { from: encoded, to: successorOfPrefix(encoded) };
}

/** All encodings of this one's JSON type: boolean is one type of two ranks. */
function rangeOfType(encoded: string): ValueRange {
  const rank = encoded.charCodeAt(0) - 48;
  if (rank === 1 || rank === 2) return { from: "1", to: "3" };
  return { from: String(rank), to: String(rank + 1) };
}

/** The least text that is greater than all that start with this prefix. */
function successorOfPrefix(prefix: string): string {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const next = nextCodePoint(last.codePointAt(0) ?? 0);
    if (next !== undefined) return points.join("") + next;
  }
  return upperBound;
}

/** Leaves out surrogates, which are not code points of a text. */
function nextCodePoint(point: number): string | undefined {
  if (point === 0x10ffff) return undefined;
  return String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
}

/** Normalised: ascending, disjoint, none of them empty. The other operations expect that. */
export function union(ranges: readonly ValueRange[]): readonly ValueRange[] {
  const sorted = ranges
    .filter(({ from, to }) => compareEncoded(from, to) < 0)
    .toSorted((one, other) => compareEncoded(one.from, other.from));
  const merged: ValueRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || compareEncoded(range.from, last.to) > 0) merged.push(range);
    else merged[merged.length - 1] = { from: last.from, to: max(last.to, range.to) };
  }
  return merged;
}

export function intersection(one: readonly ValueRange[], other: readonly ValueRange[]): readonly ValueRange[] {
  const parts = one.flatMap((left) =>
    other.map((right) => ({ from: max(left.from, right.from), to: min(left.to, right.to) })),
  );
  return union(parts);
}

export function complement(ranges: readonly ValueRange[]): readonly ValueRange[] {
  const bounds = [lowerBound, ...ranges.flatMap(({ from, to }) => [from, to]), upperBound];
  const gaps: ValueRange[] = [];
  for (let at = 0; at < bounds.length; at += 2) gaps.push({ from: bounds[at] ?? "", to: bounds[at + 1] ?? "" });
  return union(gaps);
}

/** By binary search. */
export function contains(ranges: readonly ValueRange[], encoded: string): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareEncoded(ranges[middle]?.from ?? "", encoded) <= 0) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low - 1];
  return range !== undefined && compareEncoded(encoded, range.to) < 0;
}

function max(one: string, other: string): string {
  return compareEncoded(one, other) < 0 ? other : one;
}

function min(one: string, other: string): string {
  return compareEncoded(one, other) < 0 ? one : other;
}
