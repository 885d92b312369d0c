// Keys that wait for a worker, to be served or, where that is done, to be reported in statuses. Two
// workers never have the same key: a key that is added while a worker has it waits again, once,
// when the worker is done with it. A key whose work failed comes back after a backoff that doubles
// each time.

import { Backoff } from "../../core/backoff.ts";
import { projectOfKey } from "../../core/config/config-keys.ts";
import type { MayHave } from "../../core/fair-queue.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import { TokenBucket } from "../../core/token-bucket.ts";
import { betterLane, type Lane, Lanes, type Stage } from "./lanes.ts";

export type QueueObservation = { readonly stage: Stage } & (
  | /** Not for a key that waits already. */ { readonly kind: "added" }
  | { readonly kind: "taken"; readonly waitedSeconds: number }
  | { readonly kind: "done"; readonly workedSeconds: number }
  | { readonly kind: "retried" }
);

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
  /**
   * The key was served: it waits to be reported, in the lane that it was taken from. Called by the
   * key's worker, before `done`.
   */
  report(key: string): void;
  /**
   * Whether the key was added to the live lane since its worker took it, so that it is served again
   * next. Called by that worker.
   */
  isChanged(key: string): boolean;
  /**
   * Adds the key after its backoff, which doubles each time until `forget`. Called by the key's
   * worker, before `done`.
   */
  retry(key: string): void;
  /**
   * Retries the keys of the live lane without waiting for their backoff, because what made them
   * fail is over.
   */
  retryNow(): void;
  /** The key's next backoff is the shortest again. */
  forget(key: string): void;
  /**
   * The next key, as soon as there is one; no other taker gets it until `done`. Undefined once the
   * queue is stopped. A key is served only while fewer of its namespace are than there are takers
   * left: whatever takes long in one, others find a taker. While keys are served, or wait for that,
   * only one is reported at a time.
   */
  take(stage?: Stage): Promise<string | undefined>;
  done(key: string): void;
  /**
   * No key is handed out any more, and those that wait are dropped. Resolves when all that were
   * taken are done.
   */
  stop(): Promise<void>;
  /** Default: of both stages together. What is due later is to be served. */
  figures(stage?: Stage): QueueFigures;
}

export interface WorkQueueOptions {
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly observe?: (observation: QueueObservation) => void;
}

interface Work {
  readonly stage: Stage;
  readonly since: number;
  readonly lane: Lane;
  /**
   * The lane into which the key was added while it is worked on: it is put there when the work is
   * done.
   */
  dirty: Lane | undefined;
  /** It is to be reported when the work is done, unless it was added meanwhile. */
  reports: boolean;
}

const bothStages = ["serve", "report"] as const;
/**
 * Keys that are reported at a time while others are served: some, or statuses of a cluster in which
 * something always changes would never come.
 */
const reportedWhileServing = 1;
/** One that takes longer, such as a Project with thousands of objects, keeps no others waiting. */
const longReportMs = 2_000;

