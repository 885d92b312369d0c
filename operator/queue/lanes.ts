// Two lines of keys that wait: what was just changed goes before what is only looked at again (first lists, resyncs).
// The second line is never starved: while both wait, every eighth key is one of its.

export type Lane = "live" | "bulk";

export interface Lanes {
  /** A key waits once, in the better lane of those that it was put into. */
  put(key: string, lane: Lane): void;
  /** The next key; it waits no longer. */
  next(): { readonly key: string; readonly lane: Lane } | undefined;
  size(lane: Lane): number;
  clear(): void;
}

const bulkEvery = 8;

export function createLanes(): Lanes {
  const live = createLine();
  const bulk = createLine();
  const lines: Readonly<Record<Lane, Line>> = { live, bulk };
  let sinceBulk = 0;

  const nextLane = (): Lane => {
    if (live.keys.size === 0) return "bulk";
    return bulk.keys.size > 0 && sinceBulk >= bulkEvery - 1 ? "bulk" : "live";
  };

  return {
    put(key, lane) {
      if (lane === "live") bulk.remove(key);
      else if (live.keys.has(key)) return;
      lines[lane].add(key);
    },
    next() {
      const lane = nextLane();
      const key = lines[lane].shift();
      if (key === undefined) return undefined;
      sinceBulk = lane === "bulk" ? 0 : sinceBulk + 1;
      return { key, lane };
    },
    size: (lane) => lines[lane].keys.size,
    clear() {
      live.clear();
      bulk.clear();
    },
  };
}

interface Line {
  readonly keys: ReadonlySet<string>;
  add(key: string): void;
  shift(): string | undefined;
  remove(key: string): void;
  clear(): void;
}

/**
 * First in, first out, as a Set keeps its order. One iterator goes on where it was, also over what is added later: a new one for each key would
 * pass over everything that was deleted since the Set's table was last made smaller.
 */
function createLine(): Line {
  const keys = new Set<string>();
  let iterator = keys.values();
  /** An iterator that is not asked for the next key keeps every former table of the Set in memory. */
  const forgetTables = (): void => {
    if (keys.size === 0) iterator = keys.values();
  };
  return {
    keys,
    add: (key) => void keys.add(key),
    remove(key) {
      if (keys.delete(key)) forgetTables();
    },
    clear() {
      keys.clear();
      forgetTables();
    },
    shift() {
      let { value, done } = iterator.next();
      // One that has come to the end stays there.
      if (done) {
        iterator = keys.values();
        ({ value } = iterator.next());
      }
      if (value !== undefined) keys.delete(value);
      return value;
    },
  };
}
