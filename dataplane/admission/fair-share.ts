// Keeps one project from holding up the others of a replica. A project may have as much work under way as keeps Redis busy while
// nobody else asks; as soon as others do, it has a share, and what is beyond it waits in the order of arrival: the work that another
// project's request finds before it is bounded, however many connections the first one has. Work is counted in units, by what
// requests cost Redis and the event loop, not in time: where an answer's size is not known before, the project's last ones stand for it.
// Refuses with 503 `project_busy` a request that would wait behind too many, or has waited too long.

import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject } from "../config/directory.ts";

export interface FairShareLimiter {
  of(project: LiveProject): ProjectLimiter;
}

export interface ProjectLimiter {
  /**
   * Begins work that costs `base` units without its answer, which has `answerLength` characters where that is known; a promise when it
   * has to wait. Rejects with Problem `project_busy`.
   */
  begin(base: number, answerLength?: number): Work | Promise<Work>;
}

/** What is under way. */
export interface Work {
  /** `length` = characters of the answer; undefined when none came that says what the next ones cost. */
  end(length: number | undefined): void;
}

/** Units that a project may have under way while others ask: some three quarters of a millisecond of single reads. */
export const contendedLimit = 8;
/**
 * Units while nobody else asks, once an answer said what they cost: more would only wait in Redis, where everybody waits behind them.
 * Two hundred reads of a mebibyte took longer there than any command may take, and all projects were refused.
 */
export const soloLimit = 64;
/** Requests of one project that may wait. */
export const maxWaiting = 1_000;
/** Milliseconds that one waits at most. */
export const maxWaitMs = 2_000;
/** Milliseconds for which a project that asked counts as asking. */
const presentMs = 1_000;
/** Characters of an answer that cost as much as the rest of a read. */
const charactersPerUnit = 8 * 1024;

interface Waiting {
  readonly base: number;
  readonly answerLength: number | undefined;
  readonly since: number;
  readonly go: (work: Work) => void;
  readonly refuse: (error: Problem) => void;
}

export function createFairShareLimiter(clock: Clock): FairShareLimiter {
  // By the live project: a new configuration has a new limiter, and what the former one still runs is bounded.
  const limiters = new WeakMap<LiveProject, Limiter>();
  const presence = createPresence(clock);
  return {
    of(project) {
      let limiter = limiters.get(project);
      if (limiter === undefined) {
        limiter = new Limiter(clock, presence);
        limiters.set(project, limiter);
      }
      return limiter;
    },
  };
}

interface Presence {
  /** Notes that a project asks. */
  note(limiter: Limiter): void;
  othersThan(limiter: Limiter): boolean;
}

/** The two that asked last are enough to know whether anybody but one of them did. */
function createPresence(clock: Clock): Presence {
  let last: { limiter: Limiter | undefined; at: number } = { limiter: undefined, at: Number.NEGATIVE_INFINITY };
  let before = last;
  return {
    note(limiter) {
      if (last.limiter === limiter) last.at = clock.monotonic();
      else {
        before = last;
        last = { limiter, at: clock.monotonic() };
      }
    },
    othersThan(limiter) {
      const other = last.limiter === limiter ? before : last;
      return clock.monotonic() - other.at < presentMs;
    },
  };
}

class Limiter implements ProjectLimiter {
  readonly #clock: Clock;
  readonly #presence: Presence;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  /** Of those that were not known before; undefined until the first one. */
  #answerLength: number | undefined;

  constructor(clock: Clock, presence: Presence) {
    this.#clock = clock;
    this.#presence = presence;
  }

  begin(base: number, answerLength?: number): Work | Promise<Work> {
    this.#presence.note(this);
    const units = this.#unitsOf(base, answerLength);
    if (this.#waiting.length === 0 && this.#hasRoom(units, answerLength)) return this.#begun(units, answerLength);
    if (this.#waiting.length >= maxWaiting) return Promise.reject(busy());
    return new Promise((go, refuse) => {
      this.#waiting.push({ base, answerLength, since: this.#clock.monotonic(), go, refuse });
    });
  }

  #unitsOf(base: number, answerLength = this.#answerLength): number {
    return base + Math.floor((answerLength ?? 0) / charactersPerUnit);
  }

  #begun(units: number, answerLength: number | undefined): Work {
    this.#running += units;
    return {
      end: (length) => {
        this.#running -= units;
        // A large value that was put says nothing of the answers of others: they would run one by one behind it.
        if (answerLength === undefined && length !== undefined) {
          this.#answerLength = Math.max(length, Math.floor((this.#answerLength ?? 0) * 0.9));
        }
        if (this.#waiting.length > 0) this.#beginWaiting();
      },
    };
  }

  #beginWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const late = this.#clock.monotonic() - next.since > maxWaitMs;
      // Counted now: by the answers that came while it waited.
      const units = this.#unitsOf(next.base, next.answerLength);
      if (!late && !this.#hasRoom(units, next.answerLength)) return;
      this.#waiting.shift();
      if (late) next.refuse(busy());
      else next.go(this.#begun(units, next.answerLength));
    }
  }

  /** What is larger than the whole share runs alone. */
  #hasRoom(units: number, answerLength = this.#answerLength): boolean {
    const running = this.#running + units;
    if (this.#running === 0 || running <= contendedLimit) return true;
    return running <= soloLimit && answerLength !== undefined && !this.#presence.othersThan(this);
  }
}

function busy(): Problem {
  return new Problem(
    "project_busy",
    "This project has used up its share of a replica that other projects use too; try again",
    {
      headers: { "Retry-After": "1" },
    },
  );
}
