// The store on Redis JSON: standalone, with Sentinels or a Cluster (redis-url.ts says how to name
// one). Refuses to open with InvalidRedisUrl, StoreUnavailable, or RedisFault when the server has
// no JSON module.

import type { Clock } from "../../../core/clock.ts";
import { connect, type IoredisClient, singleConnection } from "../../../core/redis/connect.ts";
import { type CheckServer, createGuardedRedisClient } from "../../../core/redis/connection-gate.ts";
import { createRedisClient, type RedisClient, requireJson } from "../../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../../core/redis/redis-url.ts";
import { rereadMilliseconds } from "../../../core/redis/stream-follower.ts";
import { createSubscriber } from "../../../core/redis/subscriber.ts";
import { withExpiry } from "../expiring.ts";
import { type Method, observedStore, outcomeOf, wrapMethods } from "../observed-store.ts";
import type { Store, StoreObservation } from "../port.ts";
import type { IdempotencyRecords } from "../ports/idempotency.ts";
import type { CollectionRef, DocumentRef } from "../ports/refs.ts";
import { createChangeLogs } from "./changes/change-logs.ts";
import { type ConnectedEngine, createConnectedEngine } from "./engine.ts";
import { createExpiry } from "./expiry/expiry.ts";
import { createExpiryScripts } from "./expiry/expiry-scripts.ts";
import { createIdempotencyRecords } from "./idempotency-records.ts";
import { createIndexScripts, createIndexSetCache } from "./indexes/index-scripts.ts";
import { createIndexes } from "./indexes/indexes.ts";
import { collectionKeys } from "./keys.ts";
import { createBuckets, createCounters } from "./limits/limits.ts";
import { createKeysetPages } from "./lists/keyset-pages.ts";
import { createLiveReads } from "./lists/live-reads.ts";
import { createPages } from "./lists/pages.ts";
import { createRangeScripts } from "./lists/ranges.ts";
import { createBatchedCreates } from "./objects/batched-creates.ts";
import { createBatchedReads } from "./objects/batched-reads.ts";
import { createObjectScripts } from "./objects/object-scripts.ts";
import { createObjects } from "./objects/objects.ts";
import { createPurgeScripts, createPurges } from "./purges/purges.ts";
import { createReplicatedClient } from "./replication/replicated-client.ts";
import { createEndedSessions } from "./sessions/ended-sessions.ts";
import { createSessionRevocations } from "./sessions/session-revocations.ts";
import { createSessionScripts } from "./sessions/session-scripts.ts";
import { createSessions } from "./sessions/sessions.ts";
import { createSizes } from "./sizes/sizes.ts";
import { createDocuments } from "./values/documents.ts";

export interface RedisStoreOptions {
  /** redis://, rediss://, redis+sentinel:// or redis+cluster:// (redis-url.ts). */
  readonly url: string;
  readonly clock: Clock;
  /**
   * Called after each call of the store, as `readEndedSessions` for each failed read of ended
   * sessions, as `tellEndedSession` for each end that could not be written again, and as
   * `subscribeToChanges` for each loss of that connection.
   */
  readonly observe?: (observation: StoreObservation) => void;
  /** Milliseconds to wait for an answer, 2,000 by default. */
  readonly commandTimeoutMs?: number;
  /** How often all ended sessions are read, in addition to the hints of each, 5,000 by default. */
  readonly rereadMs?: number;
  /** Called for each new connection before stored data are used; not in a Cluster. */
  readonly checkServer?: CheckServer;
}

/**
 * Of the time for an answer. A write may wait for one confirmation behind another, and is answered
 * in time all the same.
 */
const replicationShare = 0.25;

