// Keeps one project from delaying all others of a replica, in two ways. Slots: a weighted semaphore
// bounds what a project has under way. A weight is what a request costs Redis and the event loop.
// Alone, a project may use as much as keeps Redis busy; while others send requests, only its share,
// and further requests wait in order of arrival. Time: computing is measured, and a project
// that has used up its part of a turn of the event loop continues in the next one. Refuses with 503
// `project_busy` a request that finds a queue full, or waited too long.

import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors/problem.ts";
import { type Monotonic, systemMonotonic, systemTimers, type Timers } from "../../core/timers.ts";
import type { LiveProject } from "../config/directory.ts";

export interface FairShareLimiter {
  /** `undefined` = requests that name no project: they share one limiter. */
  of(project: LiveProject | undefined): ProjectLimiter;
}

export interface ProjectLimiter {
  /**
   * Takes a slot for a request that weighs `baseWeight` without its body of `bodyLength` bytes and
   * its response of `responseLength` further characters, if that is known. A promise when it has to
   * wait. Rejects with Problem `project_busy`.
   */
  acquire(baseWeight: number, responseLength?: number, bodyLength?: number): Slot | Promise<Slot>;
  /**
   * Runs `work`, now or in a later turn of the event loop, and returns what it returns. The project
   * is charged for its time, also if it throws. `slot` = the one of the request, if it has one.
   * Rejects with Problem `project_busy`.
   */
  runFairly<T>(work: () => T, slot?: Slot): T | Promise<T>;
}

export interface Slot {
  /** `length` = characters of the response; undefined where it says nothing about further ones. */
  release(length: number | undefined): void;
}

/** Weight of a project's slots while others ask: some 0.75 ms of single reads. */
export const contendedLimit = 8;
/**
 * Weight while nobody else asks, once a response showed the usual size. More would only queue up in
 * Redis: 200 reads of a mebibyte took longer than the time limit of commands.
 */
export const soloLimit = 64;
/** Milliseconds for which one project may compute in one turn of the event loop. */
export const turnMs = 1;
/** Milliseconds that a turn without a slot costs in addition: Node receives and answers it. */
const unseenMs = 0.2;
/** Milliseconds of rest for each one beyond a turn, while others ask: they get 3/4 of the time. */
const restPerMs = 3;
/** Requests of one project that may wait for slots. To compute, all clients may wait. */
export const maxWaiting = 1_000;
/** Milliseconds that a request waits at most. */
export const maxWaitMs = 2_000;
/** A thousand refusals at once would delay all others for a tenth of a second. */
const maxRefusedAtOnce = 16;
/** Milliseconds for which a project that asked counts as asking. */
const presentMs = 1_000;
/** Characters of a body or a response that weigh 1, as much as the rest of a read. */
const charactersPerWeight = 8 * 1024;

interface QueuedRequest {
  readonly baseWeight: number;
  readonly bodyLength: number;
  readonly responseLength: number | undefined;
  readonly since: number;
  readonly resolve: (slot: Slot) => void;
  readonly reject: (error: Problem) => void;
}

/** Calls `run` in the next turn of the event loop, after requests that have arrived. */
type NextTurn = (run: () => void) => void;

interface FairShareOptions {
  readonly timers?: Timers;
  readonly nextTurn?: NextTurn;
  /** What computing takes is the process's own time, whatever the clock says. */
  readonly elapsed?: Monotonic;
  /** Pieces of work of one project that may wait: more than there may be connections. */
  readonly maxQueuedWork?: number;
}

