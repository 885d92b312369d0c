// What an installation calls itself in its Redis, over an API server in this process.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Keyring, newKeyringText, newRingKey, parseKeyring } from "../../../../core/config/keyring.ts";
import { installationId } from "../../../../operator/keyring/fleet-ring.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";

const ring = parseKeyring(newKeyringText());

let server: FakeApiServer;
let api: KubeApi;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  for (const name of ["system", "other"]) server.objects.create("/namespaces", { metadata: { name } });
});
afterEach(async () => {
  await api.close();
  await server.close();
});

it("is another one for a copy of the ring in another namespace, and for another ring in the same one", async () => {
  const ids = await Promise.all([
    installationId(api, "system", ring),
    installationId(api, "other", ring),
    installationId(api, "system", parseKeyring(newKeyringText())),
  ]);
  expect(new Set(ids).size).toBe(3);
});

it("is another one in a namespace that was made anew, or has the same name in another cluster", async () => {
  const before = await installationId(api, "system", ring);
  server.objects.remove("/namespaces", "", "system");
  server.objects.create("/namespaces", { metadata: { name: "system" } });
  expect(await installationId(api, "system", ring)).not.toBe(before);
});

it("stays the same throughout a rotation of the ring", async () => {
  const before = await installationId(api, "system", ring);
  const key = newRingKey(randomBytes);
  const stages: readonly Keyring["keys"][] = [[...ring.keys, key], [key, ...ring.keys], [key]];
  for (const keys of stages) expect(await installationId(api, "system", { ...ring, keys })).toBe(before);
});

it("names the namespace for people who read it, and tells nothing of the ring", async () => {
  const uid = server.objects.get("/namespaces", "", "system")?.metadata["uid"];
  expect(await installationId(api, "system", ring)).toMatch(new RegExp(`^system/${uid}/[0-9a-f]{32}$`));
});

it("is not known where there is no such namespace", async () => {
  await expect(installationId(api, "gone", ring)).rejects.toThrow('no namespace "gone"');
});