export async function createRedisStore(options: RedisStoreOptions): Promise<Store> {
  const target = parseRedisUrl(options.url);
  const commandTimeout = options.commandTimeoutMs ?? 2_000;
  const client = await connect({ target, name: "jsonplane", commandTimeout });
  const engine = createConnectedEngine();
  const redisClient = await openRedisClient(client, engine, options.checkServer);
  const { clock, observe } = options;
  const indexScripts = createIndexScripts(redisClient);
  const scripts = createObjectScripts(redisClient);
  const batchedReads = createBatchedReads(redisClient);
  const deps = { redisClient, batchedReads, scripts, indexSetCache: createIndexSetCache(indexScripts) };
  const failed = (operation: string) => (failure: unknown) =>
    observe?.({ operation, seconds: 0, outcome: outcomeOf(failure) });
  const sessionScripts = createSessionScripts(redisClient);
  const sessionRevocations = createSessionRevocations({
    scripts: sessionScripts,
    redisClient,
    monotonic: clock.monotonic,
    onFailure: failed("tellEndedSession"),
  });
  const ended = createEndedSessions({
    async open() {
      const patience = (options.rereadMs ?? rereadMilliseconds) + commandTimeout;
      return createRedisClient(await connect({ target, name: "jsonplane-ended-sessions", commandTimeout: patience }));
    },
    rereadMs: options.rereadMs,
    beforeReading: sessionRevocations.check,
    onFailure: failed("readEndedSessions"),
  });
  const subscriber = createSubscriber({
    open: () => singleConnection({ target, name: "jsonplane-changes", commandTimeout }, client),
    onFailure: failed("subscribeToChanges"),
  });
  const expiryScripts = createExpiryScripts(redisClient);
  const expiry = createExpiry({ ...deps, scripts: expiryScripts });
  const listReads = createLiveReads({ ...deps, expiryScripts, rangeScripts: createRangeScripts(redisClient) });
  const time = (collection: CollectionRef) => expiryScripts.time(collectionKeys(collection));
  const lists = { ...createPages({ ...deps, listReads }), ...createKeysetPages({ ...deps, listReads }) };
  const dataBy = (writer: RedisClient, records: IdempotencyRecords) => {
    const { addressableLength } = engine;
    const its = {
      ...deps,
      redisClient: writer,
      scripts: createObjectScripts(writer),
      records,
      clock,
      addressableLength,
    };
    const batchedCreates = createBatchedCreates(writer, its.scripts);
    const objects = { ...createObjects({ ...its, batchedCreates }), ...lists };
    const { idempotencyRecord } = records;
    const expiring = withExpiry({ objects, expiry, time, monotonic: clock.monotonic });
    return { ...expiring, ...createDocuments(its), idempotencyRecord };
  };
  const replicated = createReplicatedClient(redisClient, {
    withinMs: Math.ceil(commandTimeout * replicationShare),
    async open(withinMs) {
      const own = await connect({ target, name: "jsonplane-replicated", commandTimeout });
      return openRedisClient(own, engine, options.checkServer, withinMs);
    },
  });
  const store: Store = {
    ...expiry,
    ...byDurability(
      dataBy(redisClient, createIdempotencyRecords(redisClient)),
      dataBy(replicated.redisClient, replicated),
    ),
    ...createIndexes({ ...deps, scripts: indexScripts }),
    ...createPurges({ ...deps, indexScripts, purgeScripts: createPurgeScripts(redisClient) }),
    ...createChangeLogs({ redisClient, subscriber }),
    ...createSizes(redisClient),
    ...createSessions({ scripts: sessionScripts, redisClient, clock, sessionRevocations }),
    ...createCounters(redisClient),
    ...createBuckets(redisClient),
    followEndedSessions: ended.followEndedSessions,
    health: () => ({ reachable: redisClient.ready(), engine: engine.found() }),
    async close() {
      await ended.stop();
      await sessionRevocations.stop();
      await subscriber.close();
      await replicated.close();
      redisClient.disconnect();
    },
  };
  return observedStore(store, observe);
}

/** By what the data of a call ask for. */
function byDurability<Port extends object>(plain: Port, replicated: Port): Port {
  const others = replicated as Readonly<Record<string, Method>>;
  return wrapMethods(plain, (name, method) => {
    const other = others[name] ?? method;
    return (...args) => ((args[0] as CollectionRef | DocumentRef).durability === undefined ? method : other)(...args);
  });
}

async function openRedisClient(
  client: IoredisClient,
  engine: ConnectedEngine,
  check: CheckServer | undefined,
  replicatedWithinMs?: number,
): Promise<RedisClient> {
  const checkServer: CheckServer = async (read) => {
    await engine.identify(read);
    await check?.(read);
  };
  try {
    const redisClient = await createGuardedRedisClient(client, checkServer, replicatedWithinMs);
    // No connection of a Cluster was checked.
    if (engine.found() === undefined) await engine.identify(redisClient.read);
    await requireJson(redisClient);
    return engine.adapt(redisClient);
  } catch (error) {
    client.disconnect();
    throw error;
  }
}