export function createFairShareLimiter(
  clock: Clock,
  {
    timers = systemTimers,
    nextTurn = setImmediate,
    elapsed = systemMonotonic,
    maxQueuedWork = Number.POSITIVE_INFINITY,
  }: FairShareOptions = {},
): FairShareLimiter {
  // By the live project: a new configuration has a new limiter. The slots of the former one are
  // bounded too.
  const limiters = new WeakMap<LiveProject, Limiter>();
  const presence = createPresence(clock);
  const newLimiter = (uid: string): Limiter =>
    new Limiter({ clock, timers, nextTurn, elapsed, maxQueuedWork, presence, uid });
  const ofNone = newLimiter("");
  return {
    of(project) {
      if (project === undefined) return ofNone;
      let limiter = limiters.get(project);
      if (limiter === undefined) {
        limiter = newLimiter(project.config.uid);
        limiters.set(project, limiter);
      }
      return limiter;
    },
  };
}

/** By the UID, which a project keeps with a new configuration. */
interface Presence {
  /** Records that a project sent a request. */
  record(uid: string): void;
  /** Whether a project other than this has asked a moment ago. */
  isContended(uid: string): boolean;
}

/** The last two projects that asked are enough to tell whether another one did. */
function createPresence(clock: Clock): Presence {
  let last: { uid: string | undefined; at: number } = { uid: undefined, at: Number.NEGATIVE_INFINITY };
  let before = last;
  return {
    record(uid) {
      if (last.uid === uid) last.at = clock.monotonic();
      else {
        before = last;
        last = { uid, at: clock.monotonic() };
      }
    },
    isContended(uid) {
      const other = last.uid === uid ? before : last;
      return clock.monotonic() - other.at < presentMs;
    },
  };
}

interface LimiterDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly nextTurn: NextTurn;
  readonly elapsed: Monotonic;
  readonly maxQueuedWork: number;
  readonly presence: Presence;
  readonly uid: string;
}

class Limiter implements ProjectLimiter {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #nextTurn: NextTurn;
  readonly #elapsed: Monotonic;
  readonly #maxQueuedWork: number;
  readonly #presence: Presence;
  readonly #uid: string;
  readonly #queue: QueuedRequest[] = [];
  /** Weight of the slots that were acquired and not released. */
  #inUse = 0;
  /** Expected characters of a response of unknown length; undefined until the first response. */
  #expectedLength: number | undefined;
  /** Whether a timer will check the queue. */
  #isTimed = false;
  /** Milliseconds of computing since the project last gave way to others. */
  #computedMs = 0;
  /** Whether others come first: until the next turn of the event loop. */
  #givesWay = false;
  /** Requests with a slot: the slots bound how many. */
  readonly #workOfHolders: (() => void)[] = [];
  readonly #workOfOthers: (() => void)[] = [];
  /** Both run alternately. */
  #isHoldersNext = true;

  constructor({ clock, timers, nextTurn, elapsed, maxQueuedWork, presence, uid }: LimiterDeps) {
    this.#clock = clock;
    this.#timers = timers;
    this.#nextTurn = nextTurn;
    this.#elapsed = elapsed;
    this.#maxQueuedWork = maxQueuedWork;
    this.#presence = presence;
    this.#uid = uid;
  }

  acquire(baseWeight: number, responseLength?: number, bodyLength = 0): Slot | Promise<Slot> {
    this.#presence.record(this.#uid);
    const weight = this.#weightOf(baseWeight, bodyLength, responseLength);
    if (this.#queue.length === 0 && this.#hasRoom(weight, responseLength)) return this.#take(weight, responseLength);
    if (this.#queue.length >= maxWaiting) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const since = this.#clock.monotonic();
      this.#queue.push({ baseWeight, bodyLength, responseLength, since, resolve, reject });
      this.#refuseOnTime(since);
    });
  }

  runFairly<T>(work: () => T, slot?: Slot): T | Promise<T> {
    const start = this.#elapsed();
    if (this.#givesWay) return this.#runLater(work, start, slot);
    try {
      return work();
    } finally {
      this.#charge(this.#elapsed() - start + (slot === undefined ? unseenMs : 0));
    }
  }

  #charge(milliseconds: number): void {
    this.#computedMs += milliseconds;
    if (this.#computedMs >= turnMs && !this.#givesWay) this.#giveWay();
  }

  #refusedLate(): Problem {
    this.#charge(unseenMs);
    return new RefusedLate();
  }

