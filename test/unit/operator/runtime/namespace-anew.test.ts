// A namespace that is deleted and made again under its name, or an object that is, while the
// operator's view of Secrets stays behind: what is made again gets credentials of its own.

import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { Leadership } from "../../../../operator/lead/elector.ts";
import { hmacAnnotation } from "../../../../operator/model/secret-names.ts";
import { LeaderSession } from "../../../../operator/runtime/leader-session.ts";
import type { CacheListener, Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { openedRedis } from "./opened-redis.ts";
import { cachesOver, sessionContext } from "./session-context.ts";

const patience = { withinMs: 30_000 };
const collections = { Project: "jsonplane.io/projects", ApiKey: "jsonplane.io/apikeys" } as const;

let server: FakeApiServer;
let api: KubeApi;
let caches: Caches;
let session: LeaderSession;
let ending: AbortController;
let configs: ReturnType<typeof openedRedis>["configs"];

beforeEach(async () => {
  ending = new AbortController();
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  server.objects.create("/namespaces", { metadata: { name: "default" } });
});
afterEach(async () => {
  await session.stop();
  await caches.stop();
  await api.close();
  await server.close();
});

const leadership: Leadership = {
  held: () => true,
  get ended() {
    return ending.signal;
  },
  confirm: async () => true,
  release: async () => ending.abort(),
};

function declare(kind: "Project" | "ApiKey", name: string, spec: JsonObject = {}): void {
  server.objects.create(collections[kind], { ...stored(kind, name, { spec }) });
}

function remove(collection: string, name: string): void {
  server.objects.remove(collection, "default", name);
}

async function lead(): Promise<void> {
  let listener: CacheListener | undefined;
  caches = cachesOver({ api, listener: () => listener });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), patience);
  const opened = openedRedis([], {
    async load({ name }) {
      const published = configs.get(name);
      return { revision: 0, ...(published !== undefined && { config: published }) };
    },
  });
  configs = opened.configs;
  session = new LeaderSession(leadership, sessionContext({ api, caches }), opened.open);
  listener = session.listener;
  session.start();
}

const publishedKeys = (project: string): readonly string[] => [...(configs.get(project)?.keys.keys() ?? [])];
const shownKey = () =>
  server.objects.get("/secrets", "default", "ci-api-key")?.["data"] as { apiKey: string } | undefined;

async function serving(project: string): Promise<string> {
  await eventually(() => expect(publishedKeys(project)).toHaveLength(1), patience);
  return publishedKeys(project)[0] as string;
}

const ownSecrets = ["ci-api-key", "shop-signing"];

/**
 * Serves a Project with a key, removes all of the namespace, and declares the same again; resolves
 * once what is published and shown is new.
 */
async function expectAnewAfterRemoval(): Promise<void> {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  await lead();
  const former = await serving("shop");
  const ring = configs.get("shop")?.signing;
  const shown = shownKey();
  remove(collections.ApiKey, "ci");
  remove(collections.Project, "shop");
  for (const name of ownSecrets) remove("/secrets", name);
  declare("Project", "shop");
  declare("ApiKey", "ci");
  await eventually(() => {
    for (const name of ownSecrets) expect(server.objects.get("/secrets", "default", name)).toBeDefined();
  }, patience);
  await eventually(() => {
    expect(publishedKeys("shop")).toHaveLength(1);
    expect(publishedKeys("shop")).not.toContain(former);
  }, patience);
  expect(configs.get("shop")?.signing).not.toEqual(ring);
  expect(shownKey()?.apiKey).not.toBe(shown?.apiKey);
  expect(shownKey()).toBeDefined();
}

function silenceWatches(isSilent: (collection: string) => boolean): void {
  server.setFaults(({ verb, collection }) =>
    verb === "watch" && isSilent(collection) ? { kind: "cutStream", afterLines: 0, how: "silent" } : undefined,
  );
}

it("a namespace made anew gets keys and a ring of its own, though the watch of Secrets tells nothing of the end of the former ones", async () => {
  silenceWatches((collection) => collection === "/secrets");
  await expectAnewAfterRemoval();
});

it("an ApiKey made anew under another Project of its namespace gets a key of its own, and the former one lets in nowhere", async () => {
  for (const name of ["shop", "blog"]) declare("Project", name);
  declare("ApiKey", "ci");
  await lead();
  const former = await serving("shop");
  // Both between two looks, as while no operator runs.
  remove(collections.ApiKey, "ci");
  declare("ApiKey", "ci", { projectRef: { name: "blog" } });
  expect(await serving("blog")).not.toBe(former);
  await eventually(() => expect(publishedKeys("shop")).toEqual([]), patience);
  expect(publishedKeys("blog")).not.toContain(former);
});

it("Secrets whose HMAC was removed are made again: the former key has its grace period, and the ring stays", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  await lead();
  const former = await serving("shop");
  const ring = configs.get("shop")?.signing;
  const secretOf = (name: string) => server.objects.get("/secrets", "default", name);
  await eventually(() => expect(ownSecrets.map(secretOf)).not.toContain(undefined), patience);
  for (const name of ownSecrets) {
    const secret = secretOf(name);
    const present = (secret?.metadata.annotations ?? {}) as Readonly<Record<string, string>>;
    const { [hmacAnnotation]: _, ...annotations } = present;
    server.objects.replace("/secrets", { ...secret, metadata: { ...secret?.metadata, annotations } });
  }
  await eventually(() => {
    for (const name of ownSecrets) {
      expect(secretOf(name)?.metadata.annotations).toHaveProperty([hmacAnnotation]);
    }
  }, patience);
  await eventually(() => expect(publishedKeys("shop")).toHaveLength(2), patience);
  expect(publishedKeys("shop")).toContain(former);
  expect(configs.get("shop")?.signing).toEqual(ring);
});
