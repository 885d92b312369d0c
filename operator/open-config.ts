// Opens what configuration is written with: the fleet's key ring out of its Secret, and Redis with a publisher on it. Rejects
// with StoreUnavailable while Redis is away, and with what the API server said.

import type { Clock } from "../core/clock.ts";
import { type Keyring, keyedHash } from "../core/config/keyring.ts";
import { connect } from "../core/redis/connect.ts";
import { createGateway } from "../core/redis/gateway.ts";
import { parseRedisUrl } from "../core/redis/redis-url.ts";
import { requireJson } from "../core/redis/require-json.ts";
import type { Timers } from "../core/timers.ts";
import { ensureFleetRing } from "./keyring/fleet-ring.ts";
import type { HeldRing } from "./keyring/rotate-fleet-ring.ts";
import type { KubeApi } from "./kube/api.ts";
import { createAcknowledgements, type LookObservation } from "./publish/acknowledgements.ts";
import type { OpenConfig } from "./publish/config-writer.ts";
import { createPublisher } from "./publish/publisher.ts";
import { createPurges } from "./publish/purges.ts";
import { ensureRedisUsers } from "./redis-users/redis-secret.ts";
import { teachRedis } from "./redis-users/teach-redis.ts";
import type { Random } from "./resolve/mint.ts";

export interface OpenConfigDeps {
  readonly api: KubeApi;
  readonly redis: string;
  readonly redisSecret: string | undefined;
  /** The operator's own, where the ring's Secret is, and that of Redis' users. */
  readonly namespace: string;
  readonly className: string | undefined;
  readonly random: Random;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Told after replicas have acknowledged something, come or gone. */
  readonly onAcknowledged: () => void;
  /** Told of every look at what replicas have acknowledged. */
  readonly observeLook: (observation: LookObservation) => void;
}

export interface OpenedConfig extends OpenConfig {
  readonly ring: HeldRing;
}

const commandTimeoutMs = 5_000;

export async function openConfig(deps: OpenConfigDeps): Promise<OpenedConfig> {
  const { clock, timers, onAcknowledged } = deps;
  let ring = await ensureFleetRing(deps);
  const target = parseRedisUrl(await redisUrl(deps));
  const client = await connect({ target, name: "jsonplane-operator", commandTimeout: commandTimeoutMs });
  const gateway = createGateway(client);
  await requireJson(gateway).catch((error: unknown) => {
    gateway.disconnect();
    throw error;
  });
  const publisher = createPublisher({ gateway, keyring: ring, clock, owner: ownerOf(ring, deps.className) });
  return {
    gateway,
    publisher,
    purges: createPurges(gateway, publisher),
    acknowledgements: createAcknowledgements({ gateway, timers, onChange: onAcknowledged, observe: deps.observeLook }),
    ring: {
      current: () => ring,
      adopt(adopted) {
        ring = adopted;
        publisher.setKeyring(adopted);
      },
    },
  };
}

async function redisUrl({ api, namespace, redis, redisSecret, random }: OpenConfigDeps): Promise<string> {
  if (redisSecret === undefined) return redis;
  const users = await ensureRedisUsers({ api, secret: { namespace, name: redisSecret }, address: redis, random });
  await teachRedis(users);
  return users.url;
}

/** Of whoever has this ring's names: they outlive every rotation. Two classes of one cluster can't share a Redis. */
function ownerOf(ring: Keyring, className: string | undefined): string {
  return keyedHash(ring, "content", `owner\n${className ?? ""}`).slice(0, 32);
}
