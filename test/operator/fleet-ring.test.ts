// The fleet's key ring in a Secret of a real API server: made once by operators that start
// together, renewed on an annotation.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { type Keyring, parseKeyring } from "../../core/config/keyring.ts";
import { ensureFleetRing } from "../../operator/keyring/fleet-ring.ts";
import { rotateFleetRing } from "../../operator/keyring/rotate-fleet-ring.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

let server: TestApiServer;
let api: KubeApi;

beforeAll(async () => {
  server = await sharedApiServer();
  const connected = await createKubeApi({
    kubeconfig: await server.kubeconfig(),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  api = connected.api;
});
afterAll(async () => {
  await api.close();
});

async function secretPart(namespace: string, path: string): Promise<string> {
  return await server.kubectl(["get", "secret", "jsonplane-keyring", "-n", namespace, "-o", `jsonpath={${path}}`]);
}

async function written(namespace: string): Promise<Keyring> {
  return parseKeyring(Buffer.from(await secretPart(namespace, ".data.keyring\\.json"), "base64").toString());
}

test("operators that start together have one ring, and a rotation renews it without touching what else the Secret carries", async () => {
  const namespace = await server.namespace();
  const rings = await Promise.all([1, 2, 3].map(() => ensureFleetRing({ api, namespace, random: randomBytes })));
  let ring = rings[0]?.keyring;
  if (ring === undefined) throw new Error("No operator has a ring");
  const former = ring;
  const [hmacKey = new Uint8Array(), ...otherHmacKeys] = rings.map((each) => each.hmacKey);
  expect(otherHmacKeys).toEqual([hmacKey, hmacKey]);
  for (const { keyring } of rings) expect(keyring).toEqual(former);
  expect(await secretPart(namespace, ".metadata.labels")).toBe('{"app.kubernetes.io/managed-by":"jsonplane"}');

  const annotate = ["annotate", "secret", "jsonplane-keyring", "-n", namespace];
  await server.kubectl([...annotate, "jsonplane.io/rotate=one", "example.org/team=shop"]);
  let sealedWith = new Set([former.keys[0].kid]);
  const steps: string[] = [];
  const rotate = () =>
    rotateFleetRing({
      api,
      namespace,
      random: randomBytes,
      clock: systemClock,
      hmacKey,
      keyRing: {
        current: () => ring ?? former,
        adopt(next) {
          ring = next;
        },
      },
      config: {
        sealedWith: async () => sealedWith,
        async reseal() {
          sealedWith = new Set([(ring ?? former).keys[0].kid]);
        },
        resealedAtRevision: () => 0,
      },
      replicas: async () => [{ revision: 0, kids: (ring ?? former).keys.map(({ kid }) => kid) }],
      onStep: (step) => void steps.push(step),
    });
  while ((await rotate()) !== "idle") expect(steps.length).toBeLessThan(10);
  expect(steps).toEqual(["append", "promote", "reseal", "drop"]);
  const renewed = await written(namespace);
  expect(renewed).toEqual(ring);
  expect(renewed.names).toEqual(former.names);
  expect(renewed.keys.map(({ kid }) => kid)).not.toContain(former.keys[0].kid);
  expect(JSON.parse(await secretPart(namespace, ".metadata.annotations"))).toEqual({
    "example.org/team": "shop",
    "jsonplane.io/rotate": "one",
    "jsonplane.io/rotated": "one",
  });
  const version = await secretPart(namespace, ".metadata.resourceVersion");
  expect(await rotate()).toBe("idle");
  expect(await secretPart(namespace, ".metadata.resourceVersion")).toBe(version);
});
