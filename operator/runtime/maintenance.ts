// What the leader does besides reconciling: says when everything has been published once, finds
// what no object explains, looks whether Redis was emptied, how much memory it uses, when its
// certificate ends and how many objects it stores, renews the fleet's ring, sweeps what is left
// behind, and looks at everything again now and then.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import { awaitsPurge, type DataInventory, mayDependOnObject } from "../model/data-inventory.ts";
import type { Publisher } from "../publish/publisher.ts";
import { RedisRefused } from "../publish/refusals.ts";
import type { WorkQueue } from "../queue/work-queue.ts";

export interface MaintenanceDeps extends OrphanedProjectsDeps {
  readonly queue: WorkQueue;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Aborted when leadership ends. */
  readonly signal: AbortSignal;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly verify: () => Promise<void>;
  readonly rotateKeyRing: () => Promise<unknown>;
  /**
   * How much memory Redis uses, and when its certificate ends: as soon as a writer session has
   * begun, and regularly from then on.
   */
  readonly lookAtRedis: () => Promise<void>;
  /** Of a Redis that comes with the installation. */
  readonly renewRedisCertificate: () => Promise<void>;
  /** Counts of stored objects, and use of quotas: likewise. */
  readonly refreshUsage: () => Promise<void>;
  /** Orders about stored data that replicas carry out: likewise, and often while there are some. */
  readonly refreshOrders: () => Promise<void>;
  readonly sweepOrphans: () => Promise<unknown>;
}

export interface Maintenance {
  /**
   * A writer session has begun: every Project is reconciled once, and everything is complete after
   * that. `lost` = keys that come before all others, in this order: Redis has lost what was
   * published of them, and accepts what they revoked until they are published again.
   */
  onSessionBegun(lost: readonly string[]): void;
  /**
   * Redis must not be written to, for example because it belongs to another installation. Where
   * that is news, every Project is reconciled once, so that its statuses report it; an installation
   * that takes a Redis from a running one may withdraw what that one served. It is over when a
   * writer session has begun.
   */
  refused(refusal: RedisRefused): void;
  /** How many writer sessions have begun. */
  sessionCount(): number;
  /**
   * A key was worked through. Everything is published once each was, with nothing missing in Redis
   * that is served of it.
   */
  processed(key: string, nothingMissing: boolean): void;
  /** Runs until the signal aborts. */
  run(): Promise<void>;
}

const verifyMs = 2_000;
const keyRingMs = 5_000;
const redisLookMs = 15_000;
const redisCertificateMs = 15_000;
const usageMs = 60_000;
const ordersMs = 2_000;
const resyncMs = 600_000;
const orphansMs = 60_000;

