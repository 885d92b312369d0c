// Carries out the operator's orders to remove stored data, one replica at a time, in small steps,
// and records which are done. An interrupted order continues where it ended. Orders of other kinds
// come the same way, and are passed on (carry-out-orders.ts).

import { randomUUID } from "node:crypto";
import { configKeys } from "../../core/config/config-keys.ts";
import { isNewerFormat } from "../../core/config/fields.ts";
import { type PurgeOrder, readPurgeOrder } from "../../core/config/purge-order.ts";
import { errorName } from "../../core/log/describe-error.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, listOf, numberOf, optionalText, textsOf } from "../../core/redis/reply.ts";
import { loadScript, runsWithoutMemory } from "../../core/redis/script.ts";
import { pauseUnlessAborted, systemTimers } from "../../core/timers.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../store/ports/purges.ts";
import { type MayContinue, purgeCollection, purgeDocument, purgeProjectSessions } from "./purge-steps.ts";

export interface PurgeDeps {
  readonly redisClient: RedisClient;
  readonly store: CollectionPurges & DocumentPurges & SessionPurges;
  /** Called once everything of an order is gone, in the replica that records it. */
  readonly onDone: (id: string, order: PurgeOrder) => void;
  /** Called once for a round, with everything that failed in it. */
  readonly onFailed: (failures: readonly PurgeFailure[]) => void;
  /** Called with each round in which anything is ordered and not carried out, with all of it. */
  readonly onOpen?: (orders: ReadonlyMap<string, string>) => void;
}

export interface PurgeFailure {
  /** Absent where the round itself failed. */
  readonly order?: PurgeOrder;
  readonly error: unknown;
}

/** A round costs one read of a key that hardly ever exists; a deletion waits for the next round. */
const roundPauseMilliseconds = 500;
/** Renewed before every step; another replica takes over after this time. */
const lockMilliseconds = 5_000;

/** Failures that one log line names. */
const maxNamed = 3;

/**
 * For a log line: how many failed, and which of the first ones and how. Messages of errors may
 * contain stored data; names do not.
 */
export function failureFacts(failures: readonly PurgeFailure[]): { readonly failed: number; readonly error: string } {
  const named = failures.slice(0, maxNamed).map(({ order, error }) => {
    const name = errorName(error);
    if (order === undefined) return name;
    const { namespace, name: project } = order.project;
    return `${name} (${order.what}${"name" in order ? ` ${order.name}` : ""} of ${namespace}/${project})`;
  });
  return { failed: failures.length, error: named.join(", ") };
}

export interface Purging {
  /** For an order of another kind: what came of it. */
  recordDone(id: string, result: string): Promise<void>;
  stop(): Promise<void>;
}

