// The operator with exactly the rights of deploy/rbac: it gets along with them, and uses every one.

import { describe, expect, it, type TestContext } from "vitest";
import { createEventRecorder, type EventObservation } from "../../operator/events/event-recorder.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { endNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newTenant, secretOf, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import {
  grantedElsewhere,
  grantedInItsNamespace,
  grantOperator,
  operatorUser,
  type RbacForm,
  refusedVerbs,
  usedVerbs,
} from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualTime } from "../support/time/manual-time.ts";

const within = { withinMs: 90_000 };
const withData = ["Project", "ApiResource", "RootKey"] as const;
async function gone(tenant: Tenant, ...objects: readonly (readonly [kind: string, name: string])[]): Promise<void> {
  for (const [kind, name] of objects) {
    await tenant.gone(kind, name, within);
  }
}

/** Everything that makes the operator write or read something of its own kind, in both forms. */
async function useEverything(tenant: Tenant, form: RbacForm): Promise<void> {
  await tenant.create(
    secretOf("given", { password: "correct horse" }),
    declared("Project", "shop", { deletionPolicy: "Delete" }),
    declared("ApiResource", "books", { schema: { type: "object" } }),
    declared("RootKey", "flags", { initialValue: {} }),
    declared("ProjectUser", "ann", { passwordSecretRef: { name: "given", key: "password" } }),
    declared("ProjectUser", "bob"),
    declared("ApiKey", "web", { rotation: { id: "1" } }),
  );
  await tenant.fleet.ready(tenant.namespace);
  // Its own annotation is what renews the fleet's key ring, step by step while everything else goes
  // on.
  const home = tenantAt(tenant.fleet, systemNamespace);
  await home.patch("Secret", "jsonplane-keyring", { metadata: { annotations: { "jsonplane.io/rotate": "now" } } });
  await tenant.edit("ApiKey", "web", { rotation: { id: "2" } });
  await tenant.reports("ApiKey", "web", "Ready");
  await tenant.edit("ApiResource", "books", { schema: { type: "wrong" } });
  await tenant.reports("ApiResource", "books", "InvalidSchema");
  if (form === "cluster") await letServiceAccountsIn(tenant);
  await tenant.remove("ApiKey", "web");
  await tenant.remove("ProjectUser", "bob");
  await gone(tenant, ["Secret", "web-api-key"], ["Secret", "bob-password"]);
  expect((await tenant.get("Secret", "given")).metadata.name).toBe("given");
  await writeAgainstConflicts(tenant);
  await repeatAnEvent(tenant);
  await eventually(async () => {
    const { metadata } = await home.get("Secret", "jsonplane-keyring");
    expect(metadata.annotations).toHaveProperty(["jsonplane.io/rotated"]);
  }, within);
}

/** In the namespaced form, it is the cluster that gives the right to its issuer. */
async function letServiceAccountsIn(tenant: Tenant): Promise<void> {
  const serviceAccounts = [{ namespace: "jobs", name: "importer" }];
  const cluster = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts };
  await tenant.edit("Project", "shop", { authentication: { issuers: [cluster] } });
  await tenant.reports("Project", "shop", "Ready");
}

/** Somebody edits while a status is written: the operator reads that one object again. */
async function writeAgainstConflicts(tenant: Tenant): Promise<void> {
  const edited = [
    ["ApiResource", "books"],
    ["RootKey", "flags"],
  ] as const;
  let round = 0;
  const edit = async ([kind, name]: (typeof edited)[number]): Promise<void> => {
    await tenant.edit(kind, name, { access: { read: round % 2 === 0 ? "Anyone" : "Nobody" } });
    for (let times = 0; times < 20; times += 1) {
      await tenant.patch(kind, name, { metadata: { annotations: { times: String(times) } } });
    }
  };
  await eventually(async () => {
    round += 1;
    await Promise.all(edited.map(edit));
    const used = await usedVerbs(tenant.fleet.api, operatorUser);
    for (const verb of ["get apiresources.jsonplane.io", "get rootkeys.jsonplane.io"]) expect(used).toContain(verb);
  }, within);
}

/**
 * The same Event is counted up after five minutes: the operator's own recorder, and a clock that is
 * moved on.
 */
