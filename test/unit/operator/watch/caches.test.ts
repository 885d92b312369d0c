// What is kept of the cluster, over an API server in this process.

import { afterEach, beforeEach, expect, it } from "vitest";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { CacheListener, Caches } from "../../../../operator/watch/caches.ts";
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
/** Objects that changed, with the most properties that their schema allows. */
let changes: unknown[];

beforeEach(async () => {
  changes = [];
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  server.objects.create(collection, { ...stored("ApiResource", "books") });
  caches = cachesOver({ api, listener: () => listener });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), within);
});
afterEach(async () => {
  await caches.stop();
  await api.close();
  await server.close();
});

const ignore = (): void => undefined;
const listener: CacheListener = {
  objectChanged: (object) => void changes.push([object.metadata.name, sizeIn(object.spec)]),
  objectRemoved: ignore,
  secretChanged: ignore,
  secretRemoved: ignore,
};
const sizeIn = (spec: unknown): unknown =>
  (spec as { readonly schema: { maxProperties?: number } }).schema.maxProperties;
const ofSize = (maxProperties: number) => ({
  spec: { projectRef: { name: "shop" }, schema: { type: "object", maxProperties } },
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
  await replaced(ofSize(1));
  expect(indexed()?.spec).toEqual(ofSize(1).spec);
  expect(kept()?.["spec"]).toBe(indexed()?.spec);
});

it("a spec that somebody wrote after a backup was restored counts, although its generation was another spec's before", async () => {
  const restore = server.objects.backup();
  // Versions before and after are others, as those of a store that holds more than this one object.
  server.objects.bump();
  await replaced(ofSize(1));
  restore();
  await replaced(ofSize(2));
  expect(kept()?.metadata["generation"]).toBe(2);
  expect([sizeIn(indexed()?.spec), sizeIn(kept()?.["spec"]), changes.at(-1)]).toEqual([2, 2, ["books", 2]]);
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
