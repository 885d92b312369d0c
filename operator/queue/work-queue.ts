// Keys that wait for a worker. Two workers never have the same key: a key that is added while a worker has it waits again, once, when
// the worker is done with it. A key whose work failed comes back after a backoff that doubles each time.

import type { Monotonic, Timers } from "../../core/timers.ts";
import { createBackoffs } from "./backoffs.ts";
import { createLanes, type Lane } from "./lanes.ts";

export type QueueObservation =
  /** Not for a key that waits already. */
  | { readonly kind: "added" }
  | { readonly kind: "taken"; readonly waitedSeconds: number }
  | { readonly kind: "done"; readonly workedSeconds: number }
  | { readonly kind: "retried" };

export interface QueueFigures {
  /** Keys that wait for a worker, by lane. */
  readonly live: number;
  readonly bulk: number;
  /** Keys that are due later. */
  readonly delayed: number;
  /** For each key that is worked on, since when. */
  readonly workingSeconds: readonly number[];
}

export interface WorkQueue {
  add(key: string, lane?: Lane): void;
  /** Adds the key after that time; the earliest of several moments counts. */
  addAfter(key: string, milliseconds: number, lane?: Lane): void;
  /** Adds the key after its backoff, which doubles each time until `forget`. Called by the key's worker, before `done`. */
  retry(key: string): void;
  /** Retries the keys of the live lane without waiting for their backoff, because what made them fail is over. */
  retryNow(): void;
  /** The key's next backoff is the shortest again. */
  forget(key: string): void;
  /** The next key, as soon as there is one; no other taker gets it until `done`. Undefined once the queue is stopped. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /** No key is handed out any more, and those that wait are dropped. Resolves when all that were taken are done. */
  stop(): Promise<void>;
  figures(): QueueFigures;
}

export interface WorkQueueOptions {
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly observe?: (observation: QueueObservation) => void;
}

interface Work {
  readonly since: number;
  readonly lane: Lane;
  /** The lane into which the key was added while it is worked on: it is put there when the work is done. */
  dirty: Lane | undefined;
}

export function createWorkQueue({ timers, monotonic, random, observe }: WorkQueueOptions): WorkQueue {
  const lanes = createLanes();
  const waitingSince = new Map<string, number>();
  const working = new Map<string, Work>();
  const takers: ((key: string | undefined) => void)[] = [];
  const backoffs = createBackoffs({ monotonic, random });
  const delays = createDelays({ timers, monotonic, due: (key, lane) => add(key, lane) });
  const drained = Promise.withResolvers<void>();
  let stopped = false;

  const put = (key: string, lane: Lane): void => {
    if (!waitingSince.has(key)) waitingSince.set(key, monotonic());
    lanes.put(key, lane);
  };

  /** Hands out a key, if there is one. */
  const next = (): string | undefined => {
    const first = lanes.next();
    if (first === undefined) return undefined;
    const { key, lane } = first;
    const now = monotonic();
    const waitedSeconds = (now - (waitingSince.get(key) ?? now)) / 1000;
    waitingSince.delete(key);
    working.set(key, { since: now, lane, dirty: undefined });
    observe?.({ kind: "taken", waitedSeconds });
    return key;
  };

  const dispatch = (): void => {
    while (takers.length > 0) {
      const key = next();
      if (key === undefined) return;
      takers.shift()?.(key);
    }
  };

  const add = (key: string, lane: Lane = "live"): void => {
    if (stopped) return;
    const work = working.get(key);
    const known = work === undefined ? waitingSince.has(key) : work.dirty !== undefined;
    if (!known) observe?.({ kind: "added" });
    if (work === undefined) put(key, lane);
    else work.dirty = work.dirty === "live" ? "live" : lane;
    dispatch();
  };

  return {
    add,
    addAfter(key, milliseconds, lane = "live") {
      if (stopped) return;
      if (milliseconds <= 0) add(key, lane);
      else delays.put(key, milliseconds, lane);
    },
    retry(key) {
      if (stopped) return;
      observe?.({ kind: "retried" });
      const lane = working.get(key)?.lane ?? "bulk";
      delays.put(key, backoffs.next(key, lane), lane);
    },
    retryNow() {
      for (const key of backoffs.failed("live")) if (delays.has(key)) delays.put(key, 0, "live");
    },
    forget: backoffs.forget,
    take() {
      if (stopped) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        takers.push(resolve);
        dispatch();
      });
    },
    done(key) {
      const work = working.get(key);
      if (work === undefined) return;
      working.delete(key);
      observe?.({ kind: "done", workedSeconds: (monotonic() - work.since) / 1000 });
      if (stopped) {
        if (working.size === 0) drained.resolve();
      } else if (work.dirty !== undefined) {
        put(key, work.dirty);
        dispatch();
      }
    },
    stop() {
      stopped = true;
      delays.clear();
      lanes.clear();
      waitingSince.clear();
      for (const taker of takers.splice(0)) taker(undefined);
      if (working.size === 0) drained.resolve();
      return drained.promise;
    },
    figures: () => ({
      live: lanes.size("live"),
      bulk: lanes.size("bulk"),
      delayed: delays.size(),
      workingSeconds: [...working.values()].map(({ since }) => (monotonic() - since) / 1000),
    }),
  };
}

interface Delay {
  readonly at: number;
  lane: Lane;
  readonly stopTimer: () => void;
}

interface DelayOptions extends Pick<WorkQueueOptions, "timers" | "monotonic"> {
  readonly due: (key: string, lane: Lane) => void;
}

/** Keys that are due later, with a timer each: to set ten thousand of Node's takes 40 ms and 4 MB. */
function createDelays({ timers, monotonic, due }: DelayOptions) {
  const delays = new Map<string, Delay>();
  return {
    /** The earliest of several moments counts, and the better of several lanes. */
    put(key: string, milliseconds: number, wanted: Lane): void {
      const at = monotonic() + milliseconds;
      const before = delays.get(key);
      const lane = before?.lane === "live" ? "live" : wanted;
      if (before !== undefined && before.at <= at) {
        before.lane = lane;
        return;
      }
      before?.stopTimer();
      const delay: Delay = {
        at,
        lane,
        stopTimer: timers.after(milliseconds, () => {
          delays.delete(key);
          due(key, delay.lane);
        }),
      };
      delays.set(key, delay);
    },
    has: (key: string): boolean => delays.has(key),
    size: (): number => delays.size,
    clear(): void {
      for (const { stopTimer } of delays.values()) stopTimer();
      delays.clear();
    },
  };
}
