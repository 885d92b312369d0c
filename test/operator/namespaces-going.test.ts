// Namespaces that go while no operator runs, and such that are made again before it heard of it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OwnApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { endNamespace, ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { bookCount } from "../support/kubernetes/former-namespace.ts";
import { changeRule, grantOperator } from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
let fleet: OwnFleet;
let api: OwnApiServer;

beforeAll(async () => {
  fleet = await startFleet({ api: { controllers: ["namespace"], own: true } });
  api = fleet.api;
});
afterAll(() => fleet?.stop());

async function stopOperators(): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
}

async function served(tenant: Tenant, ...objects: readonly Declared[]): Promise<void> {
  await tenant.create(declared("Project", "shop"), ...objects);
  await tenant.reports("ApiResource", "books", "Ready");
  await tenant.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
}

const namespacePath = ({ namespace }: Tenant) => `/api/v1/namespaces/${namespace}`;

/** What the operator's metric says of its watch of namespaces. */
async function ofNamespaces(metric: string): Promise<number> {
  const text = (await fleet.operators[0]?.metrics()) ?? "";
  const [, figure] = new RegExp(`^${metric}\\{kind="Namespace"\\} (\\S+)$`, "m").exec(text) ?? [];
  if (figure === undefined) throw new Error(`No ${metric} of namespaces`);
  return Number(figure);
}

async function withdrawn(tenant: Tenant): Promise<void> {
  await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
}

describe("a namespace that goes while no operator runs", () => {
  it("is gone at once under Retain, and waits for the operator's return under Delete", async () => {
    const [kept, waiting] = [await newTenant(fleet), await newTenant(fleet)];
    await served(kept, openBooks());
    await served(waiting, openBooks({ deletionPolicy: "Delete" }));
    await stopOperators();
    await apiObject(api, namespacePath(waiting), { method: "DELETE" });
    await endNamespace(api, kept.namespace);
    // What was published goes on being served: nobody withdraws it.
    await kept.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200));
    expect((await apiObject(api, namespacePath(waiting))).metadata?.["deletionTimestamp"]).toBeDefined();
    await fleet.addOperator();
    await Promise.all([withdrawn(kept), withdrawn(waiting)]);
    await eventually(() => expect(apiObject(api, namespacePath(waiting))).rejects.toThrow("NotFound"), within);
  });
});

describe("a namespace that was made anew before the operator heard of it: its watch of namespaces is behind, all others are not", () => {
  it("has the data of an earlier namespace kept from it, and its own are not taken for those", async () => {
    await stopOperators();
    const kubeconfig = await api.kubeconfig(await grantOperator(api, "cluster"));
    await fleet.addOperator({ kubeconfig });
    const [withData, without] = [await newTenant(fleet), await newTenant(fleet)];
    await served(withData, openBooks());

    // From the restart on it is told nothing of namespaces.
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/jsonplane-operator";
    const { rules } = (await apiObject(api, role)) as unknown as ClusterRole;
    const at = rules.findIndex(({ resources }) => resources.includes("namespaces"));
    const verbs = (...allowed: readonly string[]) => changeRule(api, role, { [`${at}/verbs`]: allowed });
    await verbs("get");
    await api.restartApiServer();
    await Promise.all(
      [withData, without].map(async ({ namespace }) => {
        await endNamespace(api, namespace);
        await ensureNamespace(api, namespace);
      }),
    );
    await withData.create(declared("Project", "shop"), openBooks());
    await withData.reports("Project", "shop", "RetainedDataFound", within);
    await withData.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));

    await served(without, openBooks());
    const granted = Date.now() / 1_000;
    await verbs("get", "list", "watch");
    await without.patch("Project", "shop", { spec: { serving: "ReadOnly" } });
    await without.reports("Project", "shop", "Ready", within);
    // The watch that failed is tried again, and tells of the namespace that is there now before it
    // tells of a later one.
    await eventually(async () => {
      expect(await ofNamespaces("jsonplane_informer_last_activity_timestamp_seconds")).toBeGreaterThan(granted);
    }, within);
    const since = Date.now() / 1_000;
    await newTenant(fleet);
    await eventually(async () => {
      expect(await ofNamespaces("jsonplane_informer_last_activity_timestamp_seconds")).toBeGreaterThan(since);
    }, within);
    await without.patch("Project", "shop", { spec: { serving: "ReadWrite" } });
    await without.reports("Project", "shop", "Ready", within);
    await bookCount(without, 1);
  });
});

interface ClusterRole {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}