/** Reads orders until it is stopped. */
export function carryOutPurges(deps: PurgeDeps): Purging {
  const stopping = new AbortController();
  const scripts = createPurgeOrderScripts(deps.redisClient);
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const failures = await round(deps, scripts, stopping.signal).catch((error: unknown) => [{ error }]);
      if (failures.length > 0) deps.onFailed(failures);
      await pauseUnlessAborted(systemTimers, roundPauseMilliseconds, stopping.signal);
    }
  };
  const running = run();
  return {
    recordDone: scripts.recordDone,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function round(
  deps: PurgeDeps,
  scripts: PurgeOrderScripts,
  signal: AbortSignal,
): Promise<readonly PurgeFailure[]> {
  const { redisClient } = deps;
  const orders = fieldsOf(await redisClient.read(configKeys.purges, "HGETALL", configKeys.purges));
  if (orders.size === 0 || (await isOfNewerVersion(redisClient))) return [];
  const done = new Set(textsOf(await redisClient.read(configKeys.purged, "HKEYS", configKeys.purged)));
  const open = [...orders].filter(([id]) => !done.has(id));
  if (open.length > 0) deps.onOpen?.(new Map(open));
  const purges = knownOrders(open);
  if (purges.length === 0 || !(await scripts.takeLock(lockMilliseconds))) return [];
  const failures: PurgeFailure[] = [];
  for (const given of purges) {
    try {
      await carryOut(deps, given, { scripts, signal });
    } catch (error) {
      // The next one may be of another project, on another node of a Cluster.
      failures.push({ order: given.order, error });
    }
  }
  await dropStaleNotes(redisClient, orders, done).catch((error: unknown) => failures.push({ error }));
  // The lock is left to run out, so that what fails is not tried again immediately.
  if (failures.length === 0) await redisClient.write(configKeys.purgeLock, "DEL", configKeys.purgeLock);
  return failures;
}

/** An order of a newer version may have a member that this one doesn't know and that narrows it. */
async function isOfNewerVersion(redisClient: RedisClient): Promise<boolean> {
  const { meta } = configKeys;
  return isNewerFormat(optionalText(await redisClient.read(meta, "HGET", meta, "format")));
}

interface GivenOrder {
  readonly id: string;
  readonly order: PurgeOrder;
}

/** An order that a newer operator wrote waits for a newer replica. */
function knownOrders(open: readonly (readonly [string, string])[]): readonly GivenOrder[] {
  return open.flatMap(([id, text]): readonly GivenOrder[] => {
    const order = readPurgeOrder(text);
    return order === undefined ? [] : [{ id, order }];
  });
}

interface Round {
  readonly scripts: PurgeOrderScripts;
  readonly signal: AbortSignal;
}

async function carryOut(deps: PurgeDeps, { id, order }: GivenOrder, { scripts, signal }: Round): Promise<void> {
  if ((await purge(deps, { id, order }, signal)) && (await isOpen(deps.redisClient, id))) {
    await scripts.recordDone(id, String(Date.now()));
    deps.onDone(id, order);
  }
}

/**
 * Removes records of orders that no longer exist. A replica that was paused just before it recorded
 * an order as done leaves one: meanwhile another replica had recorded it, and the operator had
 * dropped the order.
 */
async function dropStaleNotes(
  redisClient: RedisClient,
  orders: ReadonlyMap<string, string>,
  done: ReadonlySet<string>,
): Promise<void> {
  const { purged } = configKeys;
  const stale = [...done].filter((id) => !orders.has(id));
  if (stale.length > 0) await redisClient.write(purged, "HDEL", purged, ...stale);
}

/** Checked before every step: while this replica was paused, another one may have finished. */
function stillOrdered({ redisClient }: PurgeDeps, id: string, signal: AbortSignal): MayContinue {
  return async () => {
    if (signal.aborted || !(await isOpen(redisClient, id))) return false;
    await redisClient.write(configKeys.purgeLock, "PEXPIRE", configKeys.purgeLock, lockMilliseconds);
    return true;
  };
}

/**
 * False when it was interrupted before the end. If this replica is paused meanwhile, a step removes
 * nothing that was stored since.
 */
async function purge(
  deps: PurgeDeps,
  { id, order }: { readonly id: string; readonly order: PurgeOrder },
  signal: AbortSignal,
): Promise<boolean> {
  const mayContinue = stillOrdered(deps, id, signal);
  const { project } = order;
  switch (order.what) {
    case "rootkey":
      return purgeDocument(deps.store, { project, rootKey: order.name }, mayContinue);
    case "resource":
      return purgeCollection(deps.store, { project, resource: order.name }, mayContinue);
    case "sessions":
      return purgeProjectSessions(deps.store, { project, projectUid: order.projectUid }, mayContinue);
  }
}

async function isOpen(redisClient: RedisClient, id: string): Promise<boolean> {
  const { purges, purged } = configKeys;
  const [isOrdered, isDone] = await Promise.all([
    redisClient.read(purges, "HEXISTS", purges, id),
    redisClient.read(purged, "HEXISTS", purged, id),
  ]);
  return isOrdered === 1 && isDone === 0;
}

/**
 * The scripts by which a replica takes orders about stored data and records which are done. They
 * run while Redis' memory is used up: the data to remove may be what fills it.
 */
interface PurgeOrderScripts {
  /** False when another replica has it. Two would be wasteful, not wrong: the lock has no owner. */
  takeLock(milliseconds: number): Promise<boolean>;
  recordDone(id: string, mark: string): Promise<void>;
}

function createPurgeOrderScripts(redisClient: RedisClient): PurgeOrderScripts {
  const folder = new URL("./scripts/", import.meta.url);
  const load = (name: string) => runsWithoutMemory(loadScript(folder, name, "write"));
  const takeLock = load("take-purge-lock-1");
  const recordPurged = load("record-purged-1");
  return {
    async takeLock(milliseconds) {
      const [code] = listOf(await redisClient.run(takeLock, [configKeys.purgeLock], [randomUUID(), milliseconds]));
      return numberOf(code) === 0;
    },
    async recordDone(id, mark) {
      await redisClient.run(recordPurged, [configKeys.purged], [id, mark]);
    },
  };
}
