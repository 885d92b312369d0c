// Two lines of keys that wait: what somebody has just changed goes before what merely comes by again (first lists, resyncs).
// The second line is never starved: while both wait, every eighth key is one of its.

export type Lane = "live" | "bulk";

export interface Lanes {
  /** Marks the key. A key waits once, in the better lane of those that it was put into. */
  put(key: string, lane: Lane): void;
  /** The next key that may be taken; its mark is gone. */
  next(): { readonly key: string; readonly lane: Lane } | undefined;
  size(lane: Lane): number;
  clear(): void;
}

const bulkEvery = 8;

export function createLanes(): Lanes {
  const laneOf = new Map<string, Lane>();
  const lines: Readonly<Record<Lane, Line>> = { live: createLine(), bulk: createLine() };
  const sizes: Record<Lane, number> = { live: 0, bulk: 0 };
  let sinceBulk = 0;

  const moveTo = (key: string, lane: Lane): void => {
    laneOf.set(key, lane);
    sizes[lane] += 1;
    lines[lane].push(key);
  };

  /** A key that moved to the other lane leaves an entry behind; such entries are passed over. */
  const firstOf = (lane: Lane): string | undefined => {
    for (let key = lines[lane].shift(); key !== undefined; key = lines[lane].shift()) {
      if (laneOf.get(key) === lane) return key;
    }
    return undefined;
  };

  const lane = (): Lane => {
    if (sizes.live === 0) return "bulk";
    return sizes.bulk > 0 && sinceBulk >= bulkEvery - 1 ? "bulk" : "live";
  };

  return {
    put(key, wanted) {
      const now = laneOf.get(key);
      if (now === undefined) moveTo(key, wanted);
      else if (now === "bulk" && wanted === "live") {
        sizes.bulk -= 1;
        moveTo(key, "live");
      }
    },
    next() {
      const chosen = lane();
      const key = firstOf(chosen);
      if (key === undefined) return undefined;
      laneOf.delete(key);
      sizes[chosen] -= 1;
      sinceBulk = chosen === "bulk" ? 0 : sinceBulk + 1;
      return { key, lane: chosen };
    },
    size: (of) => sizes[of],
    clear() {
      laneOf.clear();
      for (const lane of ["live", "bulk"] as const) {
        sizes[lane] = 0;
        lines[lane].clear();
      }
    },
  };
}

interface Line {
  push(key: string): void;
  shift(): string | undefined;
  clear(): void;
}

/** First in, first out in constant time: `shift` of a long array moves all of it. */
function createLine(): Line {
  let keys: string[] = [];
  let head = 0;
  return {
    push: (key) => keys.push(key),
    shift() {
      const key = keys[head];
      if (key === undefined) return undefined;
      head += 1;
      if (head * 2 > keys.length) {
        keys = keys.slice(head);
        head = 0;
      }
      return key;
    },
    clear() {
      keys = [];
      head = 0;
    },
  };
}
