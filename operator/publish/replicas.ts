// Reads what the live replicas have acknowledged, in order of their names. Live = heartbeat younger
// than fifteen seconds by Redis' clock. A field of an acknowledgement that can't be read counts as
// absent, and is named; the other replicas are not affected.

import type { BuildingIndexes } from "../../core/config/building-indexes.ts";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { readFormat } from "../../core/config/fields.ts";
import { maxWanted, type WantedKeys } from "../../core/config/wanted-keys.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText, textsOf } from "../../core/redis/reply.ts";

export interface ReplicaState {
  readonly replica: string;
  /** It can no longer serve anything older; 0 when it has not acknowledged any yet. */
  readonly revision: number;
  readonly refusals: readonly { readonly project: string; readonly field: string; readonly reason: string }[];
  /** Key ids of the fleet ring that it has. */
  readonly kids: readonly string[];
  readonly building: readonly BuildingIndexes[];
  /** Keys of external issuers that it met and does not have. */
  readonly wantedKeys: readonly WantedKeys[];
  /** The newest format of configuration that it reads; 0 when it says none. */
  readonly format: number;
  /** Fields of its acknowledgement that can't be read. */
  readonly unreadable: readonly string[];
}

/** How old a heartbeat may be. */
export const liveMs = 15_000;

export async function liveReplicas(redisClient: RedisClient): Promise<readonly ReplicaState[]> {
  const { replicas } = configKeys;
  const [seconds, microseconds] = textsOf(await redisClient.read(replicas, "TIME"));
  const now = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  const names = textsOf(await redisClient.read(replicas, "ZRANGEBYSCORE", replicas, now - liveMs, "+inf"));
  return Promise.all(names.toSorted().map((name) => stateOf(redisClient, name)));
}

async function stateOf(redisClient: RedisClient, replica: string): Promise<ReplicaState> {
  const key = acknowledgementKey(replica);
  const fields = ["revision", "refusals", "kids", "building", "format", "wantedKeys"];
  const reply = await redisClient.read(key, "HMGET", key, ...fields);
  const [revision, refusals, kids, building, format, wantedKeys] = listOf(reply).map(optionalText);
  const unreadable: string[] = [];
  const listIn = <T>(
    field: string,
    text: string | undefined,
    isEntry: (entry: unknown) => entry is T,
  ): readonly T[] => {
    const found = text === undefined ? [] : listOfJson(text);
    if (found?.every(isEntry)) return found;
    unreadable.push(field);
    return [];
  };
  const wanted = listIn("wantedKeys", wantedKeys, isWanted);
  const isBounded = wanted.length <= maxWanted;
  if (!isBounded) unreadable.push("wantedKeys");
  const reads = readFormat(format) ?? 0;
  const isFormat = Number.isFinite(reads);
  if (!isFormat) unreadable.push("format");
  const isRevision = /^[0-9]{1,15}$/.test(revision ?? "0");
  if (!isRevision) unreadable.push("revision");
  return {
    replica,
    revision: isRevision ? Number(revision ?? 0) : 0,
    refusals: listIn("refusals", refusals, isRefusal),
    kids: listIn("kids", kids, isText),
    building: listIn("building", building, isBuilding),
    wantedKeys: isBounded ? wanted : [],
    format: isFormat ? reads : 0,
    unreadable,
  };
}

type FieldRefusal = ReplicaState["refusals"][number];

function listOfJson(text: string): readonly unknown[] | undefined {
  const value = parseOrUndefined(text);
  return Array.isArray(value) ? value : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRefusal(value: unknown): value is FieldRefusal {
  const { project, field, reason } = (value ?? {}) as Partial<FieldRefusal>;
  return [project, field, reason].every(isText);
}

function isBuilding(value: unknown): value is BuildingIndexes {
  const { project, resource, indexes } = (value ?? {}) as Partial<BuildingIndexes>;
  return [project, resource].every(isText) && Array.isArray(indexes) && indexes.every(isText);
}

function isWanted(value: unknown): value is WantedKeys {
  const { project, issuer } = (value ?? {}) as Partial<WantedKeys>;
  return [project, issuer].every(isText);
}