  #runLater<T>(work: () => T, since: number, slot: Slot | undefined): Promise<T> {
    const queue = slot === undefined ? this.#workOfOthers : this.#workOfHolders;
    // Connected clients are fewer: only those that left can fill it.
    if (queue.length >= this.#maxQueuedWork) return Promise.reject(busy());
    return new Promise<T>((resolve, reject) => {
      queue.push(() => {
        try {
          if (this.#isLate(since)) throw this.#refusedLate();
          resolve(this.runFairly(work, slot));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #isLate(since: number): boolean {
    return this.#elapsed() - since >= maxWaitMs;
  }

  #giveWay(): void {
    const beyond = this.#computedMs - 2 * turnMs;
    this.#computedMs = 0;
    this.#givesWay = true;
    const goOn = (): void => {
      this.#givesWay = false;
      while (!this.#givesWay) {
        const next = this.#nextQueued();
        if (next === undefined) return;
        next();
      }
    };
    if (beyond > 0 && this.#presence.isContended(this.#uid)) this.#timers.after(restPerMs * beyond, goOn);
    else this.#nextTurn(goOn);
  }

  #nextQueued(): (() => void) | undefined {
    const holders = this.#workOfHolders;
    const others = this.#workOfOthers;
    const [first, second] = this.#isHoldersNext ? [holders, others] : [others, holders];
    this.#isHoldersNext = !this.#isHoldersNext;
    return first.shift() ?? second.shift();
  }

  /** A timer, because no slot is released while Redis hangs, until its commands time out. */
  #refuseOnTime(since: number): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#timers.after(since + maxWaitMs - this.#clock.monotonic(), () => {
      this.#isTimed = false;
      this.#admitQueued();
      const first = this.#queue[0];
      if (first !== undefined) this.#refuseOnTime(first.since);
    });
  }

  #weightOf(baseWeight: number, bodyLength: number, responseLength = this.#expectedLength): number {
    return baseWeight + Math.floor((bodyLength + (responseLength ?? 0)) / charactersPerWeight);
  }

  #take(weight: number, responseLength: number | undefined): Slot {
    this.#inUse += weight;
    return {
      release: (length) => {
        this.#inUse -= weight;
        // A large value that was written says nothing about other responses.
        if (responseLength === undefined && length !== undefined) {
          this.#expectedLength = Math.max(length, Math.floor((this.#expectedLength ?? 0) * 0.9));
        }
        if (this.#queue.length > 0) this.#admitQueued();
      },
    };
  }

  #admitQueued(): void {
    let refused = 0;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const late = this.#clock.monotonic() - next.since >= maxWaitMs;
      // Weighed now, by the responses that were sent while it waited.
      const weight = this.#weightOf(next.baseWeight, next.bodyLength, next.responseLength);
      if (!late && !this.#hasRoom(weight, next.responseLength)) return;
      // The others with the next release, or in a millisecond.
      if (late && refused === maxRefusedAtOnce) return;
      this.#queue.shift();
      if (late) {
        refused += 1;
        next.reject(busy());
      } else next.resolve(this.#take(weight, next.responseLength));
    }
  }

  /** A request that weighs more than the share runs alone. */
  #hasRoom(weight: number, responseLength = this.#expectedLength): boolean {
    const wanted = this.#inUse + weight;
    if (this.#inUse === 0 || wanted <= contendedLimit) return true;
    return wanted <= soloLimit && responseLength !== undefined && !this.#presence.isContended(this.#uid);
  }
}

const busyDetail = "This project has used up its share of a replica that other projects use too; try again";
const soon = { headers: { "Retry-After": "1" } };

function busy(): Problem {
  return new Problem("project_busy", busyDetail, soon);
}

/** A request waited too long for its work to begin. It has been charged. */
export class RefusedLate extends Problem {
  constructor() {
    super("project_busy", busyDetail, soon);
  }
}
