// Opens what configuration is written with: the fleet's key ring out of its Secret, and Redis with
// a publisher on it. Rejects with StoreUnavailable while Redis is away, and with the failure of the
// API server.

import { createSecretKey, type KeyObject } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import { copies } from "../../core/config/copy-order.ts";
import { objectChecks } from "../../core/config/object-check.ts";
import { connect } from "../../core/redis/connect.ts";
import { createRedisClient, type RedisClient, requireJson } from "../../core/redis/redis-client.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { optionalText } from "../../core/redis/reply.ts";
import type { Timers } from "../../core/timers.ts";
import { ensureFleetRing, installationId } from "../keyring/fleet-ring.ts";
import { ringSecretName } from "../keyring/ring-secret.ts";
import type { CurrentKeyring } from "../keyring/rotate-fleet-ring.ts";
import { createStoreId, type KeptStoreId } from "../keyring/store-id.ts";
import type { KubeApi } from "../kube/api.ts";
import { createAcknowledgements, type LookObservation } from "../publish/acknowledgements.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import { createPublisher } from "../publish/publisher.ts";
import { createPurges } from "../publish/purges.ts";
import { createReplicaOrders } from "../publish/replica-orders.ts";
import type { DataLossPolicy } from "../publish/store-identity.ts";
import type { Random } from "../resolve/mint.ts";

export interface OpenRedisDeps {
  readonly api: KubeApi;
  /** The store URL, once it can be used. */
  readonly redisUrl: () => Promise<string>;
  /** The operator's own, where the ring's Secret is. */
  readonly namespace: string;
  /** Whether a person allowed taking the Redis over. */
  readonly adopt: boolean;
  readonly onDataLoss: DataLossPolicy;
  readonly random: Random;
  readonly clock: Clock;
  /** See FleetRingDeps. */
  readonly onHmacKeyMade?: () => void;
  readonly timers: Timers;
  /** Called after replicas have acknowledged something, come or gone. */
  readonly onAcknowledged: () => void;
  /** Called with every look at what replicas have acknowledged. */
  readonly observeLook: (observation: LookObservation) => void;
}

export interface LeaderRedis extends OpenRedis {
  readonly keyRing: CurrentKeyring;
  /** Proves which Secrets this installation made. */
  readonly hmacKey: KeyObject;
  readonly store: KeptStoreId;
}

const commandTimeoutMs = 5_000;

export async function openRedis(deps: OpenRedisDeps): Promise<LeaderRedis> {
  const { api, clock, timers, onAcknowledged, namespace } = deps;
  let connecting: Promise<RedisClient> | undefined;
  const connected = (): Promise<RedisClient> => {
    connecting ??= connectToRedis(deps);
    return connecting;
  };
  try {
    const isSealed = async () => !deps.adopt && (await ownerIn(await connected())) !== undefined;
    const { keyring, hmacKey } = await ensureFleetRing({ ...deps, isSealed });
    const store = createStoreId({ api, secret: { namespace, name: ringSecretName }, policy: deps.onDataLoss });
    let keyRing = keyring;
    const redisClient = await connected();
    const publisher = createPublisher({
      redisClient,
      keyring,
      clock,
      owner: await installationId(api, namespace, keyRing),
      store,
    });
    return {
      hmacKey: createSecretKey(hmacKey),
      store,
      redisClient,
      publisher,
      purges: createPurges(redisClient, publisher),
      checkOrders: createReplicaOrders(redisClient, publisher, objectChecks),
      copyOrders: createReplicaOrders(redisClient, publisher, copies),
      acknowledgements: createAcknowledgements({
        redisClient,
        timers,
        onChange: onAcknowledged,
        observe: deps.observeLook,
      }),
      keyRing: {
        current: () => keyRing,
        adopt(adopted) {
          keyRing = adopted;
          publisher.setKeyring(adopted);
        },
      },
    };
  } catch (error) {
    const redisClient = await connecting?.catch(() => undefined);
    redisClient?.disconnect();
    throw error;
  }
}

/** Rejects with StoreUnavailable while Redis is away, and where it has no JSON. */
async function connectToRedis(deps: OpenRedisDeps): Promise<RedisClient> {
  const target = parseRedisUrl(await deps.redisUrl());
  const redisClient = createRedisClient(
    await connect({ target, name: "jsonplane-operator", commandTimeout: commandTimeoutMs }),
  );
  try {
    await requireJson(redisClient);
  } catch (error) {
    redisClient.disconnect();
    throw error;
  }
  return redisClient;
}

/** Whose configuration a Redis holds; undefined = no installation's. */
export async function ownerIn(redisClient: RedisClient): Promise<string | undefined> {
  return optionalText(await redisClient.read(configKeys.meta, "HGET", configKeys.meta, "owner"));
}
