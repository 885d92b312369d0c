// What tests of the publisher share: a publisher on a Redis client, data records, heartbeats of
// replicas, what Redis was asked to do, and one on which something happens around one of its
// scripts.

import { type Clock, systemClock } from "../../../core/clock.ts";
import { acknowledgementKey, configKeys, credentialsKey, projectConfigKey } from "../../../core/config/config-keys.ts";
import type { Keyring } from "../../../core/config/keyring.ts";
import type { CompiledProject, ProjectRef } from "../../../core/config/types.ts";
import { connect } from "../../../core/redis/connect.ts";
import { createRedisClient, type RedisClient } from "../../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../../core/redis/redis-url.ts";
import { fieldsOf, optionalText, textOf, textsOf } from "../../../core/redis/reply.ts";
import type { DataEntry, DataInventory } from "../../../operator/model/data-inventory.ts";
import { parseInventory } from "../../../operator/publish/data-inventories.ts";
import { createPublisher, type Publisher } from "../../../operator/publish/publisher.ts";
import type { DataLossPolicy, StoreIdentity } from "../../../operator/publish/store-identity.ts";
import { startRedis } from "../redis/redis.ts";

export async function openRedisClient(url: string, commandTimeout = 20_000): Promise<RedisClient> {
  return createRedisClient(await connect({ target: parseRedisUrl(url), name: "test", commandTimeout }));
}

export interface PublisherOptions {
  readonly redisClient: RedisClient;
  readonly keyring: Keyring;
  readonly clock?: Clock;
  readonly owner?: string;
  readonly store?: StoreIdentity;
  readonly format?: number;
}

export function newPublisher(options: PublisherOptions): Publisher {
  const store = rememberedStore("Serve");
  return createPublisher({ clock: systemClock, owner: "test", store, ...options });
}

export async function begunPublisher(options: PublisherOptions): Promise<Publisher> {
  const publisher = newPublisher(options);
  await publisher.begin();
  return publisher;
}

/**
 * A heartbeat with these fields and values, as if this replica had written it so long ago by Redis'
 * clock.
 */
export async function writeHeartbeat(
  redisClient: RedisClient,
  replica: string,
  fields: readonly (string | number)[],
  agoMs = 0,
): Promise<void> {
  const { replicas } = configKeys;
  const [seconds, microseconds] = textsOf(await redisClient.read(replicas, "TIME"));
  const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  await redisClient.write(replicas, "ZADD", replicas, now - agoMs, replica);
  const key = acknowledgementKey(replica);
  await redisClient.write(key, "HSET", key, ...fields);
}

/**
 * Publishes these versions of one project elsewhere, and copies everything but the stream of hints
 * over.
 */
export async function publishWithoutHint(
  { redisClient, keyring }: Pick<PublisherOptions, "redisClient" | "keyring">,
  ...versions: readonly [CompiledProject, ...CompiledProject[]]
): Promise<void> {
  const elsewhere = await startRedis();
  const other = await openRedisClient(elsewhere.url);
  const publisherThere = await begunPublisher({ redisClient: other, keyring });
  for (const parts of versions) await publisherThere.publish(parts);
  const ref = versions[0].project;
  for (const key of [projectConfigKey(ref), credentialsKey(ref), configKeys.projects]) {
    await redisClient.write(key, "DEL", key);
    const fields = textsOf(await other.read(key, "HGETALL", key));
    if (fields.length > 0) await redisClient.write(key, "HSET", key, ...fields);
  }
  const revision = textOf(await other.read(configKeys.meta, "HGET", configKeys.meta, "revision"));
  await redisClient.write(configKeys.meta, "HSET", configKeys.meta, "revision", revision);
  other.disconnect();
  await elsewhere.stop();
}

/**
 * What an installation remembers of its store, in memory; the same for all of its publishers, as a
 * Secret is.
 */
export function rememberedStore(
  policy: DataLossPolicy = "Refuse",
  id?: string,
): StoreIdentity & { id: string | undefined } {
  let lastAccepted: string | undefined;
  const remembered = {
    policy,
    id,
    lastAccepted: async () => lastAccepted,
    async keepAccepted(loss: string) {
      lastAccepted = loss;
    },
    expected: async () => remembered.id,
    async keep(found: string) {
      remembered.id = found;
    },
    accepted: async () => undefined,
  };
  return remembered;
}

export function entry(name: string, more: Partial<DataEntry> = {}): DataEntry {
  return { what: "resource", name, uid: `uid-of-resource-${name}`, namespaceUid: "n", ...more };
}

export function inventoryWith(...entries: readonly DataEntry[]): DataInventory {
  return { policy: "Delete", projectUid: "p", entries };
}

/** What Redis says is known of a project's data, whatever a publisher remembers. */
export async function storedInventory(redisClient: RedisClient, name: string): Promise<DataInventory | undefined> {
  const text = optionalText(await redisClient.read(configKeys.data, "HGET", configKeys.data, name));
  return text === undefined ? undefined : parseInventory(text);
}

/** Names of the fields that Redis holds of a project. */
export async function storedFields(redisClient: RedisClient, ref: ProjectRef): Promise<readonly string[]> {
  const keys = [projectConfigKey(ref), credentialsKey(ref)];
  const found = await Promise.all(keys.map(async (key) => fieldsOf(await redisClient.read(key, "HGETALL", key))));
  return found.flatMap((fields) => [...fields.keys()]).sort();
}

/**
 * Calls of writing commands since the server started, by name; what scripts do is counted by Redis
 * as well.
 */
export async function writesOf(redisClient: RedisClient): Promise<number> {
  const info = String(await redisClient.read(configKeys.meta, "INFO", "commandstats"));
  const writing = /^cmdstat_(hset|hsetnx|hdel|hincrby|xadd|unlink|del|set|zadd|eval|evalsha):calls=(\d+)/gm;
  return [...info.matchAll(writing)].reduce((sum, [, , calls]) => sum + Number(calls), 0);
}

export interface Around {
  /** Begin of a script's name. */
  readonly script: string;
  /** Counted from 1. */
  readonly call: number;
  readonly before?: () => unknown;
  readonly after?: () => unknown;
}

/**
 * The same client, on which something happens around one call of one script; what throws is what
 * the caller is told.
 */
export function redisClientAround(
  redisClient: RedisClient,
  { script: wanted, call, before, after }: Around,
): RedisClient {
  let calls = 0;
  return {
    ...redisClient,
    async run(script, keys, args) {
      if (!script.name.startsWith(wanted)) return await redisClient.run(script, keys, args);
      calls += 1;
      const mine = calls === call;
      if (mine) await before?.();
      const reply = await redisClient.run(script, keys, args);
      if (mine) await after?.();
      return reply;
    },
  };
}

/** Parts with users enough for several steps: their fields and those of `parts`. */
export function manyUsers(parts: CompiledProject, count: number): CompiledProject {
  const users = Array.from({ length: count }, (_, at) => {
    const username = `user-${at}`;
    const rest = { role: "Users" as const, access: "Write" as const, passwordHash: "$argon2id$none" };
    return [username, { username, uid: `uid-${at}`, credentialRevision: "r", ...rest }] as const;
  });
  return { ...parts, users: new Map([...parts.users, ...users]) };
}
