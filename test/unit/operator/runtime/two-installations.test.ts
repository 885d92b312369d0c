// Two installations that both take themselves for the one that serves the Projects of a cluster, over one API server in this process:
// one of them does, the other says so once, and none undoes what the other writes.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { Leadership } from "../../../../operator/lead/leadership.ts";
import { type Installation, installationText } from "../../../../operator/model/installation.ts";
import { installationAnnotation } from "../../../../operator/model/secret-names.ts";
import { KeyRingCopied } from "../../../../operator/publish/refusals.ts";
import { LeaderSession } from "../../../../operator/runtime/leader-session.ts";
import type { CacheListener, Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import type { StoredObject } from "../../../support/fake-api/fake-api-objects.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { openedRedis } from "./opened-redis.ts";
import { cachesOver, sessionContext } from "./session-context.ts";

const patience = { withinMs: 30_000 };
const collections = {
  Project: "jsonplane.io/projects",
  ApiKey: "jsonplane.io/apikeys",
  ApiResource: "jsonplane.io/apiresources",
} as const;
const writeVerbs = new Set(["create", "replace", "apply", "delete"]);

interface Installed {
  readonly name: string;
  readonly parts: ReturnType<typeof openedRedis>["parts"];
  /** Names of the Projects that it looked at. */
  readonly loads: readonly string[];
  stop(): Promise<void>;
}

let server: FakeApiServer;
let installations: Installed[];

beforeEach(async () => {
  installations = [];
  server = await startFakeApiServer();
  server.objects.create("/namespaces", { metadata: { name: "default" } });
});
afterEach(async () => {
  for (const { stop } of installations) await stop();
  await server.close();
});

function leadershipOf(ending: AbortController): Leadership {
  return {
    held: () => true,
    ended: ending.signal,
    confirm: async () => true,
    release: async () => ending.abort(),
  };
}

const homeOf = (name: string): Installation => ({
  namespace: `system-${name}`,
  ringSecretName: "jsonplane-keyring",
  id: name,
});

interface How {
  readonly adopt?: boolean;
  /** Where clients reach it: in place of this one. */
  readonly urlOf?: string;
  /** Its Redis is another one's. */
  readonly refused?: boolean;
  /** Its Redis can't be reached. */
  readonly away?: () => boolean;
}

async function install(name: string, how: How = {}): Promise<Installed> {
  const { adopt = false, urlOf = name, refused = false, away = () => false } = how;
  const installation = homeOf(name);
  if (server.objects.get("/namespaces", "", installation.namespace) === undefined)
    server.objects.create("/namespaces", { metadata: { name: installation.namespace } });
  const api: KubeApi = fakeApiClient(server);
  let listener: CacheListener | undefined;
  const caches: Caches = cachesOver({ api, listener: () => listener });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), patience);
  const opened: ReturnType<typeof openedRedis> = openedRedis([], {
    installation,
    mayBegin() {
      if (refused) throw new KeyRingCopied("there/ring/uid");
    },
    async load(ref) {
      if (away()) throw new StoreUnavailable("Redis is away");
      const parts = opened.parts.get(ref.name);
      return { revision: 0, ...(parts !== undefined && { parts }) };
    },
  });
  const context = sessionContext({ api, caches });
  const baseUrlOf = (ref: { readonly name: string }) => `http://${urlOf}.test/${ref.name}`;
  const settings = { ...context.settings, adopt, baseUrlOf, namespace: installation.namespace };
  const session = new LeaderSession(leadershipOf(new AbortController()), { ...context, settings }, opened.open);
  listener = session.listener;
  session.start();
  const installed: Installed = {
    name,
    parts: opened.parts,
    loads: opened.loads,
    async stop() {
      await session.stop();
      await caches.stop();
      await api.close();
    },
  };
  installations.push(installed);
  return installed;
}

type Kind = keyof typeof collections;

function declare(kind: Kind, name: string, spec: JsonObject = {}): void {
  server.objects.create(collections[kind], { ...stored(kind, name, { spec }) });
}