export function createMaintenance(deps: MaintenanceDeps): Maintenance {
  const { queue, logger } = deps;
  /** Keys that have not been published since the session began; undefined once all were. */
  let pending: Set<string> | undefined = new Set();
  let sessions = 0;
  /** Why the Redis is not written. */
  let refusedFor: string | undefined;

  const runTask = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      // A refusal was logged when it began.
      if (deps.signal.aborted || error instanceof RedisRefused) return;
      logger.warn("Maintenance failed", { task: name, error: describeError(error) });
    }
  };

  let redisUnavailable = false;
  /**
   * A change that came while Redis was unavailable waits for its backoff, a minute at most, and may
   * be a revocation.
   */
  const verify = async (): Promise<void> => {
    try {
      await deps.verify();
    } catch (error) {
      redisUnavailable = true;
      throw error;
    }
    if (redisUnavailable) queue.retryNow();
    redisUnavailable = false;
  };

  const enqueueOrphans = async (): Promise<void> => {
    for (const key of await orphanedProjects(deps)) queue.add(key, "bulk");
  };

  const complete = async (): Promise<void> => {
    if (pending?.size !== 0) return;
    const before = sessions;
    const publisher = await deps.publisher();
    // Whoever asks for the publisher of a Redis that was emptied begins again, or waits for the
    // beginning under way: then all is to be published again.
    if (sessions !== before) return;
    await publisher.complete();
    if (sessions !== before) return;
    pending = undefined;
    logger.info("All Projects are published");
    await enqueueOrphans();
  };

  const every = async (milliseconds: number, name: string, run: () => Promise<unknown>): Promise<void> => {
    while (!deps.signal.aborted) {
      const jittered = milliseconds * (0.9 + 0.2 * deps.random());
      if (await pauseUnlessAborted(deps.timers, jittered, deps.signal)) await runTask(name, run);
    }
  };

  return {
    sessionCount: () => sessions,
    onSessionBegun(lost) {
      sessions += 1;
      if (refusedFor !== undefined) logger.info("Writing to Redis again");
      refusedFor = undefined;
      void runTask("redis-info", deps.lookAtRedis);
      void runTask("usage", deps.refreshUsage);
      pending = new Set(deps.keys());
      for (const key of lost) queue.add(key, "live");
      for (const key of pending) queue.add(key, "bulk");
      if (pending.size === 0) void runTask("complete", complete);
    },
    refused({ message, reason, facts }) {
      if (message === refusedFor) return;
      refusedFor = message;
      logger.warn("Not writing to Redis", { reason, why: message, ...facts });
      for (const key of deps.keys()) queue.add(key, "bulk");
    },
    processed(key, nothingMissing) {
      if (pending === undefined || !nothingMissing) return;
      if (pending.delete(key) && pending.size === 0) void runTask("complete", complete);
    },
    async run() {
      await runTask("verify", verify);
      await Promise.all([
        every(verifyMs, "verify", async () => {
          await verify();
          await complete();
        }),
        every(keyRingMs, "rotate-ring", deps.rotateKeyRing),
        every(redisLookMs, "redis-info", deps.lookAtRedis),
        every(redisCertificateMs, "redis-certificate", deps.renewRedisCertificate),
        every(usageMs, "usage", deps.refreshUsage),
        every(ordersMs, "orders", deps.refreshOrders),
        every(orphansMs, "orphans", async () => {
          if (pending === undefined) await enqueueOrphans();
          else
            logger.info("Some Projects are not published yet", { projects: pending.size, example: [...pending].at(0) });
          await deps.sweepOrphans();
        }),
        every(resyncMs, "resync", async () => {
          for (const key of deps.keys()) queue.add(key, "bulk");
        }),
      ]);
    },
  };
}

export interface OrphanedProjectsDeps {
  /** Keys of all Projects that objects name. */
  readonly keys: () => Iterable<string>;
  /** False of a namespace whose objects are not known. */
  readonly isCurrent: (namespace: string) => boolean;
  readonly publisher: () => Promise<Publisher>;
}

/**
 * Keys of what is published, or has data to be purged, and belongs to no object: its own reconcile
 * confirms that, and withdraws it. What was withdrawn before, and whose last objects went while
 * nobody looked, is among them: its data count as kept from then on.
 */
export async function orphanedProjects(deps: OrphanedProjectsDeps): Promise<readonly string[]> {
  const publisher = await deps.publisher();
  const present = new Set(deps.keys());
  const known = (await publisher.published()).filter(({ namespace }) => deps.isCurrent(namespace));
  const published = new Set(known.map(keyOfProject));
  const isThere = (key: string) =>
    present.has(key) || published.has(key) || !deps.isCurrent(projectOfKey(key).namespace);
  return [...published.difference(present), ...leftBehind(publisher.dataInventories(), isThere)];
}

/** Keys of which there are only data: to be purged, or of objects that nobody has seen go. */
function leftBehind(
  inventories: ReadonlyMap<string, DataInventory>,
  isThere: (key: string) => boolean,
): readonly string[] {
  const left = [...inventories].filter(
    ([key, inventory]) => awaitsPurge(inventory) || (mayDependOnObject(inventory) && !isThere(key)),
  );
  return left.map(([key]) => key);
}
