// Opens what a replica needs to follow the configuration in Redis: two connections, the directory,
// its acknowledgements. Refuses with InvalidRedisUrl or StoreUnavailable.

import type { Clock } from "../../core/clock.ts";
import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import type { WantedKeys } from "../../core/config/wanted-keys.ts";
import { connect } from "../../core/redis/connect.ts";
import type { CheckServer } from "../../core/redis/connection-gate.ts";
import { createRedisClient, type RedisClient } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { rereadMilliseconds } from "../../core/redis/stream-follower.ts";
import { systemTimers } from "../../core/timers.ts";
import { createAcknowledger } from "./acknowledge.ts";
import type { ConfigFit } from "./config-fit.ts";
import type { Directory } from "./directory.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";
import type { FieldRefusal } from "./load-project.ts";
import { createRedisDirectory } from "./redis-directory.ts";
import { type DataLoss, watchStore } from "./watch-store.ts";

export interface FollowedConfigOptions {
  readonly url: string;
  readonly keyring: FollowedKeyring;
  readonly clock: Clock;
  /** Names this replica among its siblings. */
  readonly replica: string;
  readonly maxLoaded?: number;
  /** How often revisions are compared, 5,000 by default. */
  readonly rereadMs?: number;
  /** How often the replica says that it lives, 5,000 by default. */
  readonly heartbeatMs?: number;
  readonly onRefusals?: (refusals: readonly FieldRefusal[]) => void;
  /** Called when this replica becomes unable, or able, to read the configuration in Redis. */
  readonly onFit?: (fit: ConfigFit) => void;
  /**
   * Called when data begin to be refused because Redis has lost them, and when they no longer are.
   */
  readonly onDataLoss?: (loss: DataLoss | undefined) => void;
  /**
   * Called when the Redis user loses, or gets, the right to read whether data were lost.
   */
  readonly onForbidden?: (forbidden: boolean) => void;
}

export interface FollowedConfig {
  readonly directory: Directory;
  /** For further readers of configuration keys. */
  readonly redisClient: RedisClient;
  /** The store calls it with each new connection: a loss of its data is known before it is used. */
  readonly checkServer: CheckServer;
  /** Where to get the indexes that this replica is building; heartbeats report them. */
  reportBuilding(ask: () => readonly BuildingIndexes[]): void;
  /** Asks the operator for keys of an external issuer that this replica does not have. */
  wantKeys(wanted: WantedKeys): void;
  close(): Promise<void>;
}

const commandTimeout = 2_000;

export async function openRedisDirectory(options: FollowedConfigOptions): Promise<FollowedConfig> {
  const target = parseRedisUrl(options.url);
  const commands = createRedisClient(await connect({ target, name: "jsonplane-config", commandTimeout }));
  const patience = (options.rereadMs ?? rereadMilliseconds) + commandTimeout;
  const waiting = createRedisClient(
    await connect({ target, name: "jsonplane-config-changes", commandTimeout: patience }).catch((error: unknown) => {
      commands.disconnect();
      throw error;
    }),
  );
  let building: () => readonly BuildingIndexes[] = () => [];
  const acknowledger = createAcknowledger(commands, options.replica, {
    kids: () => options.keyring.current().keys.map(({ kid }) => kid),
    building: () => building(),
    heartbeatMs: options.heartbeatMs,
  });
  const { onDataLoss: onLoss, onForbidden } = options;
  const store = watchStore({ commands, timers: systemTimers, onLoss, onForbidden });
  const { directory, stop } = createRedisDirectory({
    commands,
    waiting,
    keyring: options.keyring,
    clock: options.clock,
    rereadMs: options.rereadMs,
    beforeTaking: store.ensureChecked,
    onFit: options.onFit,
    ...(options.maxLoaded !== undefined && { maxLoaded: options.maxLoaded }),
    onApplied: acknowledger.applied,
    onRefused: options.onRefusals,
  });
  return {
    directory: {
      ...directory,
      synced: () => directory.synced() && store.hasChecked(),
      dataLost: store.isLost,
    },
    redisClient: commands,
    checkServer: store.checkWith,
    reportBuilding(ask) {
      building = ask;
    },
    wantKeys: acknowledger.wantKeys,
    async close() {
      await Promise.all([stop(), store.stop()]);
      await acknowledger.stop();
      commands.disconnect();
    },
  };
}
