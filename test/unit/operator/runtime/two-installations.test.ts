// Two installations that see the same Projects, over one API server in this process:
// status.controller says which of them looks after a Project, the other one leaves it alone, and
// neither undoes what the other writes.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { Leadership } from "../../../../operator/lead/elector.ts";
import { controllerIn } from "../../../../operator/model/controller.ts";
import { RedisContested } from "../../../../operator/publish/refusals.ts";
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
  readonly configs: ReturnType<typeof openedRedis>["configs"];
  /** Names of the Projects that it looked at. */
  readonly loads: readonly string[];
  /** Names of the Projects that it ceased to serve. */
  readonly withdrawn: readonly string[];
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

const homeOf = (name: string): string => `system-${name}`;

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
  const namespace = homeOf(name);
  if (server.objects.get("/namespaces", "", namespace) === undefined)
    server.objects.create("/namespaces", { metadata: { name: namespace } });
  const api: KubeApi = fakeApiClient(server);
  let listener: CacheListener | undefined;
  const caches: Caches = cachesOver({ api, listener: () => listener });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), patience);
  const opened: ReturnType<typeof openedRedis> = openedRedis([], {
    installation: name,
    mayBegin() {
      if (refused) throw new RedisContested("there/uid/hash");
    },
    async load(ref) {
      if (away()) throw new StoreUnavailable("Redis is away");
      const config = opened.configs.get(ref.name);
      return { revision: 0, ...(config !== undefined && { config }) };
    },
  });
  const context = sessionContext({ api, caches });
  const baseUrlOf = (ref: { readonly name: string }) => `http://${urlOf}.test/${ref.name}`;
  const settings = { ...context.settings, adopt, baseUrlOf, namespace };
  const session = new LeaderSession(leadershipOf(new AbortController()), { ...context, settings }, opened.open);
  listener = session.listener;
  session.start();
  const installed: Installed = {
    name,
    configs: opened.configs,
    loads: opened.loads,
    withdrawn: opened.withdrawn,
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
  readonly controller?: string;
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
    expect(statusOf("Project", "shop").controller).toBe(controllerIn(homeOf(by.name)));
    expect(statusOf("ApiKey", "ci").controller).toBe(controllerIn(homeOf(by.name)));
  }, patience);
}

/** An Event of the second says that it leaves the Project alone. */
async function leftAlone(): Promise<void> {
  await eventually(() => {
    const reasons = server.objects.all("events.k8s.io/events").map(({ reason }) => reason);
    expect(reasons).toContain("OtherController");
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

it("the second leaves Secrets and statuses of the first alone, says so in an Event, and both come to rest", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  const second = await install("two");
  await leftAlone();
  await atRest();
  await served(first);
  expect(second.configs.has("shop")).toBe(false);
});

it("of two that see a new Project at the same time, one serves it", async () => {
  await install("one");
  await install("two");
  declare("Project", "shop");
  declare("ApiKey", "ci");
  await eventually(() => expect(installations.filter(({ configs }) => configs.has("shop"))).toHaveLength(1), patience);
  const [serving] = installations.filter(({ configs }) => configs.has("shop"));
  await atRest();
  await served(serving as Installed);
  expect(installations.filter(({ configs }) => configs.has("shop"))).toEqual([serving]);
});

it("a second one whose Redis is away, or another one's, writes nothing of what the first looks after", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  declare("ApiResource", "books", { projectRef: { name: "nowhere" } });
  const reason = () => condition(statusOf("ApiResource", "books"), "Ready")?.reason;
  const first = await install("one");
  await served(first);
  await eventually(() => expect(reason()).toBe("ProjectNotFound"), patience);
  await first.stop();
  installations.pop();
  await install("two", { away: () => true });
  await install("three", { refused: true });
  edit("ApiKey", "ci", { description: "for the build" });
  await atRest();
  await served(first);
  expect(reason()).toBe("ProjectNotFound");
});

it("one with --adopt-data takes the Project with the key in force, and the former one no longer serves it", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  const first = await install("one");
  await served(first);
  const key = [...(first.configs.get("shop")?.keys.keys() ?? [])];
  const second = await install("two", { adopt: true });
  await served(second);
  expect([...(second.configs.get("shop")?.keys.keys() ?? [])]).toEqual(key);
  await eventually(() => expect(first.withdrawn).toContain("shop"), patience);
  await atRest();
});

it("two with --adopt-data take a Project once each, and come to rest", async () => {
  declare("Project", "shop");
  declare("ApiKey", "ci");
  declare("ApiResource", "books", { projectRef: { name: "nowhere" } });
  const first = await install("one", { adopt: true });
  await served(first);
  const second = await install("two", { adopt: true });
  await served(second);
  await atRest();
  await served(second);
});

it("an object without a Project stays with the one that reported it, and its finalizer too, until one adopts it", async () => {
  declare("ApiResource", "books", { projectRef: { name: "nowhere" }, deletionPolicy: "Delete" });
  const books = () => server.objects.get(collections.ApiResource, "default", "books");
  const first = await install("one");
  await eventually(() => expect(books()?.metadata.finalizers).toEqual(["jsonplane.io/purge"]), patience);
  await eventually(
    () => expect(statusOf("ApiResource", "books").controller).toBe(controllerIn("system-one")),
    patience,
  );
  await first.stop();
  installations.pop();
  await install("two");
  server.objects.remove(collections.ApiResource, "default", "books");
  await atRest();
  expect(books()?.metadata.finalizers).toEqual(["jsonplane.io/purge"]);
  await install("three", { adopt: true });
  await eventually(() => expect(books()).toBeUndefined(), patience);
});

it("the second sets and removes no finalizer of a Project that the first looks after", async () => {
  declare("Project", "shop", { deletionPolicy: "Delete" });
  const first = await install("one");
  await eventually(() => expect(condition(statusOf("Project", "shop"), "Ready")?.status).toBe("True"), patience);
  await first.stop();
  installations.pop();
  await install("two");
  await leftAlone();
  server.objects.remove(collections.Project, "default", "shop");
  await atRest();
  expect(server.objects.get(collections.Project, "default", "shop")?.metadata.finalizers).toEqual([
    "jsonplane.io/purge",
  ]);
});
