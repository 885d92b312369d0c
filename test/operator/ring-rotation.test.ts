// The fleet's ring renewed while two replicas serve: a real API server holds the ring, a real Redis
// the configuration, and each replica's file follows the Secret in its own time.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { type Keyring, keyringText } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type FollowedKeyring, followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { ensureFleetRing } from "../../operator/keyring/fleet-ring.ts";
import { readRingSecret } from "../../operator/keyring/ring-secret.ts";
import { type Rotation, rotateFleetRing } from "../../operator/keyring/rotate-fleet-ring.ts";
import { createSealedConfig } from "../../operator/keyring/sealed-config.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { secretType } from "../../operator/kube/objects.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import { project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const shops = ["a", "b", "c"].map((name) =>
  project(name, withUser("ann"), withKey("ci"), withResource("books"), withRootKey("flags")),
);

let server: TestApiServer;
let redis: TestRedis;
let api: KubeApi;
let redisClient: RedisClient;

beforeAll(async () => {
  [server, redis] = await Promise.all([sharedApiServer(), startRedis()]);
  const connected = await createKubeApi({
    kubeconfig: await server.kubeconfig(),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  api = connected.api;
  redisClient = await openRedisClient(redis.url);
});
afterAll(async () => {
  redisClient.disconnect();
  await api.close();
  await redis.stop();
});

interface FollowingReplica {
  readonly config: FollowedConfig;
  readonly keyring: FollowedKeyring;
  /** Its node has fetched the Secret, as it is now. */
  fileFollows(): Promise<void>;
}

async function startReplicaOf(namespace: string, name: string): Promise<FollowingReplica> {
  const secretText = async (): Promise<string> => {
    const secret = await api.get(secretType, { namespace, name: "jsonplane-keyring" });
    if (secret === undefined) throw new Error("There is no Secret");
    return keyringText(readRingSecret(secret).keyring);
  };
  let file = await secretText();
  let time = 0;
  const keyring = await followKeyring({
    read: async () => file,
    onRefused: (error) => expect.unreachable(String(error)),
    // Every look is a second after the one before.
    now: () => (time += 1_000),
  });
  const config = await openRedisDirectory({ url: redis.url, keyring, clock: systemClock, replica: name });
  await eventually(() => expect(config.directory.synced()).toBe(true));
  return {
    config,
    keyring,
    async fileFollows() {
      file = await secretText();
      await keyring.reread();
    },
  };
}

/** Everything of every project, as each replica answers; nothing may ever be missing. */
async function everythingIsServed(replicas: readonly FollowingReplica[]): Promise<void> {
  for (const { config } of replicas) {
    for (const { project: ref, keys } of shops) {
      const found = await config.directory.project(ref);
      if (found.outcome !== "found") throw new Error(`${ref.name} is ${found.outcome}`);
      const { value } = found;
      const [sha256 = ""] = keys.keys();
      const user = await config.directory.user(value, "ann");
      const key = await config.directory.key(value, sha256);
      expect([value.resources.size, value.rootKeys.size, user.outcome, key.outcome]).toEqual([1, 1, "found", "found"]);
    }
  }
  for (const { refusals } of await liveReplicas(redisClient)) expect(refusals).toEqual([]);
}

async function sealingKids(publisher: Publisher): Promise<ReadonlySet<string>> {
  const sets = await Promise.all(shops.map(({ project: ref }) => publisher.sealedWith(ref)));
  return sets.reduce((all, kids) => all.union(kids));
}

test("a rotation renews the ring while replicas serve everything, and a replica that starts later needs only the new key", async () => {
  const namespace = await server.namespace();
  const { keyring: former, hmacKey } = await ensureFleetRing({ api, namespace, random: randomBytes });
  let ring: Keyring = former;
  const publisher = await begunPublisher({ redisClient, keyring: ring });
  for (const shop of shops) await publisher.publish(shop);
  await publisher.complete();
  const replicas = [await startReplicaOf(namespace, "r1"), await startReplicaOf(namespace, "r2")];
  await everythingIsServed(replicas);

  const steps: string[] = [];
  const config = createSealedConfig({
    publisher,
    resealProject: (ref) => publisher.reseal(ref),
    sealingKid: () => ring.keys[0].kid,
  });
  const rotate = (): Promise<Rotation> =>
    rotateFleetRing({
      api,
      namespace,
      random: randomBytes,
      clock: systemClock,
      hmacKey,
      keyRing: {
        current: () => ring,
        adopt(next) {
          ring = next;
          publisher.setKeyring(next);
        },
      },
      config,
      replicas: () => liveReplicas(redisClient),
      onStep: (step) => void steps.push(step),
    });

  await apiObject(server, `/api/v1/namespaces/${namespace}/secrets/jsonplane-keyring`, {
    method: "PATCH",
    body: { metadata: { annotations: { "jsonplane.io/rotate": "now" } } },
    contentType: "application/merge-patch+json",
  });
  expect(await rotate()).toBe("advanced");
  // One replica has the new key, the other does not: nothing may be sealed with it.
  await replicas[0]?.fileFollows();
  await everythingIsServed(replicas);
  expect(await rotate()).toBe("waiting");
  await replicas[1]?.fileFollows();
  await eventually(async () => {
    const rotation = await rotate();
    await everythingIsServed(replicas);
    expect(rotation).toBe("idle");
  });
  expect(steps).toEqual(["append", "promote", "reseal", "drop"]);
  expect(ring.keys.map(({ kid }) => kid)).not.toContain(former.keys[0].kid);
  expect(await sealingKids(publisher)).toEqual(new Set([ring.keys[0].kid]));

  const late = await startReplicaOf(namespace, "r3");
  for (const replica of replicas) await replica.fileFollows();
  await everythingIsServed([...replicas, late]);
  expect(late.keyring.current().keys).toHaveLength(1);
  for (const replica of [...replicas, late]) {
    replica.keyring.stop();
    await replica.config.close();
  }
});
