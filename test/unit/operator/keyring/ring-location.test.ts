// The location of a key ring, which no copy of the ring has, over an API server in this process.

import { afterEach, beforeEach, expect, it } from "vitest";
import { ringLocationOf } from "../../../../operator/keyring/fleet-ring.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";

const ring = { namespace: "system", name: "ring" };

let servers: FakeApiServer[] = [];
let apis: KubeApi[] = [];

/** A cluster with these namespaces. */
async function cluster(...namespaces: readonly string[]): Promise<KubeApi> {
  const server = await startFakeApiServer();
  const api = fakeApiClient(server);
  for (const name of namespaces) server.objects.create("/namespaces", { metadata: { name } });
  servers.push(server);
  apis.push(api);
  return api;
}

beforeEach(() => {
  [servers, apis] = [[], []];
});
afterEach(async () => {
  for (const api of apis) await api.close();
  for (const server of servers) await server.close();
});

it("is another one for a copy in another Secret, in another namespace, and under the same names in another cluster", async () => {
  // Each of these servers counts its UIDs.
  const [here, there] = [await cluster("system", "other"), await cluster("one", "two", "system")];
  const locations = await Promise.all([
    ringLocationOf(here, ring),
    ringLocationOf(here, { ...ring, name: "ring-red" }),
    ringLocationOf(here, { ...ring, namespace: "other" }),
    ringLocationOf(there, ring),
  ]);
  expect(new Set(locations).size).toBe(4);
  for (const location of locations) expect(location).not.toContain("#");
});

it("is the same whatever becomes of the Secret, and another one where the namespace was made anew", async () => {
  const api = await cluster("system");
  const before = await ringLocationOf(api, ring);
  expect(await ringLocationOf(api, ring)).toBe(before);
  servers[0]?.objects.remove("/namespaces", "", "system");
  servers[0]?.objects.create("/namespaces", { metadata: { name: "system" } });
  expect(await ringLocationOf(api, ring)).not.toBe(before);
});

it("is not known where there is no such namespace", async () => {
  await expect(ringLocationOf(await cluster("other"), ring)).rejects.toThrow('no namespace "system"');
});