async function repeatAnEvent(tenant: Tenant): Promise<void> {
  const time = manualTime(Date.now());
  const reported: EventObservation[] = [];
  const { api } = await createKubeApi({
    kubeconfig: await tenant.fleet.api.kubeconfig(operatorUser),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  const observe = (observation: EventObservation) => void reported.push(observation);
  const recorder = createEventRecorder({ ...time, api, instance: "operator", random: Math.random, observe });
  const { uid } = (await tenant.get("Project", "shop")).metadata;
  const subject = { kind: "Project", namespace: tenant.namespace, name: "shop", uid } as const;
  const written = { kind: "written" } as const;
  for (const expected of [[written], [written, written]]) {
    recorder.emit(subject, { type: "Normal", reason: "Ready", action: "Reconcile", note: "Again" });
    await eventually(() => expect(reported).toEqual(expected), within);
    time.freeze(301_000);
  }
  const again = (await tenant.events("Project", "shop")).filter(({ note }) => note === "Again");
  expect(again).toHaveLength(1);
  await recorder.stop();
  await api.close();
}

/** Finalizers that a restored manifest brings belong to somebody else's field manager. */
async function restoreAndDelete(tenant: Tenant): Promise<void> {
  const projectRef = { name: "restored" };
  for (const kind of withData) {
    const child = { projectRef, deletionPolicy: "Delete", ...(kind === "ApiResource" && { schema: {} }) };
    const manifest = declared(kind, "restored", kind === "Project" ? {} : child);
    const metadata = { name: "restored", finalizers: ["jsonplane.io/purge"] };
    await tenant.fleet.api.apply(JSON.stringify({ ...manifest, metadata }), { namespace: tenant.namespace });
  }
  for (const kind of withData.toReversed()) {
    await tenant.reports(kind, "restored", "Ready", within);
    await tenant.remove(kind, "restored");
    await gone(tenant, [kind, "restored"]);
  }
}

/** A second operator leads once the first one has stopped. */
async function changeLeader(fleet: OwnFleet, start: () => Promise<unknown>): Promise<void> {
  const former = fleet.operators.splice(0);
  await start();
  for (const operator of former) await operator.stop();
  await eventually(async () => expect(await fleet.operators[0]?.leads()).toBe(true), within);
}

const sorted = (verbs: ReadonlySet<string>): readonly string[] => [...verbs].sort();

/** Each right is used where it is given, nothing else is asked for, and nothing was refused. */
async function expectExactly({ api }: OwnFleet, form: RbacForm): Promise<void> {
  const isHome = (namespace: string | undefined) => namespace === operatorUser.namespace;
  // The last of it, and its line in the audit log, come a moment later.
  await eventually(async () => {
    const home = await usedVerbs(api, operatorUser, isHome);
    const elsewhere = await usedVerbs(api, operatorUser, (namespace) => !isHome(namespace));
    expect(sorted(home)).toEqual(sorted(await grantedInItsNamespace()));
    expect(sorted(without(elsewhere, seldom))).toEqual(sorted(without(await grantedElsewhere(form), seldom)));
  }, within);
  expect(await refusedVerbs(api, operatorUser)).toEqual([]);
}

/**
 * Without operator and replica; both forms have a fleet of their own, side by side: much of the
 * time is waiting.
 */
async function startEmpty({ onTestFinished }: TestContext, controllers: readonly "namespace"[]): Promise<OwnFleet> {
  const fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true, controllers } });
  onTestFinished(() => fleet.stop());
  return fleet;
}

describe.concurrent("the cluster-wide form", () => {
  it("is enough, and not too much", async (test) => {
    const fleet = await startEmpty(test, ["namespace"]);
    await grantOperator(fleet.api, "cluster");
    const kubeconfig = await fleet.api.kubeconfig(operatorUser);
    await fleet.addOperator({ kubeconfig });
    await fleet.addReplica();
    const tenant = await newTenant(fleet);
    await useEverything(tenant, "cluster");
    await restoreAndDelete(tenant);
    await changeLeader(fleet, () => fleet.addOperator({ kubeconfig }));
    await tenant.remove("RootKey", "flags");
    await tenant.remove("Project", "shop");
    await gone(tenant, ["Project", "shop"], ["RootKey", "flags"]);
    // A namespace that is not in the cache any more is asked for.
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready", within);
    await endNamespace(fleet.api, tenant.namespace);
    await tenant.everywhere("/", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
    await expectExactly(fleet, "cluster");
  });
});

describe.concurrent("the namespaced form", () => {
  it("is enough, and not too much", async (test) => {
    const fleet = await startEmpty(test, []);
    const namespace = await fleet.api.namespace("watched");
    await grantOperator(fleet.api, [namespace]);
    const kubeconfig = await fleet.api.kubeconfig(operatorUser);
    const start = () => fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", namespace] });
    await start();
    await fleet.addReplica();
    const tenant = tenantAt(fleet, namespace);
    await useEverything(tenant, [namespace]);
    await changeLeader(fleet, start);
    await tenant.remove("Project", "shop");
    await gone(tenant, ["Project", "shop"]);
    await expectExactly(fleet, [namespace]);
  });
});

/** Asked for one by one only where a namespace is younger than what the watch has told. */
const seldom = "get namespaces";

function without(verbs: ReadonlySet<string>, verb: string): ReadonlySet<string> {
  return new Set([...verbs].filter((each) => each !== verb));
}
