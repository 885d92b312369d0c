// The right to write configuration, kept up: opens Redis when it is there, begins a publisher of its own, looks now and then
// whether it is still the writer, and begins anew when Redis was emptied or another one wrote. Rejects with StoreUnavailable
// while Redis is away.

import type { Gateway } from "../../core/redis/gateway.ts";
import type { Acknowledgements } from "./acknowledgements.ts";
import type { Publisher } from "./publisher.ts";
import type { Purges } from "./purges.ts";

/** What is open while Redis can be reached. */
export interface OpenConfig {
  readonly gateway: Gateway;
  readonly publisher: Publisher;
  readonly purges: Purges;
  readonly acknowledgements: Acknowledgements;
}

export interface ConfigWriter {
  /** Everything that writes, after a beginning. */
  begun(): Promise<OpenConfig>;
  /** One look, for a timer; begins anew where that is needed. Rejects like `begun`. */
  verify(): Promise<void>;
  /** The writer that was handed out can't write any more: the next `begun` begins anew. */
  lost(): void;
  close(): void;
}

export interface ConfigWriterDeps {
  /** Rejects with StoreUnavailable while Redis is away. */
  readonly open: () => Promise<OpenConfig>;
  /** Whether this process still holds the Lease, asked after the epoch was taken. */
  readonly confirm: () => Promise<boolean>;
  /** Take the Redis of another installation over. */
  readonly takeOver: boolean;
  /** Told after each beginning, before anything is written: everything has to be published. */
  readonly onBegun: (config: OpenConfig) => Promise<void>;
}

export function createConfigWriter({ open, confirm, takeOver, onBegun }: ConfigWriterDeps): ConfigWriter {
  let opening: Promise<OpenConfig> | undefined;
  let beginning: Promise<OpenConfig> | undefined;

  const opened = (): Promise<OpenConfig> => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const begin = async (): Promise<OpenConfig> => {
    const config = await opened();
    await config.publisher.begin({ confirm, takeOver });
    await onBegun(config);
    return config;
  };
  const begun = (): Promise<OpenConfig> => {
    beginning ??= begin().catch((error: unknown) => {
      beginning = undefined;
      throw error;
    });
    return beginning;
  };
  const lost = (): void => {
    beginning = undefined;
  };

  return {
    begun,
    lost,
    async verify() {
      const { publisher } = await begun();
      if ((await publisher.verify()) === "writer") return;
      lost();
      await begun();
    },
    close() {
      void opening?.then(
        ({ acknowledgements, gateway }) => {
          acknowledgements.stop();
          gateway.disconnect();
        },
        () => undefined,
      );
    },
  };
}
