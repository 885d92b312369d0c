// Reports to the operator what this replica serves: the revision that it has applied, the fields
// that it can't use, and which keys of external issuers it is missing. The report is also its
// heartbeat. Only this replica's own keys are written; they expire when it dies.

import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { configFormat } from "../../core/config/fields.ts";
import { maxWanted, type WantedKeys, wantedForMs } from "../../core/config/wanted-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { loadScript, runsWithoutMemory } from "../../core/redis/script.ts";
import { type Monotonic, systemMonotonic } from "../../core/timers.ts";
import type { FieldRefusal } from "./load-project.ts";

export interface Acknowledger {
  /** Sends within 20 ms; a later call in that time replaces this one. */
  applied(revision: number, refusals: readonly FieldRefusal[]): void;
  /** Sends it soon, and with every heartbeat for `wantedForMs`. */
  wantKeys(wanted: WantedKeys): void;
  /** Takes the replica off the list, so that nobody waits for it. */
  stop(): Promise<void>;
}

/** Gathers a burst of changes into one acknowledgement. */
const gatherMilliseconds = 20;
/** Refused fields that one acknowledgement names at most; the log has all of them. */
const maxRefusals = 100;
/** Collections whose indexes are being built, likewise: there is a status for each. */
const maxBuilding = 100;

/** What a replica says of itself with every heartbeat. */
export interface OwnState {
  /** The ids of the keys in its ring: a new key encrypts only after every replica has it. */
  kids(): readonly string[];
  building(): readonly BuildingIndexes[];
  /** How often it says so, 5,000 by default. */
  readonly heartbeatMs?: number | undefined;
  readonly monotonic?: Monotonic;
}

export function createAcknowledger(redisClient: RedisClient, replica: string, own: OwnState): Acknowledger {
  const folder = new URL("./scripts/", import.meta.url);
  const acknowledge = runsWithoutMemory(loadScript(folder, "acknowledge-2", "write"));
  const keys = [configKeys.replicas, acknowledgementKey(replica)];
  let state: { readonly revision: number; readonly refusals: readonly FieldRefusal[] } | undefined;
  const wanted = createWantedList(own.monotonic ?? systemMonotonic);
  let soon: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  const send = (): void => {
    soon = undefined;
    if (state === undefined) return;
    const reported = [state.refusals.slice(0, maxRefusals), own.kids(), own.building().slice(0, maxBuilding)];
    const args = [replica, state.revision, ...reported.map((each) => JSON.stringify(each)), configFormat];
    args.push(JSON.stringify(wanted.current()));
    // A lost one is made up for by the next heartbeat.
    sending = sending
      .then(() => redisClient.run(acknowledge, keys, args))
      .then(
        () => undefined,
        () => undefined,
      );
  };
  const sendSoon = (): void => {
    soon ??= setTimeout(send, gatherMilliseconds).unref();
  };
  const heartbeat = setInterval(send, own.heartbeatMs ?? 5_000).unref();

  return {
    applied(revision, refusals) {
      state = { revision, refusals };
      sendSoon();
    },
    wantKeys(keys) {
      wanted.add(keys);
      sendSoon();
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

interface WantedList {
  add(keys: WantedKeys): void;
  /** The wants to list: if there are too many, the oldest, then the others in turn. */
  current(): readonly WantedKeys[];
}

function createWantedList(monotonic: Monotonic): WantedList {
  /** By project and issuer, oldest first, with the first time: no project displaces another's. */
  const wanted = new Map<string, { readonly keys: WantedKeys; readonly since: number | undefined }>();
  return {
    add(keys) {
      const name = `${keys.project} ${keys.issuer}`;
      const known = wanted.get(name);
      // One that still waits for its turn keeps it.
      if (known !== undefined && known.since === undefined) return;
      wanted.delete(name);
      wanted.set(name, { keys, since: undefined });
    },
    current() {
      const now = monotonic();
      for (const [name, { since = now }] of wanted) if (now - since >= wantedForMs) wanted.delete(name);
      const listed = [...wanted].slice(0, maxWanted);
      for (const [name, { keys, since = now }] of listed) wanted.set(name, { keys, since });
      return listed.map(([, { keys }]) => keys);
    },
  };
}
