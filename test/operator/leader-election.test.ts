// Leader election on a real API server, with shorter times than in a fleet.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { createElector } from "../../operator/lead/elector.ts";
import type { LeadObservation } from "../../operator/lead/lead-observation.ts";
import type { Leadership } from "../../operator/lead/leadership.ts";
import type { LeaseTimes } from "../../operator/lead/lease-times.ts";
import { type OwnApiServer, startApiServer } from "../support/api-server.ts";
import { eventually } from "../support/eventually.ts";

const times: LeaseTimes = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 400, callMs: 1_000 };

let server: OwnApiServer;
let api: KubeApi;
let namespace: string;
let stop: AbortController;
let leaderships: Leadership[];

beforeAll(async () => {
  server = await startApiServer({ crds: false });
  const kubeconfig = await server.kubeconfig("admin");
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
  await server?.stop();
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

async function lead(identity: string, told: LeadObservation[] = []): Promise<Leadership> {
  const elector = createElector({
    api,
    namespace,
    name: "jsonplane-operator",
    identity,
    clock: systemClock,
    monotonic: systemMonotonic,
    timers: systemTimers,
    random: Math.random,
    times,
    observe: (observation) => told.push(observation),
  });
  const leadership = await elector.acquire(stop.signal);
  leaderships.push(leadership);
  return leadership;
}

async function spec(): Promise<Record<string, unknown>> {
  const lease = ["get", "lease", "jsonplane-operator", "--namespace", namespace, "-o", "json"];
  return (JSON.parse(await server.kubectl(lease)) as { spec: Record<string, unknown> }).spec;
}

test("the first makes the Lease and keeps it; a release hands it to the second at its next attempt", async () => {
  const first = await lead("first");
  const { acquireTime, renewTime } = await spec();
  expect(await spec()).toMatchObject({ holderIdentity: "first", leaseDurationSeconds: 3, leaseTransitions: 0 });
  const told: LeadObservation[] = [];
  const second = lead("second", told);
  await eventually(() => expect(told).toEqual([{ kind: "holder", holder: "first" }]));
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
  await new Promise((resolve) => setTimeout(resolve, times.leaseDurationMs));
  expect(leaderships.filter((each) => each.held())).toHaveLength(1);
});

test("a Lease that is taken by hand, or deleted, ends leadership", async () => {
  const first = await lead("first");
  const patch = JSON.stringify({ spec: { holderIdentity: "by-hand" } });
  await server.kubectl([
    "patch",
    "lease",
    "jsonplane-operator",
    `--namespace=${namespace}`,
    "--type=merge",
    "-p",
    patch,
  ]);
  await eventually(() => expect(first.ended.aborted).toBe(true));

  const second = await lead("second");
  await server.kubectl(["delete", "lease", "jsonplane-operator", `--namespace=${namespace}`]);
  await eventually(() => expect(second.ended.aborted).toBe(true));
});

test("a leader that can't reach the API server ends in time, and one leads again when it is back", async () => {
  const first = await lead("first");
  server.pauseApiServer();
  try {
    await eventually(() => expect(first.ended.aborted).toBe(true), { withinMs: times.leaseDurationMs });
  } finally {
    server.resumeApiServer();
  }
  const second = await lead("second");
  expect([first.held(), second.held()]).toEqual([false, true]);
});
