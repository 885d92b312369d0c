// The right to write configuration, kept up: opens Redis when it is there, begins a publisher of its own, looks now and then
// whether it is still the writer, and begins anew when Redis was emptied or another one wrote. Rejects with StoreUnavailable
// while Redis is away.

import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type Monotonic, systemMonotonic } from "../../core/timers.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import type { Publisher } from "./publisher.ts";
import type { Purges } from "./purges.ts";
import { RedisRefused } from "./refusals.ts";

/** What is open while Redis can be reached. */
export interface OpenConfig {
  readonly redisClient: RedisClient;
  readonly publisher: Publisher;
  readonly purges: Purges;
  readonly acknowledgements: Acknowledgements;
}

export interface ConfigWriter {
  /** Everything that writes, after a beginning: anew when the publisher has found out that it can't write any more. */
  begun(): Promise<OpenConfig>;
  /** One look, for a timer; begins anew where that is needed. Rejects like `begun`. */
  verify(): Promise<void>;
  /** Nothing is opened or begun afterwards. */
  close(): void;
}

export interface ConfigWriterDeps {
  /** Rejects with StoreUnavailable while Redis is away. */
  readonly open: () => Promise<OpenConfig>;
  /** Whether this process still holds the Lease, asked before the epoch is taken. */
  readonly confirm: () => Promise<boolean>;
  /** Take the Redis of another installation over, once. */
  readonly takeOver: boolean;
  /** Called with each look at which the Redis is another installation's; it is over with the next beginning. */
  readonly onRefused?: (refusal: RedisRefused) => void;
  /** Called with each Redis of another installation that was taken over. */
  readonly onTakenOver?: (refusal: RedisRefused) => void;
  /** Called after each beginning, before anything is written: everything has to be published. */
  readonly onBegun: (config: OpenConfig) => Promise<void>;
  readonly monotonic?: Monotonic;
}

/** After an opening or a beginning that failed, the next one waits, unless a look asks for it: ten thousand Projects ask meanwhile. */
const firstBackoffMs = 250;
const maxBackoffMs = 5_000;

export function createConfigWriter(deps: ConfigWriterDeps): ConfigWriter {
  const { open, confirm, takeOver, onBegun, onRefused, onTakenOver, monotonic = systemMonotonic } = deps;
  let opening: Promise<OpenConfig> | undefined;
  let beginning: Promise<OpenConfig> | undefined;
  let current: OpenConfig | undefined;
  let closed = false;

  let refusal: { readonly error: unknown; readonly until: number; readonly backoffMs: number } | undefined;

  const refuse = (error: unknown): void => {
    const backoffMs = Math.min((refusal?.backoffMs ?? firstBackoffMs / 2) * 2, maxBackoffMs);
    refusal = { error, backoffMs, until: monotonic() + backoffMs };
  };
  const opened = (): Promise<OpenConfig> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      refuse(error);
      throw error;
    });
    return opening;
  };
  const begin = async (isDue: boolean): Promise<OpenConfig> => {
    if (refusal !== undefined && !isDue && monotonic() < refusal.until) throw refusal.error;
    const config = await opened();
    // Until `onBegun` is done, nothing is written: if it fails, the next call begins again.
    current = undefined;
    try {
      const overridden = await config.publisher.begin({ confirm, takeOver });
      if (overridden !== undefined) onTakenOver?.(overridden);
    } catch (error) {
      // It stands for longer than a moment.
      if (error instanceof RedisRefused) {
        refuse(error);
        onRefused?.(error);
      }
      throw error;
    }
    refusal = undefined;
    await onBegun(config);
    current = config;
    return config;
  };
  const begunAt = async (isDue: boolean): Promise<OpenConfig> => {
    if (closed) throw new StoreUnavailable("Configuration is not written any more");
    if (beginning === undefined && current?.publisher.writes()) return current;
    beginning ??= begin(isDue).finally(() => {
      beginning = undefined;
    });
    return await beginning;
  };

  return {
    begun: () => begunAt(false),
    async verify() {
      const { publisher } = await begunAt(true);
      if ((await publisher.verify()) === "lost") await begunAt(true);
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
