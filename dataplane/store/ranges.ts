// Ranges of encoded values (order.ts): what a filter on an indexed field reads. Pure; refuses nothing.
//
// An index orders `<encoding>\0<id>` by bytes. A range goes from its first text, included, to its last, excluded, and neither ends
// in NUL, so that it holds an entry exactly when it holds the entry's encoding alone.

import { compareEncoded } from "./order.ts";

export interface ValueRange {
  readonly from: string;
  readonly to: string;
}

/** What stands behind every text that an encoding can go on with. */
const behind = "\u0001";
/** Above all encodings, whose first character is a rank from 0 to 6. */
const top = "7";

export const everything: readonly ValueRange[] = [{ from: "0", to: top }];
/** Of missing fields and of null. */
export const absent: readonly ValueRange[] = [{ from: "0", to: "1" }];
export const present: readonly ValueRange[] = [{ from: "1", to: top }];

export function equalTo(encoded: string): ValueRange {
  return { from: encoded, to: encoded + behind };
}

interface RangesOrValue {
  readonly ranges?: readonly ValueRange[];
  readonly equals?: string;
}

/** What a query of an index reads: its ranges, its one value, or everything. */
export function rangesOf({ ranges, equals }: RangesOrValue): readonly ValueRange[] {
  return ranges ?? (equals === undefined ? everything : [equalTo(equals)]);
}

/** Values of the same JSON type that follow `encoded`, or also equal it. */
export function above(encoded: string, orEqual: boolean): ValueRange {
  return { from: orEqual ? encoded : encoded + behind, to: typeOf(encoded).to };
}

export function below(encoded: string, orEqual: boolean): ValueRange {
  return { from: typeOf(encoded).from, to: orEqual ? encoded + behind : encoded };
}

/** Strings whose encoding begins with this one. */
export function beginningWith(encoded: string): ValueRange {
  return { from: encoded, to: afterAll(encoded) };
}

/** All encodings of the JSON type that this one is of: false and true are one type of two ranks. */
function typeOf(encoded: string): ValueRange {
  const rank = encoded.charCodeAt(0) - 48;
  if (rank === 1 || rank === 2) return { from: "1", to: "3" };
  return { from: String(rank), to: String(rank + 1) };
}

/** The first text after all that begin with this one. */
function afterAll(text: string): string {
  const points = [...text];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const next = nextPoint(last.codePointAt(0) ?? 0);
    if (next !== undefined) return points.join("") + next;
  }
  return top;
}

/** Surrogates are no code points of a text. */
function nextPoint(point: number): string | undefined {
  if (point === 0x10ffff) return undefined;
  return String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
}

/** Ascending, disjoint, none of them empty. */
export function united(ranges: readonly ValueRange[]): readonly ValueRange[] {
  const sorted = ranges
    .filter(({ from, to }) => compareEncoded(from, to) < 0)
    .toSorted((one, other) => compareEncoded(one.from, other.from));
  const joined: ValueRange[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    if (last === undefined || compareEncoded(range.from, last.to) > 0) joined.push(range);
    else joined[joined.length - 1] = { from: last.from, to: greater(last.to, range.to) };
  }
  return joined;
}

/** What both hold; both united. */
export function common(one: readonly ValueRange[], other: readonly ValueRange[]): readonly ValueRange[] {
  const parts = one.flatMap((left) =>
    other.map((right) => ({ from: greater(left.from, right.from), to: lesser(left.to, right.to) })),
  );
  return united(parts);
}

/** What the ranges, united, leave out. */
export function outside(ranges: readonly ValueRange[]): readonly ValueRange[] {
  const bounds = ["0", ...ranges.flatMap(({ from, to }) => [from, to]), top];
  const gaps: ValueRange[] = [];
  for (let at = 0; at < bounds.length; at += 2) gaps.push({ from: bounds[at] ?? "", to: bounds[at + 1] ?? "" });
  return united(gaps);
}

/** Of ranges that are united. */
export function holds(ranges: readonly ValueRange[], encoded: string): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareEncoded(ranges[middle]?.from ?? "", encoded) <= 0) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low - 1];
  return range !== undefined && compareEncoded(encoded, range.to) < 0;
}

function greater(one: string, other: string): string {
  return compareEncoded(one, other) < 0 ? other : one;
}

function lesser(one: string, other: string): string {
  return compareEncoded(one, other) < 0 ? one : other;
}
