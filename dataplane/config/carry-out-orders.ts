// Carries out the operator's orders of one kind about stored data: one replica at a time, in small
// steps with pauses, because requests come first. How far it has come is kept in Redis every
// second, so that another replica goes on when this one ends.

import { randomUUID } from "node:crypto";
import { configKeys } from "../../core/config/config-keys.ts";
import type { OrderKind } from "../../core/config/order-kind.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import { pauseUnlessAborted, systemMonotonic, systemTimers } from "../../core/timers.ts";
import { createFiguresWriter, type FiguresWriter } from "./report-usage.ts";

export interface CarryOutDeps<Order, Result> {
  readonly redisClient: RedisClient;
  /** Records that an order was carried out, with what came of it. */
  readonly recordDone: (id: string, result: string) => Promise<void>;
  readonly onDone: (order: Order, result: Result) => void;
  readonly onFailed: (order: Order, error: unknown) => void;
  /** Between two looks at whether to go on, each of which keeps the position; 1,000 by default. */
  readonly keepEveryMs?: number;
}

/** The next few objects; `before` = what was kept or returned last, undefined at the beginning. */
export type Step<Progress, Result> = (before: Progress | undefined) => Promise<StepEnd<Progress, Result>>;

export type StepEnd<Progress, Result> =
  /** `waits`: nothing more can be done now; it is tried again after some seconds. */
  | { readonly isDone: false; readonly progress: Progress; readonly waits?: true }
  | { readonly isDone: true; readonly result: Result };

export interface OrderWork<Order, Progress, Result> {
  readonly kind: OrderKind<Order, Progress, Result>;
  /** How an order is carried out; undefined while that can't be done here. */
  readonly begin: (order: Order, signal: AbortSignal) => Promise<Step<Progress, Result> | undefined>;
  /** After each step, as a part of the time that it took; 1 by default. */
  readonly pauseRatio?: number;
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
/** Until an order that waits is tried again here. */
const waitMs = 3_000;
/** At least, after each step. */
const minPauseMs = 2;

export function carryOutOrders<Order, Progress, Result>(
  deps: CarryOutDeps<Order, Result>,
  work: OrderWork<Order, Progress, Result>,
): CarriedOrders {
  const { redisClient } = deps;
  const { read, lockKey } = work.kind;
  const stopping = new AbortController();
  const lock = createLock(redisClient, lockKey);
  const figures = createFiguresWriter(redisClient);
  /** By id of those that wait, from when on they are tried again. */
  let waiting: ReadonlyMap<string, number> = new Map();
  let running: Promise<void> | undefined;

  const run = async (orders: readonly (readonly [string, Order])[]): Promise<void> => {
    await lock.take();
    for (const [id, order] of orders) {
      if (stopping.signal.aborted || !(await lock.hold())) break;
      const given = { id, order, lock, figures, signal: stopping.signal };
      const carried = new CarriedOrder(deps, work, given).run();
      const waits = await carried.catch((error: unknown) => void deps.onFailed(order, error));
      if (waits) waiting = new Map(waiting).set(id, systemMonotonic() + waitMs);
    }
    await lock.release();
  };

  return {
    carryOut(open) {
      if (running !== undefined || stopping.signal.aborted) return;
      const now = systemMonotonic();
      waiting = new Map([...waiting].filter(([, until]) => until > now));
      const orders = [...open].flatMap(([id, text]) => {
        const order = waiting.has(id) ? undefined : read(text);
        return order === undefined ? [] : [[id, order] as const];
      });
      if (orders.length === 0) return;
      running = run(orders)
        // Redis is away: the next call tries again.
        .catch(() => undefined)
        .finally(() => {
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
  const isOwner = async (): Promise<boolean> => optionalText(await redisClient.read(key, "GET", key)) === owner;
  return {
    take: () => redisClient.write(key, "SET", key, owner, "NX", "PX", lockMs),
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

interface Given<Order> {
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

  constructor(deps: CarryOutDeps<Order, Result>, work: OrderWork<Order, Progress, Result>, given: Given<Order>) {
    this.#deps = deps;
    this.#work = work;
    this.#given = given;
  }

  /** Resolves with true where the order waits. */
  async run(): Promise<boolean> {
    const { keepEveryMs = 1_000 } = this.#deps;
    const { pauseRatio = 1 } = this.#work;
    const { signal, order } = this.#given;
    const step = await this.#work.begin(order, signal);
    if (step === undefined) return false;
    let progress: Progress | undefined = await this.#kept();
    for (let keptAt = systemMonotonic(); ; ) {
      const began = systemMonotonic();
      const next = await step(progress);
      if (next.isDone) {
        await this.#end(next.result);
        return false;
      }
      progress = next.progress;
      if (next.waits) return await this.#keep(next.progress);
      // However long a step took, a part of the time is left to requests.
      const pauseMs = Math.max(minPauseMs, (systemMonotonic() - began) * pauseRatio);
      const mayGoOn = await pauseUnlessAborted(systemTimers, pauseMs, signal);
      if (mayGoOn && systemMonotonic() - keptAt < keepEveryMs) continue;
      keptAt = systemMonotonic();
      if (!(await this.#keep(next.progress)) || !mayGoOn) return false;
    }
  }

  async #kept(): Promise<Progress | undefined> {
    const { progressKey, readProgress } = this.#work.kind;
    return readProgress(
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
    const { recordDone, onDone } = this.#deps;
    const { id, order } = this.#given;
    const isOrdered = await this.#isOrdered();
    if (isOrdered) await recordDone(id, JSON.stringify(result));
    await this.#write({ gone: [id] });
    if (isOrdered) onDone(order, result);
  }

  async #write(change: { readonly gone?: readonly string[]; readonly changed?: readonly [string, string][] }) {
    const { gone = [], changed = [] } = change;
    await this.#given.figures.write(this.#work.kind.progressKey, { gone, changed, expirySeconds });
  }

  async #isOrdered(): Promise<boolean> {
    const { purges } = configKeys;
    return (await this.#deps.redisClient.read(purges, "HEXISTS", purges, this.#given.id)) === 1;
  }
}