interface WrittenStatus {
  readonly baseURL?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

function edit(kind: Kind, name: string, spec: JsonObject): void {
  const { spec: former, ...object } = server.objects.get(collections[kind], "default", name) as StoredObject;
  server.objects.replace(collections[kind], { ...object, spec: { ...(former as object), ...spec } });
}

const statusOf = (kind: Kind, name: string): WrittenStatus =>
  (server.objects.get(collections[kind], "default", name)?.["status"] ?? {}) as WrittenStatus;
const condition = (of: WrittenStatus, type: string) => of.conditions?.find((each) => each.type === type);
const secret = (name: string) => server.objects.get("/secrets", "default", name);
const baseUrlShown = () => {
  const { baseURL = "" } = (secret("ci-api-key")?.["data"] ?? {}) as { readonly baseURL?: string };
  return Buffer.from(baseURL, "base64").toString();
};
const writes = () =>
  server.requests.filter(({ verb, collection }) => writeVerbs.has(verb) && !collection.includes("events")).length;

async function served(by: Installed): Promise<void> {
  await eventually(() => {
    expect(statusOf("Project", "shop").baseURL).toBe(`http://${by.name}.test/shop`);
    expect(condition(statusOf("Project", "shop"), "Ready")?.status).toBe("True");
    expect(condition(statusOf("ApiKey", "ci"), "Ready")?.status).toBe("True");
    expect(baseUrlShown()).toBe(`http://${by.name}.test/shop`);
    expect(secret("ci-api-key")?.metadata["annotations"]).toMatchObject({
      [installationAnnotation]: installationText(homeOf(by.name)),
    });
  }, patience);
}

/** Nothing is written for some time, though both have seen everything. */
async function atRest(): Promise<void> {
  await eventually(
    async () => {
      const before = writes();
      await sleep(1_000);
      expect(writes()).toBe(before);
    },
    { withinMs: 20_000 },
  );
}

it("the second leaves the Secrets and the status of the first alone, says so in the Project's status, and comes to rest", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  const second = await install("two");
  await eventually(() => {
    expect(condition(statusOf("Project", "shop"), "Contested")).toMatchObject({
      status: "True",
      reason: "SecretConflict",
    });
  }, patience);
  await atRest();
  await served(first);
  expect(second.parts.has("shop")).toBe(false);
});

it("of two that see a new Project at once, one serves it", async () => {
  await install("one");
  await install("two");
  declare("Project", "shop");
  declare("ApiKey", "ci");
  await eventually(() => expect(installations.filter(({ parts }) => parts.has("shop"))).toHaveLength(1), patience);
  const [serving] = installations.filter(({ parts }) => parts.has("shop"));
  await atRest();
  await served(serving as Installed);
  expect(installations.filter(({ parts }) => parts.has("shop"))).toEqual([serving]);
});

it("the word of another that is gone goes with the next status of the one that serves", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  const second = await install("two");
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Contested")).toBeDefined(), patience);
  await second.stop();
  installations.pop();
  declare("ApiKey", "another");
  await eventually(() => {
    expect(condition(statusOf("ApiKey", "another"), "Ready")?.status).toBe("True");
    expect(condition(statusOf("Project", "shop"), "Contested")).toBeUndefined();
  }, patience);
});

it("one that is installed anew in another namespace takes over, with the key in force, as a person asks once that of the former one is gone", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  await first.stop();
  server.objects.remove("/namespaces", "", "system-one");
  const second = await install("two");
  await eventually(() => {
    expect(condition(statusOf("Project", "shop"), "Ready")).toMatchObject({ reason: "SecretConflict" });
  }, patience);
  expect(second.parts.has("shop")).toBe(false);
  await second.stop();
  const third = await install("two", { adopt: true });
  await served(third);
  expect([...(third.parts.get("shop")?.keys.keys() ?? [])]).toEqual([...(first.parts.get("shop")?.keys.keys() ?? [])]);
});

