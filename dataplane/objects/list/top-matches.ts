// Keeps, of the objects that match a query, those that its page may still show, in the query's order; says when that would be more
// than memory has room for.

import { compareEncoded } from "../../store/order.ts";
import type { Cursor } from "./cursor.ts";
import type { Order } from "./sort.ts";

/** Characters of matches that a scan keeps in memory, of those that the page may still show. Two of 64 MiB ended a replica. */
const keptLength = 16 * 1024 * 1024;

/** An object, and where it stands in the order. */
export interface Match extends Cursor {
  readonly text: string;
}

export interface Matches {
  /** False when more would have to be kept than the limit allows. */
  add(match: Match): boolean;
  /** Whether there are as many as are wanted. */
  isFull(): boolean;
  /** How many there were, and the first of them that are to be shown. */
  all(): { readonly count: number; readonly found: readonly Match[] };
}

export interface Wanted {
  readonly after: Cursor | undefined;
  readonly most: number;
}

export function createMatches(order: Order, { after, most }: Wanted): Matches {
  const compare = comparison(order);
  let kept: Match[] = [];
  let count = 0;
  let length = 0;
  const prune = (): void => {
    kept = kept.sort(compare).slice(0, most);
    length = kept.reduce((sum, match) => sum + lengthOf(match), 0);
  };
  return {
    add(match) {
      count += 1;
      if (after !== undefined && compare(match, after) <= 0) return true;
      kept.push(match);
      length += lengthOf(match);
      if (length <= 2 * keptLength) return true;
      prune();
      return length <= keptLength;
    },
    isFull: () => kept.length >= most,
    all() {
      prune();
      return { count, found: kept };
    },
  };
}

function lengthOf({ values, text }: Match): number {
  return values.reduce((sum, value) => sum + value.length, text.length);
}

function comparison({ keys, descending }: Order): (one: Cursor, other: Cursor) => number {
  const signs = keys.map((key) => (key.descending ? -1 : 1));
  const ofCreation = descending ? -1 : 1;
  return (one, other) => {
    for (const [at, sign] of signs.entries()) {
      const order = compareEncoded(one.values[at] ?? "", other.values[at] ?? "");
      if (order !== 0) return sign * order;
    }
    if (one.id === other.id) return 0;
    return one.id < other.id ? -ofCreation : ofCreation;
  };
}
