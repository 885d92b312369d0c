// The right to write configuration, kept up: opens Redis when it is there, begins a publisher of
// its own, looks now and then whether it is still the writer, and begins again when Redis was
// emptied or another one wrote. Rejects with StoreUnavailable while Redis is away.

import { Backoff } from "../../core/backoff.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type Monotonic, systemMonotonic } from "../../core/timers.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import type { Availability } from "./availability.ts";
import type { Publisher } from "./publisher.ts";
import type { Purges } from "./purges.ts";
import { type RedisContested, RedisRefused } from "./refusals.ts";
import type { CheckOrders, CopyOrders } from "./replica-orders.ts";

/** What is open while Redis can be reached. */
export interface OpenRedis {
  readonly redisClient: RedisClient;
  readonly publisher: Publisher;
  readonly purges: Purges;
  readonly checkOrders: CheckOrders;
  readonly copyOrders: CopyOrders;
  readonly acknowledgements: Acknowledgements;
}

export interface ConfigWriter {
  /**
   * All that writes, within a session: a new one once the publisher has found that it can't write
   * any more.
   */
  session(): Promise<OpenRedis>;
  /** Whether a replica serves the Project, where its newest revision is not known. */
  availabilityOf(ref: ProjectRef): Availability;
  /** One check, for a timer; begins a new session where that is needed. Rejects like `session`. */
  verify(): Promise<void>;
  /** Nothing is opened or begun afterwards. */
  close(): void;
}

export interface ConfigWriterDeps {
  /** Rejects with StoreUnavailable while Redis is away. */
  readonly open: () => Promise<OpenRedis>;
  /** Whether this process still holds the Lease, asked before the epoch is taken. */
  readonly confirm: () => Promise<boolean>;
  /** Take the Redis of another installation over, once. */
  readonly takeOver: boolean;
  /**
   * Called with each check that finds a Redis that is not to be written; it is over with the next
   * session.
   */
  readonly onRefused?: (refusal: RedisRefused) => void;
  /** Called with each Redis of another installation that was taken over. */
  readonly onTakenOver?: (refusal: RedisContested) => void;
  /**
   * Called when a session has begun, before anything is written: everything has to be published.
   */
  readonly onSessionBegun: (redis: OpenRedis) => Promise<void>;
  readonly monotonic?: Monotonic;
}

/**
 * After an opening or a beginning that failed, the next one waits, unless a look asks for it: ten
 * thousand Projects ask meanwhile.
 */
const retries = { firstMs: 250, maxMs: 5_000, jitter: 0 };

export function createConfigWriter(deps: ConfigWriterDeps): ConfigWriter {
  const { open, confirm, takeOver, onSessionBegun, onRefused, onTakenOver, monotonic = systemMonotonic } = deps;
  let opening: Promise<OpenRedis> | undefined;
  let opened: OpenRedis | undefined;
  let beginning: Promise<OpenRedis> | undefined;
  let current: OpenRedis | undefined;
  let closed = false;

  let refusal: { readonly error: unknown; readonly until: number } | undefined;

  const backoff = new Backoff(retries);
  const refuse = (error: unknown): void => {
    refusal = { error, until: monotonic() + backoff.next() };
  };
  const ensureOpen = (): Promise<OpenRedis> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      refuse(error);
      throw error;
    });
    return opening;
  };
  const begin = async (isDue: boolean): Promise<OpenRedis> => {
    if (refusal !== undefined && !isDue && monotonic() < refusal.until) throw refusal.error;
    // The publisher can write once begin() returns. The session counts as begun only after
    // onSessionBegun.
    current = undefined;
    const redis = await ensureOpen();
    opened = redis;
    try {
      const overridden = await redis.publisher.begin({ confirm, takeOver });
      if (overridden !== undefined) onTakenOver?.(overridden);
    } catch (error) {
      // A refusal lasts, so the next attempt waits for the backoff.
      if (error instanceof RedisRefused) {
        refuse(error);
        onRefused?.(error);
      }
      throw error;
    }
    try {
      await onSessionBegun(redis);
    } catch (error) {
      // The next beginning ends the session in which others may be publishing.
      refuse(error);
      throw error;
    }
    refusal = undefined;
    backoff.reset();
    current = redis;
    return redis;
  };
  const ensureSession = async (isDue: boolean): Promise<OpenRedis> => {
    if (closed) throw new StoreUnavailable("Configuration is not written any more");
    if (beginning === undefined && current?.publisher.isWriter()) return current;
    beginning ??= begin(isDue).finally(() => {
      beginning = undefined;
    });
    return await beginning;
  };

  return {
    session: () => ensureSession(false),
    availabilityOf: (ref) => opened?.acknowledgements.availabilityOf(ref, Number.POSITIVE_INFINITY) ?? "unknown",
    async verify() {
      const { publisher } = await ensureSession(true);
      if ((await publisher.verify()) === "lost") await ensureSession(true);
    },
    close() {
      closed = true;
      void opening?.then(
        ({ acknowledgements, redisClient }) => {
          acknowledgements.stop();
          redisClient.disconnect();
        },
        () => undefined,
      );
    },
  };
}