it("one that is moved, and whose Redis and Projects another one has, says so of each Project that is told of, and takes them when it is to", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  await first.stop();
  const refused = await install("two", { urlOf: "one", refused: true });
  await eventually(() => {
    const contested = condition(statusOf("Project", "shop"), "Contested");
    expect(contested?.message).toContain('in namespace "system-one"');
    expect(contested?.message).toContain("--adopt-data");
  }, patience);
  await atRest();
  await served(first);
  await refused.stop();
  // Its words stand until the one that they send for is there, though it has nothing else to say.
  await install("two", { urlOf: "one", adopt: true });
  await eventually(() => {
    expect(secret("shop-signing")?.metadata["annotations"]).toMatchObject({
      [installationAnnotation]: installationText(homeOf("two")),
    });
    expect(condition(statusOf("Project", "shop"), "Contested")).toBeUndefined();
    expect(condition(statusOf("Project", "shop"), "Ready")?.status).toBe("True");
  }, patience);
});

it("one whose Redis is away says nothing of what was edited, which the other one looks after", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  let isAway = false;
  const second = await install("two", { away: () => isAway });
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Contested")).toBeDefined(), patience);
  await first.stop();
  isAway = true;
  const before = second.loads.length;
  edit("ApiKey", "ci", { description: "for the build" });
  await eventually(() => expect(second.loads.length).toBeGreaterThan(before + 1), patience);
  await atRest();
  await served(first);
});

it("one whose Redis is another one's leaves the status of an object without a Project, of which both say the same", async () => {
  declare("ApiResource", "books", { projectRef: { name: "nowhere" } });
  declare("Project", "shop");
  const reason = () => condition(statusOf("ApiResource", "books"), "Ready")?.reason;
  const first = await install("one");
  await eventually(() => expect(reason()).toBe("ProjectNotFound"), patience);
  await first.stop();
  await install("two", { refused: true });
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Contested")).toBeDefined(), patience);
  await atRest();
  expect(reason()).toBe("ProjectNotFound");
});

it("an object without a Project whose finalizer another one set says who holds it, and goes with one that adopts", async () => {
  declare("ApiResource", "books", { projectRef: { name: "nowhere" }, deletionPolicy: "Delete" });
  const books = () => server.objects.get(collections.ApiResource, "default", "books");
  const first = await install("one");
  await eventually(() => expect(books()?.metadata.finalizers).toEqual(["jsonplane.io/purge"]), patience);
  await first.stop();
  await install("two");
  server.objects.remove(collections.ApiResource, "default", "books");
  await eventually(() => {
    const status = statusOf("ApiResource", "books");
    expect(condition(status, "Ready")).toMatchObject({ status: "False", reason: "Deleting" });
    expect(condition(status, "Contested")).toMatchObject({ status: "True", reason: "Deleting" });
    expect(condition(status, "Contested")?.message).toContain('in namespace "system-one"');
    expect(condition(status, "Contested")?.message).toContain("jsonplane finalizers clear");
  }, patience);
  await atRest();
  expect(books()?.metadata.finalizers).toEqual(["jsonplane.io/purge"]);
  await install("three", { adopt: true });
  await eventually(() => expect(books()).toBeUndefined(), patience);
});

it("the second sets no finalizer and takes none away, though the deletion of data is asked for and done by the first", async () => {
  declare("Project", "shop", { deletionPolicy: "Delete" });
  const first = await install("one");
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Ready")?.status).toBe("True"), patience);
  await first.stop();
  await install("two");
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Contested")).toBeDefined(), patience);
  server.objects.remove(collections.Project, "default", "shop");
  await atRest();
  expect(server.objects.get(collections.Project, "default", "shop")?.metadata.finalizers).toEqual([
    "jsonplane.io/purge",
  ]);
});

it("one that adopts takes over, with the key that is in force, and once: two that adopt come to rest as well", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one", { adopt: true });
  await served(first);
  const key = [...(first.parts.get("shop")?.keys.keys() ?? [])];
  const second = await install("two", { adopt: true });
  await eventually(() => expect([...(second.parts.get("shop")?.keys.keys() ?? [])]).toEqual(key), patience);
  await atRest();
  const owners = ["shop-signing", "ci-api-key", "ci-key-hash"].map(
    (name) =>
      (secret(name)?.metadata["annotations"] as Readonly<Record<string, string>> | undefined)?.[installationAnnotation],
  );
  expect(new Set(owners).size).toBe(1);
});
