// What is kept of the cluster, over an API server in this process.

import { afterEach, beforeEach, expect, it } from "vitest";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import type { FaultPlan } from "../../../support/fake-api/fake-api-faults.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { cachesOver } from "../runtime/session-context.ts";

const within = { withinMs: 30_000 };
const collection = "jsonplane.io/apiresources";

let server: FakeApiServer;
let api: KubeApi;
let caches: Caches;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  server.objects.create(collection, { ...stored("ApiResource", "books") });
  caches = cachesOver({ api });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), within);
});
afterEach(async () => {
  await caches.stop();
  await api.close();
  await server.close();
});

const kept = () => caches.objects.ApiResource.get("default", "books");
const indexed = () => caches.index.objectsOf({ namespace: "default", name: "shop" }).resources.at(0);

async function replaced(change: object): Promise<void> {
  const { metadata, ...books } = server.objects.get(collection, "default", "books") ?? {};
  const { resourceVersion } = server.objects.replace(collection, { ...books, metadata, ...change }).metadata;
  await eventually(() => expect(kept()?.metadata.resourceVersion).toBe(resourceVersion), within);
}

it("a spec is kept once, by cache and index together, however often the status is written", async () => {
  const before = indexed()?.spec;
  expect(kept()?.["spec"]).toBe(before);
  await replaced({ status: { conditions: [] } });
  expect(indexed()?.status).toEqual({ conditions: [] });
  expect([indexed()?.spec, kept()?.["spec"]].every((spec) => spec === before)).toBe(true);
});

it("a spec that changed is the new one in both", async () => {
  const spec = { projectRef: { name: "shop" }, schema: { type: "object", maxProperties: 1 } };
  await replaced({ spec });
  expect(indexed()?.spec).toEqual(spec);
  expect(kept()?.["spec"]).toBe(indexed()?.spec);
});

it("namespaces that the API server refuses to list hold up nothing else, neither at the start nor later", async () => {
  const refused: FaultPlan = ({ verb, collection: asked }) =>
    asked === "/namespaces" && verb !== "get" ? { kind: "status", code: 403, reason: "Forbidden" } : undefined;
  server.objects.create("/namespaces", { metadata: { name: "default" } });
  server.setFaults(refused);
  const never = new AbortController().signal;
  await caches.confirm(never);
  expect(caches.isCurrent("default")).toBe(true);

  const later = cachesOver({ api });
  later.start();
  try {
    await eventually(() => expect(later.synced()).toBe(true), within);
    await later.confirm(never);
    expect([later.isCurrent("default"), [...(later.namespaces?.all() ?? [])]]).toEqual([true, []]);
  } finally {
    await later.stop();
  }
});
