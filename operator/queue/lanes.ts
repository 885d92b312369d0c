// Waiting keys in two lanes: keys of objects that just changed go before keys that are only checked
// again (first lists, resyncs). The bulk lane always moves: while both have keys, every eighth one
// is from it. In each lane namespaces take turns.

import { projectOfKey } from "../../core/config/config-keys.ts";
import { FairQueue, type MayHave } from "../../core/fair-queue.ts";
import type { Monotonic } from "../../core/timers.ts";

export type Lane = "live" | "bulk";

/** `report` = the key was served, and its statuses don't say so yet. */
export type Stage = "serve" | "report";

export function betterLane(one: Lane | undefined, other: Lane): Lane {
  return one === "live" ? "live" : other;
}

const bulkEvery = 8;
const createQueues = () => ({ live: new FairQueue<string>(), bulk: new FairQueue<string>(), sinceBulk: 0 });

export class Lanes {
  readonly #queues = { serve: createQueues(), report: createQueues() };
  readonly #waitingSince = new Map<string, number>();
  readonly #monotonic: Monotonic;

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic;
  }

  /** A key waits for one of both stages, in the better lane of those that it was put into. */
  put(key: string, wanted: Lane, stage: Stage): void {
    const reported = stage === "serve" ? this.#laneOf(key, "report") : undefined;
    if (reported !== undefined) this.#queues.report[reported].remove(key);
    if (reported !== undefined || !this.#waitingSince.has(key)) this.#waitingSince.set(key, this.#monotonic());
    const { live, bulk } = this.#queues[stage];
    const lane = betterLane(reported ?? this.#laneOf(key, stage), wanted);
    if (lane === "live") bulk.remove(key);
    (lane === "live" ? live : bulk).add(key, projectOfKey(key).namespace);
  }

  has(key: string, stage: Stage): boolean {
    return this.#laneOf(key, stage) !== undefined;
  }

  /** The next key of a namespace that may have a turn; it waits no longer. */
  next(stage: Stage, mayHave?: MayHave) {
    const queues = this.#queues[stage];
    const isBulkDue = queues.live.size === 0 || (queues.bulk.size > 0 && queues.sinceBulk >= bulkEvery - 1);
    for (const lane of isBulkDue ? (["bulk", "live"] as const) : (["live", "bulk"] as const)) {
      const key = queues[lane].shift(mayHave);
      if (key === undefined) continue;
      queues.sinceBulk = lane === "bulk" ? 0 : queues.sinceBulk + 1;
      const now = this.#monotonic();
      const waitedMs = now - (this.#waitingSince.get(key) ?? now);
      this.#waitingSince.delete(key);
      return { key, lane, waitedMs };
    }
    return undefined;
  }

  size(stage: Stage, lane: Lane): number {
    return this.#queues[stage][lane].size;
  }

  clear(): void {
    for (const { live, bulk } of Object.values(this.#queues)) for (const queue of [live, bulk]) queue.clear();
    this.#waitingSince.clear();
  }

  #laneOf(key: string, stage: Stage): Lane | undefined {
    const { live, bulk } = this.#queues[stage];
    if (live.has(key)) return "live";
    return bulk.has(key) ? "bulk" : undefined;
  }
}