export function createWorkQueue({ timers, monotonic, random, observe }: WorkQueueOptions): WorkQueue {
  const lanes = new Lanes(monotonic);
  const takers: Readonly<Record<Stage, Taker[]>> = { serve: [], report: [] };
  const working = new Map<string, Work>();
  const backoffs = createBackoffs(monotonic, random);
  const delays = createDelays(timers, monotonic, (key, lane) => add(key, lane));
  const drained = Promise.withResolvers<void>();
  let stopped = false;

  /** Hands out a key, if there is one. */
  const next = (stage: Stage): string | undefined => {
    const now = monotonic();
    if (stage === "report" && !mayReport(working.values(), lanes, now)) return undefined;
    const first = lanes.next(stage, stage === "serve" ? hasShare(working, takers.serve.length) : undefined);
    if (first === undefined) return undefined;
    const { key, lane, waitedMs } = first;
    working.set(key, { stage, since: now, lane, dirty: undefined, reports: false });
    observe?.({ kind: "taken", stage, waitedSeconds: waitedMs / 1000 });
    return key;
  };

  const dispatch = (): void => {
    for (const stage of bothStages) {
      while (takers[stage].length > 0) {
        const key = next(stage);
        if (key === undefined) break;
        takers[stage].shift()?.(key);
      }
    }
  };

  const add = (key: string, lane: Lane = "live"): void => {
    if (stopped) return;
    const work = working.get(key);
    const known = work === undefined ? lanes.has(key, "serve") : work.dirty !== undefined;
    if (!known) observe?.({ kind: "added", stage: "serve" });
    if (work === undefined) lanes.put(key, lane, "serve");
    else work.dirty = betterLane(work.dirty, lane);
    dispatch();
  };

  const putAgain = (key: string, { lane, dirty, reports }: Work): void => {
    // What is not reported yet waits in no worse lane because the key is only checked again.
    if (dirty !== undefined) lanes.put(key, betterLane(reports ? lane : undefined, dirty), "serve");
    else if (reports) {
      observe?.({ kind: "added", stage: "report" });
      lanes.put(key, lane, "report");
    }
  };

  return {
    add,
    addAfter(key, milliseconds, lane = "live") {
      if (stopped) return;
      if (milliseconds <= 0) add(key, lane);
      else delays.put(key, milliseconds, lane);
    },
    report(key) {
      const work = working.get(key);
      if (work !== undefined) work.reports = true;
    },
    isChanged: (key) => working.get(key)?.dirty === "live",
    retry(key) {
      if (stopped) return;
      const { lane, stage } = working.get(key) ?? { lane: "bulk", stage: "serve" };
      observe?.({ kind: "retried", stage });
      delays.put(key, backoffs.next(key, lane), lane);
    },
    retryNow() {
      for (const key of backoffs.failed("live")) if (delays.has(key)) delays.put(key, 0, "live");
    },
    forget: backoffs.forget,
    take(stage = "serve") {
      if (stopped) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        takers[stage].push(resolve);
        dispatch();
      });
    },
    done(key) {
      const work = working.get(key);
      if (work === undefined) return;
      working.delete(key);
      observe?.({ kind: "done", stage: work.stage, workedSeconds: (monotonic() - work.since) / 1000 });
      if (!stopped) {
        putAgain(key, work);
        dispatch();
      } else if (working.size === 0) drained.resolve();
    },
    stop() {
      stopped = true;
      delays.clear();
      lanes.clear();
      for (const taker of bothStages.flatMap((stage) => takers[stage].splice(0))) taker(undefined);
      if (working.size === 0) drained.resolve();
      return drained.promise;
    },
    figures(stage) {
      const stages: readonly Stage[] = stage === undefined ? bothStages : [stage];
      const works = [...working.values()].filter((work) => stages.includes(work.stage));
      const workingSeconds = works.map(({ since }) => (monotonic() - since) / 1000);
      return { ...sizesOf(lanes, stages), delayed: stage === "report" ? 0 : delays.size(), workingSeconds };
    },
  };
}

/** Whether fewer keys of a namespace are being served than there are takers that wait for one. */
function hasShare(working: ReadonlyMap<string, Work>, idle: number): MayHave {
  const counts = new Map<string, number>();
  for (const [key, { stage }] of working) {
    const { namespace } = projectOfKey(key);
    if (stage === "serve") counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return (namespace) => (counts.get(namespace) ?? 0) < idle;
}

function mayReport(working: Iterable<Work>, lanes: Lanes, now: number): boolean {
  const works = [...working];
  const waiting = lanes.size("serve", "live") + lanes.size("serve", "bulk");
  if (waiting === 0 && works.every(({ stage }) => stage === "report")) return true;
  const reports = works.filter(({ stage, since }) => stage === "report" && now - since < longReportMs);
  return reports.length < reportedWhileServing;
}

function sizesOf(lanes: Lanes, stages: readonly Stage[]): Pick<QueueFigures, Lane> {
  const size = (lane: Lane): number => stages.reduce((sum, stage) => sum + lanes.size(stage, lane), 0);
  return { live: size("live"), bulk: size("bulk") };
}

type Taker = (key: string | undefined) => void;

interface Delay {
  readonly at: number;
  lane: Lane;
  readonly stopTimer: () => void;
}

/**
 * Keys that are due later, with a timer each: to set ten thousand of Node's takes 40 ms and 4 MB.
 */
function createDelays(timers: Timers, monotonic: Monotonic, due: (key: string, lane: Lane) => void) {
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

const ofOneKey = { firstMs: 100, maxMs: 60_000, jitter: 0.2 };
const ofAllKeys = { burst: 100, perSecond: 10 };
/** Otherwise the last of ten thousand keys would wait for a quarter of an hour after an outage. */
const maxShareMs = 60_000;

/**
 * How long a key that failed waits before it is retried. All keys share a rate limit, so that a
 * failure of everything at once does not keep the API server or Redis down.
 */
function createBackoffs(monotonic: Monotonic, random: () => number) {
  const failures = new Map<string, { readonly backoff: Backoff; lane: Lane }>();
  const bucket = new TokenBucket(ofAllKeys, monotonic);
  return {
    /** Milliseconds; counts the failure. */
    next(key: string, lane: Lane): number {
      const failure = failures.get(key) ?? { backoff: new Backoff(ofOneKey, random), lane };
      failure.lane = lane;
      failures.set(key, failure);
      const spread = 1 - ofOneKey.jitter * (1 - random());
      return Math.max(failure.backoff.next(), bucket.reserve(maxShareMs) * spread);
    },
    forget: (key: string): void => void failures.delete(key),
    /**
     * Keys that failed and were not forgotten since, and that were taken from this lane the last
     * time.
     */
    *failed(wanted: Lane): Iterable<string> {
      for (const [key, { lane }] of failures) if (lane === wanted) yield key;
    },
  };
}
