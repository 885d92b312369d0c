// Carries out the operator's orders of one kind about stored data: one replica at a time, in small
// steps with pauses, because requests come first. How far it has come is kept in Redis every
// second, so that another replica goes on when this one ends. Then the next orders have their turn:
// a long one of one Project keeps no other Project waiting. What a script does here runs while
// Redis' memory is used up as well: data to remove may be what fills it.

import { randomUUID } from "node:crypto";
import { configKeys } from "../../core/config/config-keys.ts";
import type { OrderKind } from "../../core/config/order-kind.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { errorName } from "../../core/log/describe-error.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import { loadScript, runsWithoutMemory } from "../../core/redis/script.ts";
import { pauseUnlessAborted, systemMonotonic, systemTimers } from "../../core/timers.ts";
import { createFiguresWriter, type FiguresWriter } from "./report-usage.ts";

export interface CarryOutDeps<Order, Result> {
  readonly redisClient: RedisClient;
  /** Called once for an order, in the replica that records what came of it. */
  readonly onDone: (order: Order, result: Result, id: string) => void;
  /** Called now and then, with all that failed since. */
  readonly onFailed: (failures: readonly OrderFailure<Order>[]) => void;
  /** Between two looks at whether to go on, each of which keeps the position; 1,000 by default. */
  readonly keepEveryMs?: number;
}

export interface OrderFailure<Order> {
  readonly order: Order;
  readonly error: unknown;
}

/** Failures that one log line names. */
const maxNamed = 3;

/**
 * For a log line: how many failed, and which of the first ones and how. Messages of errors may
 * contain stored data; names do not.
 */
export function failureFacts<Order extends { readonly project: ProjectRef }>(
  failures: readonly OrderFailure<Order>[],
  nameOf: (order: Order) => string,
): { readonly failed: number; readonly error: string } {
  const named = failures.slice(0, maxNamed).map(({ order, error }) => {
    const { namespace, name } = order.project;
    return `${errorName(error)} (${nameOf(order)} of ${namespace}/${name})`;
  });
  return { failed: failures.length, error: named.join(", ") };
}

/** The next few objects; `before` = what was kept or returned last, undefined at the beginning. */
export type Step<Progress, Result> = (before: Progress | undefined) => Promise<StepEnd<Progress, Result>>;

export type StepEnd<Progress, Result> =
  /** `waits`: nothing more can be done now; it is tried again after some seconds. */
  | { readonly isDone: false; readonly progress: Progress; readonly waits?: true }
  | { readonly isDone: true; readonly result: Result };

/** Without a progress, an order that was interrupted begins anew. */
type CarriedKind<Order, Progress, Result> = Pick<OrderKind<Order, Progress, Result>, "read" | "lockKey"> &
  Partial<Pick<OrderKind<Order, Progress, Result>, "progressKey" | "readProgress">>;

export interface Turn {
  readonly signal: AbortSignal;
  /**
   * Whether the order still stands and is carried out here, for a step that takes long: while this
   * replica was paused, another one may have finished.
   */
  readonly mayContinue: () => Promise<boolean>;
}

export interface OrderWork<Order, Progress, Result> {
  readonly kind: CarriedKind<Order, Progress, Result>;
  /** How an order is carried out; undefined while that can't be done here. */
  readonly begin: (order: Order, turn: Turn) => Promise<Step<Progress, Result> | undefined>;
  /** After each step, as a part of the time that it took; 1 by default. */
  readonly pauseRatio?: number;
  /** How many have their turn at the same time; 1 by default. */
  readonly atOnce?: number;
  /** It is begun again with each turn, since a step keeps much in memory. */
  readonly beginsEachTurn?: true;
}

export interface CarriedOrders {
  /**
   * The orders that are open now, of whatever kind. Those that came since are looked at with the
   * next call.
   */
  carryOut(open: ReadonlyMap<string, string>): void;
  /** Ends with the step under way, and keeps its position. */
  stop(): Promise<void>;
}

/** Longer than a step with an event loop that is busy; another replica takes over after it. */
const lockMs = 10_000;
/** How long a position is kept where no replica goes on. */
const expirySeconds = 86_400;
/** Until an order that waits, or has failed, is tried again here. */
const waitMs = 3_000;
/** At least, after each step. */
const minPauseMs = 2;

