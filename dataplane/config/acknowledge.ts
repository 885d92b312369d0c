// Reports to the operator what this replica serves: the revision that it has applied and the fields that it can't use, renewed as
// a heartbeat. Only this replica's own keys are written; they expire when it dies.

import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { configFormat } from "../../core/config/fields.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { loadScript, runsWithoutMemory } from "../../core/redis/script.ts";
import type { Nack } from "./load-project.ts";

export interface Acknowledger {
  /** Sends soon; of several in one moment the last. */
  applied(revision: number, nacks: readonly Nack[]): void;
  /** Takes the replica off the list, so that nobody waits for it. */
  stop(): Promise<void>;
}

/** Gathers a burst of changes into one acknowledgement. */
const gatherMilliseconds = 20;
/** Nacks that one acknowledgement names at most; the log has all of them. */
const maxNacks = 100;
/** Collections whose indexes are being built, likewise: there is a status for each. */
const maxBuilding = 100;

/** What a replica says of itself with every heartbeat. */
export interface OwnState {
  /** The ids of the keys that its ring has now: a new one seals only after every replica has it. */
  kids(): readonly string[];
  building(): readonly BuildingIndexes[];
  /** How often it says so, 5,000 by default. */
  readonly heartbeatMs?: number | undefined;
}

export function createAcknowledger(redisClient: RedisClient, replica: string, own: OwnState): Acknowledger {
  const folder = new URL("./scripts/", import.meta.url);
  const acknowledge = runsWithoutMemory(loadScript(folder, "acknowledge-2", "write"));
  const keys = [configKeys.replicas, acknowledgementKey(replica)];
  let state: { readonly revision: number; readonly nacks: readonly Nack[] } | undefined;
  let soon: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  const send = (): void => {
    soon = undefined;
    if (state === undefined) return;
    const reported = [state.nacks.slice(0, maxNacks), own.kids(), own.building().slice(0, maxBuilding)];
    const args = [replica, state.revision, ...reported.map((each) => JSON.stringify(each)), configFormat];
    // A lost one is made up for by the next heartbeat.
    sending = sending
      .then(() => redisClient.run(acknowledge, keys, args))
      .then(
        () => undefined,
        () => undefined,
      );
  };
  const heartbeat = setInterval(send, own.heartbeatMs ?? 5_000).unref();

  return {
    applied(revision, nacks) {
      state = { revision, nacks };
      soon ??= setTimeout(send, gatherMilliseconds).unref();
    },
    async stop() {
      clearInterval(heartbeat);
      clearTimeout(soon);
      state = undefined;
      await sending;
      const [replicas = "", acknowledgement = ""] = keys;
      // Should Redis be away, both end by themselves.
      await redisClient.write(replicas, "ZREM", replicas, replica).catch(() => undefined);
      await redisClient.write(acknowledgement, "DEL", acknowledgement).catch(() => undefined);
    },
  };
}
