// An operator in a pod whose ServiceAccount is deleted and created again: its token is refused for
// good, and readiness says so until the pod has another token.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { createPod, type Pod } from "../support/fleet/pod.ts";
import { send } from "../support/http/http-client.ts";
import { declared, newTenant, openBooks } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
let fleet: OwnFleet;
let pod: Pod;
let operator: OperatorProcess;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0 });
  pod = await createPod(fleet.api, systemNamespace);
  operator = await fleet.addOperator({ pod });
});
afterAll(async () => {
  await fleet?.stop();
  await pod?.close();
});

const readiness = async (): Promise<string> => (await send(operator.adminUrl, "/readyz")).text;

it("an operator whose ServiceAccount was made anew is not ready, and leads again by a token of the new one", async () => {
  await eventually(async () => expect(await operator.leads()).toBe(true), within);
  await fleet.api.kubectl(["delete", "serviceaccount", "pod", "-n", systemNamespace]);
  await fleet.api.kubectl(["create", "serviceaccount", "pod", "-n", systemNamespace]);
  await eventually(async () => expect(await readiness()).toContain("refuses the operator's credentials (401"), within);
  await eventually(async () => expect(await operator.leads()).toBe(false), within);
  expect(operator.log()).toContain("create it and replace the pods");
  await pod.renewToken();
  await eventually(async () => expect(await operator.leads()).toBe(true), within);
  expect(await readiness()).toBe("ok\n");
  await fleet.addReplica();
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), openBooks());
  await tenant.reports("ApiResource", "books", "Ready", within);
});