export function carryOutOrders<Order, Progress, Result>(
  deps: CarryOutDeps<Order, Result>,
  work: OrderWork<Order, Progress, Result>,
): CarriedOrders {
  const { redisClient } = deps;
  const { atOnce = 1 } = work;
  const { read, lockKey } = work.kind;
  const stopping = new AbortController();
  const lock = createLock(redisClient, lockKey);
  const tools = { lock, signal: stopping.signal, figures: createFiguresWriter(redisClient), ...resultsOf(redisClient) };
  /** By id of those that wait, from when on they are tried again. */
  let waiting: ReadonlyMap<string, number> = new Map();
  /** By id; who had a turn comes last. */
  const carried = new Map<string, CarriedOrder<Order, Progress, Result>>();
  let running: Promise<void> | undefined;
  /** Since they were told last. */
  let failures: readonly OrderFailure<Order>[] = [];
  let toldAt = 0;

  const run = async (): Promise<void> => {
    await lock.take();
    while (carried.size > 0 && !stopping.signal.aborted && (await lock.hold())) {
      await Promise.all([...carried].slice(0, atOnce).map(takeTurn));
      if (systemMonotonic() - toldAt >= waitMs) tellFailures();
    }
    await lock.release();
  };

  const tellFailures = (): void => {
    toldAt = systemMonotonic();
    if (failures.length > 0) deps.onFailed(failures);
    failures = [];
  };

  const takeTurn = async ([id, next]: readonly [string, CarriedOrder<Order, Progress, Result>]): Promise<void> => {
    const end = await next.turn().catch((error: unknown): TurnEnd => {
      failures = [...failures, { order: next.order, error }];
      return "waits";
    });
    carried.delete(id);
    if (end === "goes on") carried.set(id, next);
    if (end === "waits") waiting = new Map(waiting).set(id, systemMonotonic() + waitMs);
  };

  const add = (open: ReadonlyMap<string, string>): void => {
    const now = systemMonotonic();
    waiting = new Map([...waiting].filter(([, until]) => until > now));
    for (const [id, text] of open) {
      const order = waiting.has(id) || carried.has(id) ? undefined : read(text);
      if (order !== undefined) carried.set(id, new CarriedOrder(deps, work, { ...tools, id, order }));
    }
  };

  return {
    carryOut(open) {
      if (stopping.signal.aborted) return;
      add(open);
      if (carried.size === 0 || running !== undefined) return;
      running = run()
        // Redis is away: the next call tries again.
        .catch(() => undefined)
        .finally(() => {
          tellFailures();
          carried.clear();
          running = undefined;
        });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

interface Lock {
  /** Unless another replica has it. */
  take(): Promise<unknown>;
  /** For another while; false where another replica has it by now. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
}

function createLock(redisClient: RedisClient, key: string): Lock {
  const owner = randomUUID();
  const script = orderScript("take-order-lock-1");
  const isOwner = async (): Promise<boolean> => optionalText(await redisClient.read(key, "GET", key)) === owner;
  return {
    take: () => redisClient.run(script, [key], [owner, lockMs]),
    async hold() {
      if (!(await isOwner())) return false;
      await redisClient.write(key, "PEXPIRE", key, lockMs);
      return true;
    },
    async release() {
      if (await isOwner()) await redisClient.write(key, "DEL", key);
    },
  };
}

function orderScript(name: string) {
  return runsWithoutMemory(loadScript(new URL("./scripts/", import.meta.url), name, "write"));
}

interface Results {
  /** With what came of the order. */
  recordDone(id: string, result: string): Promise<void>;
}

function resultsOf(redisClient: RedisClient): Results {
  const script = orderScript("record-result-1");
  return {
    async recordDone(id, result) {
      await redisClient.run(script, [configKeys.results], [id, result]);
    },
  };
}

type TurnEnd = "goes on" | "waits" | "interrupted" | "over";

interface Given<Order> extends Results {
  readonly id: string;
  readonly order: Order;
  readonly lock: Lock;
  readonly figures: FiguresWriter;
  readonly signal: AbortSignal;
}

class CarriedOrder<Order, Progress, Result> {
  readonly #deps: CarryOutDeps<Order, Result>;
  readonly #work: OrderWork<Order, Progress, Result>;
  readonly #given: Given<Order>;
  #step: Step<Progress, Result> | undefined;
  #progress: Progress | undefined;

  constructor(deps: CarryOutDeps<Order, Result>, work: OrderWork<Order, Progress, Result>, given: Given<Order>) {
    this.#deps = deps;
    this.#work = work;
    this.#given = given;
  }

  get order(): Order {
    return this.#given.order;
  }

  /** Up to where a position is kept. */
  async turn(): Promise<TurnEnd> {
    const { keepEveryMs = 1_000 } = this.#deps;
    const step = await this.#begun();
    if (step === undefined) return "over";
    const began = systemMonotonic();
    let end: TurnEnd;
    do end = await this.#take(step);
    while (end === "goes on" && systemMonotonic() - began < keepEveryMs);
    if (end === "over" || this.#progress === undefined) return end;
    return (await this.#keep(this.#progress)) ? end : "over";
  }

  async #take(step: Step<Progress, Result>): Promise<TurnEnd> {
    const { pauseRatio = 1 } = this.#work;
    const began = systemMonotonic();
    const next = await step(this.#progress);
    if (next.isDone) {
      await this.#end(next.result);
      return "over";
    }
    this.#progress = next.progress;
    if (next.waits) return "waits";
    // However long a step took, a part of the time is left to requests.
    const pauseMs = Math.max(minPauseMs, (systemMonotonic() - began) * pauseRatio);
    return (await pauseUnlessAborted(systemTimers, pauseMs, this.#given.signal)) ? "goes on" : "interrupted";
  }

  /** Undefined where it can't be begun here, or is over by now. */
  async #begun(): Promise<Step<Progress, Result> | undefined> {
    const { order, signal } = this.#given;
    if (this.#step !== undefined) return this.#step;
    if (!(await this.#isOpen())) return undefined;
    const step = await this.#work.begin(order, { signal, mayContinue: () => this.#mayContinue() });
    this.#progress = await this.#kept();
    if (!this.#work.beginsEachTurn) this.#step = step;
    return step;
  }

  async #kept(): Promise<Progress | undefined> {
    const { progressKey, readProgress } = this.#work.kind;
    if (progressKey === undefined) return undefined;
    return readProgress?.(
      optionalText(await this.#deps.redisClient.read(progressKey, "HGET", progressKey, this.#given.id)) ?? "",
    );
  }

  /** False where it is over: it is no longer ordered, or another replica has the lock by now. */
  async #keep(progress: Progress): Promise<boolean> {
    const { id, lock } = this.#given;
    if (!(await lock.hold())) return false;
    const isOrdered = await this.#isOrdered();
    await this.#write(isOrdered ? { changed: [[id, JSON.stringify(progress)]] } : { gone: [id] });
    return isOrdered;
  }

  async #end(result: Result): Promise<void> {
    const { id, order, recordDone } = this.#given;
    const isOrdered = await this.#isOrdered();
    if (isOrdered) await recordDone(id, JSON.stringify(result));
    await this.#write({ gone: [id] });
    if (isOrdered) this.#deps.onDone(order, result, id);
  }

  async #write(change: { readonly gone?: readonly string[]; readonly changed?: readonly [string, string][] }) {
    const { gone = [], changed = [] } = change;
    const { progressKey } = this.#work.kind;
    if (progressKey !== undefined) await this.#given.figures.write(progressKey, { gone, changed, expirySeconds });
  }

  async #mayContinue(): Promise<boolean> {
    const { signal, lock } = this.#given;
    return !signal.aborted && (await this.#isOpen()) && (await lock.hold());
  }

  async #isOpen(): Promise<boolean> {
    const { results } = configKeys;
    const isDone = (await this.#deps.redisClient.read(results, "HEXISTS", results, this.#given.id)) === 1;
    return !isDone && (await this.#isOrdered());
  }

  async #isOrdered(): Promise<boolean> {
    const { orders } = configKeys;
    return (await this.#deps.redisClient.read(orders, "HEXISTS", orders, this.#given.id)) === 1;
  }
}
