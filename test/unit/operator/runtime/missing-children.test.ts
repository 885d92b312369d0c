// A leader's session whose watch has no children of a Project that Redis has: it asks the API
// server before it withdraws them.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CompiledProject, RootKeyConfig } from "../../../../core/config/types.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { Leadership } from "../../../../operator/lead/elector.ts";
import { LeaderSession } from "../../../../operator/runtime/leader-session.ts";
import type { Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";
import { openedRedis } from "./opened-redis.ts";
import { cachesOver, type SessionParts, sessionContext } from "./session-context.ts";

const rootKeys = new Map(["flags", "texts"].map((name) => [name, { uid: `uid-${name}` } as RootKeyConfig]));
const noChildren = { resources: new Map(), users: new Map(), keys: new Map(), issuers: new Map() };

let server: FakeApiServer;
let api: KubeApi;
let caches: Caches;
let ending: AbortController;
let time: ManualTime;

beforeEach(async () => {
  time = manualTime();
  ending = new AbortController();
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  server.objects.create("/namespaces", { metadata: { name: "default" } });
  server.objects.create("jsonplane.io/projects", { ...stored("Project", "shop") });
});

afterEach(async () => {
  ending.abort();
  await caches.stop();
  await api.close();
  await server.close();
});

const leadership = (): Leadership => ({
  held: () => !ending.signal.aborted,
  ended: ending.signal,
  confirm: async () => !ending.signal.aborted,
  release: async () => ending.abort(),
});

const soon = (expected: () => void): Promise<void> => eventually(expected, { withinMs: 30_000 });
const listed = (): number =>
  server.requests.filter(({ verb, collection }) => verb === "list" && collection === "jsonplane.io/rootkeys").length;
const idle = (session: LeaderSession): Promise<void> =>
  soon(() => expect(session.figures()).toMatchObject({ live: 0, bulk: 0, workingSeconds: [] }));

/**
 * A session after its first look, over a Redis in which the Project has root keys that no cache
 * knows.
 */
async function missing(given: Partial<SessionParts> = {}) {
  const uid = server.objects.get("jsonplane.io/projects", "default", "shop")?.metadata.uid;
  const project = { namespace: "default", name: "shop", uid, hosts: [] };
  const published = { ...noChildren, project, rootKeys } as unknown as CompiledProject;
  const { open, loads, configs } = openedRedis([], { load: async () => ({ revision: 1, config: published }) });
  caches = cachesOver({ api });
  caches.start();
  await soon(() => expect(caches.synced()).toBe(true));
  const context = sessionContext({ api, caches, timers: time.timers, monotonic: time.monotonic, ...given });
  const session = new LeaderSession(leadership(), context, open);
  const before = listed();
  session.start();
  await soon(() => expect(loads).toContain("shop"));
  return { session, configs, before };
}

describe("published children that are all missing from the watch", () => {
  it("are looked for at the API server, and the Project is published where it lists none", async () => {
    const { session, configs, before } = await missing();
    await soon(() => expect(configs.has("shop")).toBe(true));
    expect(listed()).toBeGreaterThan(before);
    await session.stop();
  });

  it("hold up their Project while the API server lists them, which the log says", async () => {
    const lines: unknown[][] = [];
    const metadata = { namespace: "default", name: "flags", uid: "uid-flags", resourceVersion: "1" };
    const list: KubeApi["list"] = async (type, request, call) =>
      type.plural === "rootkeys"
        ? { items: [{ apiVersion: "", kind: "RootKey", metadata }], resourceVersion: "1" }
        : await api.list(type, request, call);
    const { session, configs } = await missing({ api: { ...api, list }, warn: (...line) => void lines.push(line) });
    await time.advance(5_000);
    const facts = { namespace: "default", name: "shop", objects: 1 };
    await soon(() => expect(lines).toContainEqual([expect.stringContaining("the watch lacks still exist"), facts]));
    await idle(session);
    expect(configs.has("shop")).toBe(false);
    await session.stop();
  });
});
