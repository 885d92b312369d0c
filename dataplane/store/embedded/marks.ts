// Finds the n-th entry of an ordering, and how many entries lie below a value, without walking the entries in between: SQLite
// can only count them one by one, some 35 ms for half a million. In memory stands a mark at every hundred entries or so with
// the number of entries up to the next one. Marks of a list are made when a page of it is first read, kept true by every
// write, and forgotten when a transaction is undone. A short list has none.

import type { DatabaseSync } from "node:sqlite";
import { compareEncoded } from "../order.ts";

/** The entries of one owner in one ordering. */
export interface List {
  readonly ordering: number;
  readonly owner: number;
}

export interface SizedList extends List {
  readonly length: number;
}

/** `skip` entries after the first one that isn't below (value, id). */
export interface Place {
  readonly value: string;
  readonly id: string;
  readonly skip: number;
}

export interface Marks {
  /** Where the entry at `position` stands, counted from 0 and ascending. */
  place(list: SizedList, position: number): Place;
  /** How many entries have a smaller value, or also the same one when `orEqual`. */
  below(list: SizedList, value: string, orEqual: boolean): number;
  added(list: List, value: string, id: string): void;
  removed(list: List, value: string, id: string): void;
  forget(): void;
}

/** Stands before the first entry that isn't below (value, id); an entry that is removed leaves its mark where it was. */
interface Mark {
  readonly value: string;
  readonly id: string;
  /** Entries up to the next mark. */
  entries: number;
}

/** Lists with marks; one of a million entries holds some 8,000, which is 1 MiB unless its values are long. */
const keptLists = 64;

export const usualSpacing = 128;

/** `spacing`: entries between two marks, when they are made. */
export function createMarks(database: DatabaseSync, spacing: number): Marks {
  const statements = prepare(database);
  const known = new Map<string, Mark[]>();

  function marksOf(list: SizedList): readonly Mark[] {
    const key = keyOf(list);
    const found = known.get(key);
    if (found === undefined && list.length <= 2 * spacing) return [{ value: "", id: "", entries: list.length }];
    const marks = found ?? make(list);
    // The most recently used one stands last.
    known.delete(key);
    known.set(key, marks);
    const [eldest] = known.keys();
    if (known.size > keptLists && eldest !== undefined) known.delete(eldest);
    return marks;
  }

  function make(list: SizedList): Mark[] {
    let last: Mark = { value: "", id: "", entries: list.length };
    const marks = [last];
    for (;;) {
      const next = keyAfter(list, last);
      if (next === undefined) return marks;
      const mark = { ...next, entries: last.entries - spacing };
      last.entries = spacing;
      marks.push(mark);
      last = mark;
    }
  }

  /** The key of the entry that stands `spacing` entries after a mark. */
  function keyAfter({ ordering, owner }: List, { value, id }: Mark): { value: string; id: string } | undefined {
    const row = statements.step.get(ordering, owner, value, id, spacing);
    return row && { value: String(row.value), id: String(row.id) };
  }

  function change(list: List, value: string, id: string, by: 1 | -1): void {
    const marks = known.get(keyOf(list));
    const at = marks === undefined ? -1 : lastNotAfter(marks, value, id);
    const mark = marks?.[at];
    if (marks === undefined || mark === undefined) return;
    mark.entries += by;
    if (mark.entries > 2 * spacing) split(list, marks, at);
  }

  function split(list: List, marks: Mark[], at: number): void {
    const mark = marks[at];
    const next = mark && keyAfter(list, mark);
    if (mark === undefined || next === undefined) return;
    marks.splice(at + 1, 0, { ...next, entries: mark.entries - spacing });
    mark.entries = spacing;
  }

  return {
    place(list, position) {
      let skip = position;
      // The first pages need none, and are all that is read of most lists.
      if (position < spacing && !known.has(keyOf(list))) return { value: "", id: "", skip };
      for (const { value, id, entries } of marksOf(list)) {
        if (skip < entries) return { value, id, skip };
        skip -= entries;
      }
      throw new RangeError("There is no entry at this position");
    },
    below(list, value, orEqual) {
      const marks = marksOf(list);
      const at = lastBefore(marks, value, orEqual);
      const { ordering, owner } = list;
      const mark = marks[at];
      if (mark === undefined) return 0;
      const statement = orEqual ? statements.notAbove : statements.below;
      const within = statement.get(ordering, owner, mark.value, mark.id, mark.entries, value);
      return entriesBefore(marks, at) + Number(within?.entries);
    },
    added: (list, value, id) => change(list, value, id, 1),
    removed: (list, value, id) => change(list, value, id, -1),
    forget: () => known.clear(),
  };
}

function prepare(database: DatabaseSync) {
  const from = "FROM entries WHERE ordering = ? AND owner = ? AND (value, id) >= (?, ?) ORDER BY value, id";
  // The inner limit bounds the walk; a comparison alone could go on to the end of the list.
  const counted = (comparison: string) =>
    database.prepare(`SELECT COUNT(*) AS entries FROM (SELECT value ${from} LIMIT ?) WHERE value ${comparison} ?`);
  return {
    step: database.prepare(`SELECT value, id ${from} LIMIT 1 OFFSET ?`),
    below: counted("<"),
    notAbove: counted("<="),
  };
}

function entriesBefore(marks: readonly Mark[], at: number): number {
  let entries = 0;
  for (let before = 0; before < at; before += 1) entries += marks[before]?.entries ?? 0;
  return entries;
}

/** The last mark that isn't after (value, id): the one that an entry of this key is counted at. */
function lastNotAfter(marks: readonly Mark[], value: string, id: string): number {
  return lastThat(marks, (mark) => (compareEncoded(mark.value, value) || compareEncoded(mark.id, id)) <= 0);
}

/** The last mark that may have entries below the value (or of it) after it. */
function lastBefore(marks: readonly Mark[], value: string, orEqual: boolean): number {
  return lastThat(marks, (mark) => compareEncoded(mark.value, value) < (orEqual ? 1 : 0));
}

/** The index of the last mark for which `holds`, which it does for a beginning of them; -1 = for none. */
function lastThat(marks: readonly Mark[], holds: (mark: Mark) => boolean): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const mark = marks[middle];
    if (mark !== undefined && holds(mark)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function keyOf({ ordering, owner }: List): string {
  return `${ordering} ${owner}`;
}
