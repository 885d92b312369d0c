// Two lanes of waiting keys: keys of objects that just changed go before keys that are only checked again (first lists, resyncs). The
// bulk lane is never starved: while both have keys, every eighth key is from it.

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
  const live = createFifoSet();
  const bulk = createFifoSet();
  const sets: Readonly<Record<Lane, FifoSet>> = { live, bulk };
  let sinceBulk = 0;

  const nextLane = (): Lane => {
    if (live.keys.size === 0) return "bulk";
    return bulk.keys.size > 0 && sinceBulk >= bulkEvery - 1 ? "bulk" : "live";
  };

  return {
    put(key, lane) {
      if (lane === "live") bulk.remove(key);
      else if (live.keys.has(key)) return;
      sets[lane].add(key);
    },
    next() {
      const lane = nextLane();
      const key = sets[lane].shift();
      if (key === undefined) return undefined;
      sinceBulk = lane === "bulk" ? 0 : sinceBulk + 1;
      return { key, lane };
    },
    size: (lane) => sets[lane].keys.size,
    clear() {
      live.clear();
      bulk.clear();
    },
  };
}

interface FifoSet {
  readonly keys: ReadonlySet<string>;
  add(key: string): void;
  shift(): string | undefined;
  remove(key: string): void;
  clear(): void;
}

/**
 * First in, first out, as a Set keeps its order. One iterator serves all calls, and covers keys that are added later: a new iterator for
 * each key would pass over everything that was deleted since the Set's table was last made smaller.
 */
function createFifoSet(): FifoSet {
  const keys = new Set<string>();
  let iterator = keys.values();
  /** An iterator that is not advanced keeps every former table of the Set in memory. */
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
      // An iterator that has come to the end stays there.
      if (done) {
        iterator = keys.values();
        ({ value } = iterator.next());
      }
      if (value !== undefined) keys.delete(value);
      return value;
    },
  };
}
