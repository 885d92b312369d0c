// What the leader does besides reconciling: says when everything has been published once, finds what no object explains, looks
// whether Redis was emptied, how much memory it uses and when its certificate ends, renews the fleet's ring, sweeps what is left behind, and looks at everything again now and then.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import { type Monotonic, pause, type Timers } from "../../core/timers.ts";
import { checkMissing, Suspicions } from "../finalize/confirmed-deletions.ts";
import { awaitsPurge, type DataRecord, hasGuarded } from "../model/data-record.ts";
import type { Publisher } from "../publish/publisher.ts";
import { RedisRefused } from "../publish/refusals.ts";
import type { WorkQueue } from "../queue/work-queue.ts";

export interface MaintenanceDeps {
  readonly queue: WorkQueue;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Aborted when leadership ends. */
  readonly signal: AbortSignal;
  /** Keys of all Projects that objects name. */
  readonly keys: () => Iterable<string>;
  /** False of a namespace whose objects are not known. */
  readonly knows: (namespace: string) => boolean;
  readonly publisher: () => Promise<Publisher>;
  readonly verify: () => Promise<void>;
  readonly rotateRing: () => Promise<unknown>;
  /** How much memory Redis uses, and when its certificate ends: as soon as a publisher has begun, and regularly from then on. */
  readonly lookAtRedis: () => Promise<void>;
  readonly sweepOrphans: () => Promise<unknown>;
}

export interface Maintenance {
  /**
   * A publisher has begun: everything is to be looked at, and it is complete once that was done. `lost` = keys that come before all others,
   * in this order: Redis has lost what was published of them, and what they revoked is accepted until it is published again.
   */
  begun(lost: readonly string[]): void;
  /**
   * The Redis is another installation's. Everything is looked at once, where that is news, for the statuses to say so; an installation that takes
   * it from a running one may withdraw what that one served. It is over when a publisher has begun.
   */
  refused(refusal: RedisRefused): void;
  /** How often one has. */
  beginning(): number;
  /** A key was worked through. Everything is published once each was, with nothing missing in Redis that is served of it. */
  processed(key: string, published: boolean): void;
  /** Runs until the signal aborts. */
  run(): Promise<void>;
}

const verifyMs = 2_000;
const ringMs = 5_000;
const redisLookMs = 15_000;
const resyncMs = 600_000;
const orphansMs = 60_000;
const suspicionMs = 15_000;

export function createMaintenance(deps: MaintenanceDeps): Maintenance {
  const { queue, logger } = deps;
  /** Keys that have not been published since the last beginning; undefined once all were. */
  let pending: Set<string> | undefined = new Set();
  let beginnings = 0;
  /** Why the Redis is left to another installation. */
  let refusedFor: string | undefined;

  const attempt = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      // A refusal was logged when it began.
      if (deps.signal.aborted || error instanceof RedisRefused) return;
      logger.warn("Maintenance failed", { what, error: describeError(error) });
    }
  };

  let isAway = false;
  /** What somebody changed while Redis was away waits for its backoff, a minute at most, and may be a revocation. */
  const verify = async (): Promise<void> => {
    try {
      await deps.verify();
    } catch (error) {
      isAway = true;
      throw error;
    }
    if (isAway) queue.hurry();
    isAway = false;
  };

  const orphans = createOrphanLook(deps, attempt);

  const complete = async (): Promise<void> => {
    if (pending === undefined || pending.size > 0) return;
    const publisher = await deps.publisher();
    // Asking for the publisher may begin a new session, for a Redis that was emptied: everything is pending again then.
    if (pending === undefined || pending.size > 0) return;
    const session = beginnings;
    await publisher.complete();
    if (beginnings !== session) return;
    pending = undefined;
    logger.info("All Projects are published");
    await orphans();
  };

  const every = async (milliseconds: number, what: string, run: () => Promise<unknown>): Promise<void> => {
    while (!deps.signal.aborted) {
      const jittered = milliseconds * (0.9 + 0.2 * deps.random());
      await pause(deps.timers, jittered, deps.signal).catch(() => undefined);
      if (!deps.signal.aborted) await attempt(what, run);
    }
  };

  return {
    beginning: () => beginnings,
    begun(lost) {
      beginnings += 1;
      if (refusedFor !== undefined) logger.info("Redis belongs to this installation again");
      refusedFor = undefined;
      void attempt("Redis' servers", deps.lookAtRedis);
      pending = new Set(deps.keys());
      for (const key of lost) queue.add(key, "live");
      for (const key of pending) queue.add(key, "bulk");
      if (pending.size === 0) void attempt("complete", complete);
    },
    refused({ message, writer }) {
      if (message === refusedFor) return;
      refusedFor = message;
      logger.warn("Redis belongs to another installation; not writing to it", { why: message, writer });
      for (const key of deps.keys()) queue.add(key, "bulk");
    },
    processed(key, published) {
      if (pending === undefined || !published) return;
      if (pending.delete(key) && pending.size === 0) void attempt("complete", complete);
    },
    async run() {
      await attempt("verify", verify);
      await Promise.all([
        every(verifyMs, "verify", async () => {
          await verify();
          await complete();
        }),
        every(ringMs, "ring", deps.rotateRing),
        every(redisLookMs, "Redis' servers", deps.lookAtRedis),
        every(orphansMs, "orphans", async () => {
          if (pending === undefined) await orphans();
          else logger.info("Some Projects are not published yet", { projects: pending.size, one: [...pending].at(0) });
          await deps.sweepOrphans();
        }),
        every(resyncMs, "resync", async () => {
          for (const key of deps.keys()) queue.add(key, "bulk");
        }),
      ]);
    },
  };
}

/**
 * Looks for what is published, or has data to be purged, and belongs to no object: it is withdrawn by its own reconcile. Data of Projects that were
 * withdrawn before, and whose last objects went while no operator ran, count as kept from then on.
 */
function createOrphanLook(
  deps: MaintenanceDeps,
  attempt: (what: string, run: () => Promise<unknown>) => Promise<void>,
): () => Promise<void> {
  const { queue, logger } = deps;
  const suspicions = new Suspicions(suspicionMs, deps.monotonic);
  const orphans = async (): Promise<void> => {
    const publisher = await deps.publisher();
    const present = new Set(deps.keys());
    const known = (await publisher.published()).filter(({ namespace }) => deps.knows(namespace));
    const published = new Set(known.map(keyOfProject));
    const { gone, waiting, missing } = checkMissing({
      published,
      present,
      deleted: new Set(),
      suspected: suspicions.due(),
    });
    suspicions.look(missing);
    const isThere = (key: string) => present.has(key) || published.has(key) || !deps.knows(projectOfKey(key).namespace);
    for (const key of [...gone, ...leftBehind(publisher.dataRecords(), isThere)]) queue.add(key, "bulk");
    if (waiting.size === 0) return;
    logger.warn("Most published projects have no Project any more; checking again before they are withdrawn", {
      projects: waiting.size,
    });
    void attempt("orphans", lookAgain);
  };

  const lookAgain = async (): Promise<void> => {
    await pause(deps.timers, suspicionMs, deps.signal).catch(() => undefined);
    if (!deps.signal.aborted) await orphans();
  };
  return orphans;
}

/** Keys of which there are only data: to be purged, or of objects that nobody has seen go. */
function leftBehind(records: ReadonlyMap<string, DataRecord>, isThere: (key: string) => boolean): readonly string[] {
  const left = [...records].filter(([key, record]) => awaitsPurge(record) || (hasGuarded(record) && !isThere(key)));
  return left.map(([key]) => key);
}
