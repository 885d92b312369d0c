// Two lanes of waiting keys: keys of objects that just changed go before keys that are only checked again (first lists, resyncs). The
// bulk lane is never starved: while both have keys, every eighth key is from it. In each lane namespaces are served in rotation, so that one that changes
// thousands of objects keeps no other one waiting. Keys wait to be served, or to be reported when they were.

import { projectOfKey } from "../../core/config/config-keys.ts";
import { FairQueue, type MayHave } from "../../core/fair-queue.ts";
import type { Monotonic } from "../../core/timers.ts";

export type Lane = "live" | "bulk";

interface Lanes {
  /** A key waits once, in the better lane of those that it was put into. */
  put(key: string, lane: Lane): void;
  /** The next key of a namespace that may have a turn; it waits no longer. */
  next(mayHave?: MayHave): { readonly key: string; readonly lane: Lane } | undefined;
  has(key: string): boolean;
  /** The lane that the key waited in; undefined = it did not wait. */
  remove(key: string): Lane | undefined;
  size(lane: Lane): number;
  clear(): void;
}

const bulkEvery = 8;

export function betterLane(one: Lane | undefined, other: Lane): Lane {
  return one === "live" ? "live" : other;
}

function createLanes(): Lanes {
  const live = new FairQueue<string>();
  const bulk = new FairQueue<string>();
  const sets: Readonly<Record<Lane, FairQueue<string>>> = { live, bulk };
  let sinceBulk = 0;

  const nextLane = (): Lane => {
    if (live.size === 0) return "bulk";
    return bulk.size > 0 && sinceBulk >= bulkEvery - 1 ? "bulk" : "live";
  };

  return {
    put(key, lane) {
      if (lane === "live") bulk.remove(key);
      else if (live.has(key)) return;
      sets[lane].add(key, projectOfKey(key).namespace);
    },
    next(mayHave) {
      const first = nextLane();
      for (const lane of [first, first === "live" ? "bulk" : "live"] as const) {
        const key = sets[lane].shift(mayHave);
        if (key === undefined) continue;
        sinceBulk = lane === "bulk" ? 0 : sinceBulk + 1;
        return { key, lane };
      }
      return undefined;
    },
    has: (key) => live.has(key) || bulk.has(key),
    remove(key) {
      const lane = live.has(key) ? "live" : "bulk";
      return sets[lane].remove(key) ? lane : undefined;
    },
    size: (lane) => sets[lane].size,
    clear() {
      live.clear();
      bulk.clear();
    },
  };
}

/** `report` = the key was served, and its statuses don't say so yet. A key that is put in to be served is reported no more. */
export type Stage = "serve" | "report";

/** Keys that wait to be served, and keys that wait to be reported, each in two lanes. */
export interface StagedLanes {
  /** A key waits for one of both, in the better lane of those that it was put into. */
  put(key: string, lane: Lane, stage: Stage): void;
  has(key: string, stage: Stage): boolean;
  next(
    stage: Stage,
    mayHave?: MayHave,
  ): { readonly key: string; readonly lane: Lane; readonly waitedMs: number } | undefined;
  size(stage: Stage, lane: Lane): number;
  /** In both lanes. */
  waiting(stage: Stage): number;
  clear(): void;
}

export function createStagedLanes(monotonic: Monotonic): StagedLanes {
  const lanes: Readonly<Record<Stage, Lanes>> = { serve: createLanes(), report: createLanes() };
  const waitingSince = new Map<string, number>();
  return {
    put(key, wanted, stage) {
      const reported = stage === "serve" ? lanes.report.remove(key) : undefined;
      if (reported !== undefined || !waitingSince.has(key)) waitingSince.set(key, monotonic());
      lanes[stage].put(key, betterLane(reported, wanted));
    },
    has: (key, stage) => lanes[stage].has(key),
    next(stage, mayHave) {
      const first = lanes[stage].next(mayHave);
      if (first === undefined) return undefined;
      const now = monotonic();
      const waitedMs = now - (waitingSince.get(first.key) ?? now);
      waitingSince.delete(first.key);
      return { ...first, waitedMs };
    },
    size: (stage, lane) => lanes[stage].size(lane),
    waiting: (stage) => lanes[stage].size("live") + lanes[stage].size("bulk"),
    clear() {
      lanes.serve.clear();
      lanes.report.clear();
      waitingSince.clear();
    },
  };
}
