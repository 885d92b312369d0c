// A release that is uninstalled and installed again, on a real API server: Helm deletes the operator's rights and its ServiceAccount
// before the pods have ended, so that the leader can't give the Lease back.

import { beforeAll, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import { isForbidden, type KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { leaseType } from "../../operator/kube/resource-types.ts";
import { createElector } from "../../operator/lead/elector.ts";
import type { LeadObservation } from "../../operator/lead/lead-observation.ts";
import type { Leadership } from "../../operator/lead/leadership.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { serviceAccountToken } from "../support/kubernetes/api-server/api-server-objects.ts";
import { writeKubeconfig } from "../support/kubernetes/api-server/api-server-users.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { eventually } from "../support/time/eventually.ts";

/** Nobody waits for the end of such a Lease. */
const times = { leaseDurationMs: 3_600_000, renewDeadlineMs: 60_000, retryMs: 400, takeMs: 200, callMs: 20_000 };
const account = "jsonplane-operator";
const lease = "jsonplane-operator";

let server: TestApiServer;

beforeAll(async () => {
  server = await sharedApiServer();
});

interface Release {
  readonly api: KubeApi;
  readonly reported: readonly LeadObservation[];
  lead(): Promise<Leadership>;
}

const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const accounts = (namespace: string) => `/api/v1/namespaces/${namespace}/serviceaccounts`;

/** ServiceAccount, rights, and a process that has both. */
async function install(namespace: string): Promise<Release> {
  const token = await serviceAccountToken(server, namespace, account);
  const body = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace, name: account }],
  };
  await apiObject(server, bindings, { method: "POST", body });
  const folder = temporaryFolder("jsonplane-reinstalled-");
  onTestFinished(() => folder.remove());
  const { certificate, url } = server;
  const kubeconfig = await writeKubeconfig({ dir: folder.path, url, certificate }, account, token);
  const { api, account: own } = await createKubeApi({
    kubeconfig,
    environment: {},
    observe: () => undefined,
    monotonic: systemMonotonic,
  });
  onTestFinished(() => api.close());
  const reported: LeadObservation[] = [];
  const elector = createElector({
    api,
    namespace,
    name: lease,
    identity: token.slice(-8),
    account: own,
    clock: systemClock,
    monotonic: systemMonotonic,
    timers: systemTimers,
    random: Math.random,
    times,
    observe: (observation) => reported.push(observation),
  });
  return { api, reported, lead: () => elector.acquire(new AbortController().signal) };
}

/** In the order of `helm uninstall`: the pods are told to stop, and end after all of it is gone. */
async function uninstall(namespace: string, { api }: Release, leadership: Leadership): Promise<void> {
  await apiObject(server, `${bindings}/${namespace}`, { method: "DELETE" });
  await apiObject(server, `${accounts(namespace)}/${account}`, { method: "DELETE" });
  await eventually(async () => {
    const refused = await api.get(leaseType, { namespace, name: lease }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isForbidden(refused) || String(refused).includes("401")).toBe(true);
  });
  await leadership.release();
}

async function leaseIn(namespace: string) {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${lease}`;
  return (await apiObject(server, path)) as unknown as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
    readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number };
  };
}

async function uidOf(namespace: string): Promise<string> {
  return ((await apiObject(server, `${accounts(namespace)}/${account}`)) as { metadata: { uid: string } }).metadata.uid;
}

it("leads although the former leader could not give the Lease back: its ServiceAccount is gone", async () => {
  const namespace = await server.namespace();
  const former = await install(namespace);
  const led = await former.lead();
  const before = await leaseIn(namespace);
  const annotation = "jsonplane.io/holder-account";
  const accountOf = async () => `${namespace}/${account}/${await uidOf(namespace)}/`;
  expect(before.metadata.annotations[annotation]).toBe(`${await accountOf()}${before.spec.holderIdentity}`);
  await uninstall(namespace, former, led);
  expect(former.reported.at(-1)?.kind).toBe("release_failed");
  expect((await leaseIn(namespace)).spec.holderIdentity).toBe(before.spec.holderIdentity);

  const next = await install(namespace);
  const leads = await next.lead();
  onTestFinished(() => leads.release());
  expect(leads.held()).toBe(true);
  const after = await leaseIn(namespace);
  expect(after.spec).toMatchObject({ leaseTransitions: 1 });
  expect(after.metadata.annotations[annotation]).toBe(`${await accountOf()}${after.spec.holderIdentity}`);
  expect(after.metadata.annotations[annotation]).not.toBe(before.metadata.annotations[annotation]);
});

it("a leader that still has its rights leaves the Lease without a holder", async () => {
  const namespace = await server.namespace();
  const former = await install(namespace);
  await (await former.lead()).release();
  expect((await leaseIn(namespace)).spec.holderIdentity).toBe("");
});
