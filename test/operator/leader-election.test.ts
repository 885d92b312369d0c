// Leader election on a real API server, with shorter times than in a fleet.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { createElector, type Leadership, type LeadObservation } from "../../operator/lead/elector.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { eventually } from "../support/time/eventually.ts";

/** Long enough for a machine that stands still for a second or two. */
const leaseDurationMs = 6_000;

let server: TestApiServer;
/** The electors' way to the server. */
let proxy: TcpProxy;
let api: KubeApi;
let namespace: string;
let stop: AbortController;
let leaderships: Leadership[];

beforeAll(async () => {
  server = await sharedApiServer();
  proxy = await startTcpProxy(Number(new URL(server.url).port));
  const kubeconfig = await kubeconfigThrough(await server.kubeconfig(), proxy.port);
  const connected = await createKubeApi({
    kubeconfig,
    environment: {},
    observe: () => undefined,
    monotonic: systemMonotonic,
  });
  api = connected.api;
});
afterAll(async () => {
  await api?.close();
  await proxy?.stop();
});

beforeEach(async () => {
  namespace = await server.namespace();
  stop = new AbortController();
  leaderships = [];
  return async () => {
    stop.abort(new Error("The test is over"));
    for (const leadership of leaderships) await leadership.release();
  };
});

async function lead(identity: string, reported: LeadObservation[] = []): Promise<Leadership> {
  const elector = createElector({
    api,
    namespace,
    name: "jsonplane-operator",
    identity,
    clock: systemClock,
    monotonic: systemMonotonic,
    timers: systemTimers,
    random: Math.random,
    leaseDurationMs,
    observe: (observation) => reported.push(observation),
  });
  const leadership = await elector.acquire(stop.signal);
  leaderships.push(leadership);
  return leadership;
}

const lease = () => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/jsonplane-operator`;

async function spec(): Promise<Record<string, unknown>> {
  return (await apiObject(server, lease()))["spec"] as Record<string, unknown>;
}

test("the first makes the Lease and keeps it; a release hands it to the second at its next attempt", async () => {
  const first = await lead("first");
  const { acquireTime, renewTime } = await spec();
  expect(await spec()).toMatchObject({ holderIdentity: "first", leaseDurationSeconds: 6, leaseTransitions: 0 });
  const reported: LeadObservation[] = [];
  const second = lead("second", reported);
  await eventually(() => expect(reported).toContainEqual({ kind: "holder", holder: "first" }));
  await eventually(async () => expect((await spec())["renewTime"]).not.toBe(renewTime));
  expect((await spec())["acquireTime"]).toBe(acquireTime);
  expect(await first.confirm()).toBe(true);

  await first.release();
  expect(first.held()).toBe(false);
  expect((await second).held()).toBe(true);
  expect(await spec()).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
});

test("of five that come at once, one leads", async () => {
  const identities = ["a", "b", "c", "d", "e"];
  const all = identities.map((identity) => lead(identity));
  void Promise.allSettled(all);
  await eventually(() => expect(leaderships).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, leaseDurationMs));
  expect(leaderships.filter((each) => each.held())).toHaveLength(1);
});

test("a Lease that is taken by hand, or deleted, ends leadership", async () => {
  const first = await lead("first");
  const contentType = "application/merge-patch+json";
  await apiObject(server, lease(), { method: "PATCH", body: { spec: { holderIdentity: "by-hand" } }, contentType });
  await eventually(() => expect(first.ended.aborted).toBe(true));

  const second = await lead("second");
  await apiObject(server, lease(), { method: "DELETE" });
  await eventually(() => expect(second.ended.aborted).toBe(true));
});

test("a leader that can't reach the API server ends by itself, and one leads again when it is back", async () => {
  const first = await lead("first");
  proxy.hold();
  try {
    await eventually(() => expect(first.ended.aborted).toBe(true));
  } finally {
    proxy.release();
  }
  const second = await lead("second");
  expect([first.held(), second.held()]).toEqual([false, true]);
});
