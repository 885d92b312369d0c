// Finds the n-th entry of an ordering, and how many entries lie below a value, without walking the entries in between: SQLite
// can only count them one by one, some 35 ms for half a million. In memory stands a checkpoint at every hundred entries or so with
// the number of entries up to the next one. Checkpoints of a list are made when a page of it is first read, kept true by every
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
export interface EntryPosition {
  readonly value: string;
  readonly id: string;
  readonly skip: number;
}

export interface RankCheckpoints {
  /** Where the entry at `position` stands, counted from 0 and ascending. */
  place(list: SizedList, position: number): EntryPosition;
  /** How many entries have a smaller value, or also the same one when `orEqual`. */
  below(list: SizedList, value: string, orEqual: boolean): number;
  added(list: List, value: string, id: string): void;
  removed(list: List, value: string, id: string): void;
  forget(): void;
}

/** Stands before the first entry that isn't below (value, id); an entry that is removed leaves its checkpoint where it was. */
interface Checkpoint {
  readonly value: string;
  readonly id: string;
  /** Entries up to the next checkpoint. */
  entries: number;
}

/** Lists with checkpoints; one of a million entries holds some 8,000, which is 1 MiB unless its values are long. */
const keptLists = 64;

export const usualSpacing = 128;

/** `spacing`: entries between two checkpoints, when they are made. */
export function createRankCheckpoints(database: DatabaseSync, spacing: number): RankCheckpoints {
  const statements = prepare(database);
  const known = new Map<string, Checkpoint[]>();

  function checkpointsOf(list: SizedList): readonly Checkpoint[] {
    const key = keyOf(list);
    const found = known.get(key);
    if (found === undefined && list.length <= 2 * spacing) return [{ value: "", id: "", entries: list.length }];
    const checkpoints = found ?? make(list);
    // The most recently used one stands last.
    known.delete(key);
    known.set(key, checkpoints);
    const [eldest] = known.keys();
    if (known.size > keptLists && eldest !== undefined) known.delete(eldest);
    return checkpoints;
  }

  function make(list: SizedList): Checkpoint[] {
    let last: Checkpoint = { value: "", id: "", entries: list.length };
    const checkpoints = [last];
    for (;;) {
      const next = keyAfter(list, last);
      if (next === undefined) return checkpoints;
      const checkpoint = { ...next, entries: last.entries - spacing };
      last.entries = spacing;
      checkpoints.push(checkpoint);
      last = checkpoint;
    }
  }

  /** The key of the entry that stands `spacing` entries after a checkpoint. */
  function keyAfter({ ordering, owner }: List, { value, id }: Checkpoint): { value: string; id: string } | undefined {
    const row = statements.step.get(ordering, owner, value, id, spacing);
    return row && { value: String(row.value), id: String(row.id) };
  }

  function change(list: List, value: string, id: string, by: 1 | -1): void {
    const checkpoints = known.get(keyOf(list));
    const at = checkpoints === undefined ? -1 : lastNotAfter(checkpoints, value, id);
    const checkpoint = checkpoints?.[at];
    if (checkpoints === undefined || checkpoint === undefined) return;
    checkpoint.entries += by;
    if (checkpoint.entries > 2 * spacing) split(list, checkpoints, at);
  }

  function split(list: List, checkpoints: Checkpoint[], at: number): void {
    const checkpoint = checkpoints[at];
    const next = checkpoint && keyAfter(list, checkpoint);
    if (checkpoint === undefined || next === undefined) return;
    checkpoints.splice(at + 1, 0, { ...next, entries: checkpoint.entries - spacing });
    checkpoint.entries = spacing;
  }

  return {
    place(list, position) {
      let skip = position;
      // The first pages need none, and are all that is read of most lists.
      if (position < spacing && !known.has(keyOf(list))) return { value: "", id: "", skip };
      for (const { value, id, entries } of checkpointsOf(list)) {
        if (skip < entries) return { value, id, skip };
        skip -= entries;
      }
      throw new RangeError("There is no entry at this position");
    },
    below(list, value, orEqual) {
      const checkpoints = checkpointsOf(list);
      const at = lastBefore(checkpoints, value, orEqual);
      const { ordering, owner } = list;
      const checkpoint = checkpoints[at];
      if (checkpoint === undefined) return 0;
      const statement = orEqual ? statements.notAbove : statements.below;
      const within = statement.get(ordering, owner, checkpoint.value, checkpoint.id, checkpoint.entries, value);
      return entriesBefore(checkpoints, at) + Number(within?.entries);
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

function entriesBefore(checkpoints: readonly Checkpoint[], at: number): number {
  let entries = 0;
  for (let before = 0; before < at; before += 1) entries += checkpoints[before]?.entries ?? 0;
  return entries;
}

/** The last checkpoint that isn't after (value, id): the one that an entry of this key is counted at. */
function lastNotAfter(checkpoints: readonly Checkpoint[], value: string, id: string): number {
  return lastThat(
    checkpoints,
    (checkpoint) => (compareEncoded(checkpoint.value, value) || compareEncoded(checkpoint.id, id)) <= 0,
  );
}

/** The last checkpoint that may have entries below the value (or of it) after it. */
function lastBefore(checkpoints: readonly Checkpoint[], value: string, orEqual: boolean): number {
  return lastThat(checkpoints, (checkpoint) => compareEncoded(checkpoint.value, value) < (orEqual ? 1 : 0));
}

/** The index of the last checkpoint for which `holds`, which it does for a beginning of them; -1 = for none. */
function lastThat(checkpoints: readonly Checkpoint[], holds: (checkpoint: Checkpoint) => boolean): number {
  let [low, high] = [0, checkpoints.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const checkpoint = checkpoints[middle];
    if (checkpoint !== undefined && holds(checkpoint)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function keyOf({ ordering, owner }: List): string {
  return `${ordering} ${owner}`;
}
