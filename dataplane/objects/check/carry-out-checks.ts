// Carries out the operator's orders to check stored objects: one replica at a time, in small steps
// with pauses, because requests come first. How far it has come is kept in Redis every second, so
// that another replica goes on when this one ends.

import { randomUUID } from "node:crypto";
import { checkingLockKey, checkProgressKey, configKeys } from "../../../core/config/config-keys.ts";
import {
  type CheckFigures,
  type CheckOrder,
  type CheckProgress,
  type CheckResult,
  readCheckProgress,
  schemaDigest,
} from "../../../core/config/object-check.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { optionalText } from "../../../core/redis/reply.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import { pauseUnlessAborted, systemMonotonic, systemTimers } from "../../../core/timers.ts";
import type { Directory } from "../../config/directory.ts";
import { createFiguresWriter, type FiguresWriter } from "../../config/report-usage.ts";
import type { ObjectLists } from "../../store/ports/lists.ts";
import { type CollectionRef, collectionOf } from "../../store/ports/refs.ts";
import { checkStep, nothingChecked } from "./check-step.ts";

export interface CarryOutChecksDeps {
  readonly redisClient: RedisClient;
  readonly store: Pick<ObjectLists, "pageAfter">;
  readonly directory: Pick<Directory, "project" | "dataLost">;
  /** Records that an order was carried out, with what was found. */
  readonly recordDone: (id: string, result: CheckResult) => Promise<void>;
  readonly onDone: (order: CheckOrder, result: CheckResult) => void;
  readonly onFailed: (order: CheckOrder, error: unknown) => void;
  /** Between two looks at whether to go on, each of which keeps the position; 1,000 by default. */
  readonly keepEveryMs?: number;
  /** Before a schema that is not live yet is checked, 3,000 by default. */
  readonly settleMs?: number;
}

export interface Checks {
  /** The orders that are open now. Those that came since are looked at with the next call. */
  carryOut(orders: ReadonlyMap<string, CheckOrder>): void;
  /** Ends with the step under way, and keeps its position. */
  stop(): Promise<void>;
}

/** Longer than a step with an event loop that is busy; another replica takes over after it. */
const lockMs = 10_000;
/** How long a position is kept where no replica goes on. */
const expirySeconds = 86_400;
/** Longer than a command to the store may take. */
const usualSettleMs = 3_000;
/** At least, after each step. */
const minPauseMs = 2;

