// Reads what the live replicas have acknowledged, in order of their names. Live = heartbeat younger than fifteen seconds by
// Redis' clock.

import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { listOf, optionalText, textsOf } from "../../core/redis/reply.ts";

export interface ReplicaState {
  readonly replica: string;
  /** It can no longer serve anything older; 0 when it has not said so yet. */
  readonly revision: number;
  readonly nacks: readonly { readonly project: string; readonly field: string; readonly reason: string }[];
  /** Key ids of the fleet ring that it has. */
  readonly kids: readonly string[];
  readonly building: readonly BuildingIndexes[];
}

const liveMilliseconds = 15_000;

export async function liveReplicas(gateway: Gateway): Promise<readonly ReplicaState[]> {
  const { replicas } = configKeys;
  const [seconds, microseconds] = textsOf(await gateway.read(replicas, "TIME"));
  const now = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  const names = textsOf(await gateway.read(replicas, "ZRANGEBYSCORE", replicas, now - liveMilliseconds, "+inf"));
  return Promise.all(names.toSorted().map((name) => stateOf(gateway, name)));
}

async function stateOf(gateway: Gateway, replica: string): Promise<ReplicaState> {
  const key = acknowledgementKey(replica);
  const reply = await gateway.read(key, "HMGET", key, "revision", "nacks", "kids", "building");
  const [revision, nacks, kids, building] = listOf(reply).map(optionalText);
  return {
    replica,
    revision: Number(revision ?? 0),
    nacks: JSON.parse(nacks ?? "[]") as ReplicaState["nacks"],
    kids: JSON.parse(kids ?? "[]") as ReplicaState["kids"],
    building: JSON.parse(building ?? "[]") as ReplicaState["building"],
  };
}
