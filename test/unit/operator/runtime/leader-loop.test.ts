// Terms of leadership over an API server in this process: with what caches a process asks for the
// Lease, and with what it acts on it.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FollowedGuardRails } from "../../../../operator/guard-rails/rules.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { createElector } from "../../../../operator/lead/elector.ts";
import { runLeaderLoop } from "../../../../operator/runtime/leader-loop.ts";
import type { Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import type { FakeRequest } from "../../../support/fake-api/fake-api-faults.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { startTcpProxy, type TcpProxy } from "../../../support/process/tcp-proxy.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { cachesOver, sessionContext } from "./session-context.ts";

const apiKeys = "jsonplane.io/apikeys";
const patience = { withinMs: 40_000 };

let server: FakeApiServer;
let proxy: TcpProxy;
let api: KubeApi;
let caches: Caches;
let stopping: AbortController;
/** Names of the ApiKeys that each term began with. */
let terms: (readonly string[])[];
let serving: Promise<void>;

beforeEach(async () => {
  [stopping, terms, serving] = [new AbortController(), [], Promise.resolve()];
  server = await startFakeApiServer();
  proxy = await startTcpProxy(Number(new URL(server.url).port));
  // A call on a connection that has died is given up soon.
  const limits = { headersMs: 500, callMs: 500 };
  api = fakeApiClient({ url: `http://127.0.0.1:${proxy.port}` }, { limits });
});

afterEach(async () => {
  stopping.abort();
  await serving;
  await caches.stop();
  await api.close();
  await proxy.stop();
  await server.close();
});

const warm = () => eventually(() => expect(caches.synced()).toBe(true), patience);

function standBy(namespaces: readonly string[] = [], guardRails?: FollowedGuardRails): void {
  caches = cachesOver({ api, namespaces });
  caches.start();
  const context = { ...sessionContext({ api, caches }), guardRails };
  const { clock, monotonic, timers, random } = context;
  const lease = { namespace: "jsonplane-system", name: "jsonplane-operator", identity: "one" };
  serving = runLeaderLoop({
    elector: createElector({ api, ...lease, clock, monotonic, timers, random, leaseDurationMs: 3_000 }),
    context,
    stopping: stopping.signal,
    onSession: (session) => {
      if (session !== undefined) terms.push([...caches.objects.ApiKey.all()].map(({ metadata }) => metadata.name));
    },
  });
}

const lease = { namespace: "jsonplane-system", name: "jsonplane-operator" };
const collection = "coordination.k8s.io/leases";

/** Somebody else's, renewed in time for as long as this process looks on. */
function heldByAnother(): () => void {
  const spec = { holderIdentity: "another", leaseDurationSeconds: 60, leaseTransitions: 1 };
  server.objects.create(collection, { metadata: lease, spec });
  let renewals = 0;
  const renewing = setInterval(() => {
    renewals += 1;
    server.objects.replace(collection, { metadata: lease, spec: { ...spec, renewTime: String(renewals) } });
  }, 200);
  return () => {
    clearInterval(renewing);
    server.objects.replace(collection, { metadata: lease, spec: { ...spec, holderIdentity: "" } });
  };
}

function declareKey(name: string): void {
  server.objects.create(apiKeys, { ...stored("ApiKey", name, { spec: { projectRef: { name: "shop" } } }) });
}

describe("a process whose connections have died without a word", () => {
  it("comes to lead with what the server has: a key that was revoked meanwhile is gone", async () => {
    for (const name of ["kept", "revoked"]) declareKey(name);
    const release = heldByAnother();
    standBy();
    await warm();
    // A watch that began later would be on a connection that works: this one has told something.
    declareKey("told");
    await eventually(() => expect(caches.objects.ApiKey.get("default", "told")).toBeDefined(), patience);
    proxy.abandon();
    server.objects.remove(apiKeys, "default", "revoked");
    release();
    await eventually(() => expect(terms.map((keys) => keys.toSorted())).toEqual([["kept", "told"]]), patience);
  });
});

describe("a process that takes the Lease while the definition of a kind is missing", () => {
  it.each([
    ["of the whole cluster", []],
    ["of one namespace", ["default"]],
  ])("%s leads with what it knows", async (_, namespaces) => {
    declareKey("kept");
    const release = heldByAnother();
    standBy(namespaces);
    await warm();
    server.setFaults(({ collection: asked }) =>
      asked === apiKeys ? { kind: "status", code: 404, reason: "NotFound" } : undefined,
    );
    server.cut();
    release();
    await eventually(() => expect(terms).toEqual([["kept"]]), patience);
    expect(caches.isCurrent("default")).toBe(true);
  });
});

describe("a process whose caches are not complete", () => {
  const asksForTheLease = () => server.requests.some((request) => request.collection === collection);

  it("leaves the Lease to others, and asks for it as soon as they are", async () => {
    const failing = ({ verb, collection: asked }: FakeRequest) =>
      verb === "list" && asked === apiKeys
        ? ({ kind: "status", code: 500, reason: "InternalError" } as const)
        : undefined;
    server.setFaults(failing);
    standBy();
    const failures = () => server.requests.filter((request) => failing(request) !== undefined).length;
    await eventually(() => expect(failures()).toBeGreaterThan(2), patience);
    await sleep(500);
    expect(asksForTheLease()).toBe(false);
    server.setFaults(() => undefined);
    await eventually(() => expect(terms).toHaveLength(1), patience);
  });

  it("leaves it to others while it has not read the platform's rules, without which it would publish what they forbid", async () => {
    let isKnown = false;
    standBy([], { isKnown: () => isKnown } as FollowedGuardRails);
    await warm();
    await sleep(500);
    expect(asksForTheLease()).toBe(false);
    isKnown = true;
    await eventually(() => expect(terms).toHaveLength(1), patience);
  });

  it("asks for it all the same where it may not see some of its namespaces, and never where it sees none", async () => {
    let hidden = ["a", "b"];
    server.setFaults(({ namespace, verb }) =>
      verb === "list" && hidden.includes(namespace) ? { kind: "status", code: 403, reason: "Forbidden" } : undefined,
    );
    standBy(["a", "b"]);
    await sleep(500);
    expect(asksForTheLease()).toBe(false);
    hidden = ["b"];
    await eventually(() => expect(terms).toHaveLength(1), patience);
    expect(["a", "b"].map((namespace) => caches.isCurrent(namespace))).toEqual([true, false]);
  });
});