export function carryOutChecks(deps: CarryOutChecksDeps): Checks {
  const { redisClient } = deps;
  const stopping = new AbortController();
  const owner = randomUUID();
  const progress = createFiguresWriter(redisClient);
  let running: Promise<void> | undefined;

  const run = async (orders: ReadonlyMap<string, CheckOrder>): Promise<void> => {
    const lock = ["SET", checkingLockKey, owner, "NX", "PX", lockMs] as const;
    const taken = await redisClient.write(checkingLockKey, ...lock);
    if (taken === null) return;
    for (const [id, order] of orders) {
      if (stopping.signal.aborted || !(await holdLock(redisClient, owner))) break;
      const check = new Check(deps, { id, order, owner, progress, signal: stopping.signal });
      await check.run().catch((error: unknown) => deps.onFailed(order, error));
    }
    if (await isOwner(redisClient, owner)) await redisClient.write(checkingLockKey, "DEL", checkingLockKey);
  };

  return {
    carryOut(orders) {
      if (orders.size === 0 || running !== undefined || stopping.signal.aborted) return;
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

/** For another while; false where another replica has it. */
async function holdLock(redisClient: RedisClient, owner: string): Promise<boolean> {
  if (!(await isOwner(redisClient, owner))) return false;
  await redisClient.write(checkingLockKey, "PEXPIRE", checkingLockKey, lockMs);
  return true;
}

async function isOwner(redisClient: RedisClient, owner: string): Promise<boolean> {
  return optionalText(await redisClient.read(checkingLockKey, "GET", checkingLockKey)) === owner;
}

interface Given {
  readonly id: string;
  readonly order: CheckOrder;
  readonly owner: string;
  readonly progress: FiguresWriter;
  readonly signal: AbortSignal;
}

class Check {
  readonly #deps: CarryOutChecksDeps;
  readonly #given: Given;

  constructor(deps: CarryOutChecksDeps, given: Given) {
    this.#deps = deps;
    this.#given = given;
  }

  async run(): Promise<void> {
    const { store, keepEveryMs = 1_000, settleMs = usualSettleMs } = this.#deps;
    const { signal, order } = this.#given;
    const found = await this.#find();
    if (found === undefined) return;
    const step = { store, ...found };
    let figures = await this.#kept();
    // A write that was sent before its replica knew of the schema has reached the store by then.
    if (order.isNext === true) await pauseUnlessAborted(systemTimers, settleMs, signal);
    for (let keptAt = systemMonotonic(); ; ) {
      const began = systemMonotonic();
      const next = await checkStep(step, figures);
      if (next.isDone) return await this.#end(next.figures);
      figures = next.figures;
      // Never more than half of the time, however long a step took.
      const mayGoOn = await pauseUnlessAborted(systemTimers, Math.max(minPauseMs, systemMonotonic() - began), signal);
      if (mayGoOn && systemMonotonic() - keptAt < keepEveryMs) continue;
      keptAt = systemMonotonic();
      if (!(await this.#keep(next.figures)) || !mayGoOn) return;
    }
  }

  /** Undefined unless the resource is served here with the schema of the order. */
  async #find(): Promise<{ readonly schema: CompiledSchema; readonly collection: CollectionRef } | undefined> {
    const { directory } = this.#deps;
    const { order } = this.#given;
    const found = await directory.project(order.project);
    if (found.outcome !== "found" || directory.dataLost()) return undefined;
    const resource = found.value.resources.get(order.resource);
    if (resource === undefined || resource.config.uid !== order.uid) return undefined;
    const { config } = resource;
    const [source, schema] =
      order.isNext === true ? [config.nextSchema, resource.nextSchema] : [config.schema, resource.schema];
    if (source === undefined || schema === undefined || schemaDigest(source) !== order.schema) return undefined;
    return { schema, collection: collectionOf(order.project, config) };
  }

  async #kept(): Promise<CheckFigures | CheckProgress> {
    const text = await this.#deps.redisClient.read(checkProgressKey, "HGET", checkProgressKey, this.#given.id);
    return readCheckProgress(optionalText(text) ?? "") ?? nothingChecked;
  }

  /** False where it is over: it is no longer ordered, or another replica has the lock by now. */
  async #keep(figures: CheckProgress): Promise<boolean> {
    const { redisClient } = this.#deps;
    const { id, owner, progress } = this.#given;
    if (!(await holdLock(redisClient, owner))) return false;
    const isOrdered = await this.#isOrdered();
    const entry = isOrdered
      ? { gone: [], changed: [[id, JSON.stringify(figures)] as const] }
      : { gone: [id], changed: [] };
    await progress.write(checkProgressKey, { ...entry, expirySeconds });
    return isOrdered;
  }

  async #end(figures: CheckFigures): Promise<void> {
    const { recordDone, onDone } = this.#deps;
    const { id, order, progress } = this.#given;
    const result = { ...figures, endedAt: Date.now() };
    const isOrdered = await this.#isOrdered();
    if (isOrdered) await recordDone(id, result);
    await progress.write(checkProgressKey, { gone: [id], changed: [], expirySeconds });
    if (isOrdered) onDone(order, result);
  }

  async #isOrdered(): Promise<boolean> {
    const { purges } = configKeys;
    return (await this.#deps.redisClient.read(purges, "HEXISTS", purges, this.#given.id)) === 1;
  }
}
