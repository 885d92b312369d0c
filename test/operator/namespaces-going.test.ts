// Namespaces that go and come back, with the operator there or away, in both forms of its rights.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type OwnApiServer, startApiServer } from "../support/api-server.ts";
import { apiObject } from "../support/api-server-call.ts";
import { endNamespace, ensureNamespace } from "../support/api-server-objects.ts";
import { type Declared, declared, newPlace, type Place, placeAt } from "../support/declared.ts";
import { eventually } from "../support/eventually.ts";
import { type FleetOptions, type OwnFleet, startFleet } from "../support/fleet.ts";
import { bookCount, namespaceThatCameBack, openBooks } from "../support/former-namespace.ts";
import { grantOperator, operatorUser } from "../support/rbac.ts";
import { askRedis } from "../support/redis-line.ts";

const within = { withinMs: 90_000 };
let api: OwnApiServer;
let fleet: OwnFleet;

beforeAll(async () => {
  api = await startApiServer({ controllers: ["namespace"] });
});
afterEach(() => fleet.stop());
afterAll(() => api?.stop());

const start = async (options: FleetOptions = {}): Promise<void> => {
  fleet = await startFleet({ ...options, on: api });
};

/** A fleet whose operator has rights in these namespaces only. */
async function startNamespaced(namespaces: readonly string[]): Promise<void> {
  await start({ operators: 0, replicas: 0 });
  await grantOperator(api, namespaces);
  await addNamespaced(namespaces);
  await fleet.addReplica();
}

async function addNamespaced(namespaces: readonly string[]): Promise<void> {
  const kubeconfig = await api.kubeconfig(operatorUser);
  await fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", namespaces.join(",")] });
}

async function stopOperators(): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
}

async function served(place: Place, ...objects: readonly Declared[]): Promise<void> {
  await place.create(declared("Project", "shop"), ...objects);
  await place.said("ApiResource", "books", "Ready");
  await place.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
}

const namespacePath = ({ namespace }: Place) => `/api/v1/namespaces/${namespace}`;

/** What an operator had not purged before it stopped, none that comes later can know to be unwanted. */
async function purged(namespace: string): Promise<void> {
  const documents = `ZCARD jp:{${namespace}/shop/books}:ids`;
  await eventually(async () => expect((await askRedis(fleet.redis.port, documents)).trim()).toBe(":0"), within);
}

async function withdrawn(place: Place): Promise<void> {
  await place.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
}

describe("a namespace that comes back", () => {
  it("finds its former data only once somebody says so: they may be another team's", async () => {
    await start();
    const place = await namespaceThatCameBack(fleet);
    await place.create(declared("Project", "shop"), openBooks());
    const said = await place.said("Project", "shop", "RetainedDataFound", within);
    expect(said["Stalled"]?.status).toBe("True");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await place.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } });
    await place.said("ApiResource", "books", "Ready");
    await bookCount(place, 1);
  });
});

describe("a namespace that goes while no operator runs", () => {
  it("is gone at once under Retain, and waits for the operator's return under Delete", async () => {
    await start();
    const [kept, waiting] = [await newPlace(fleet), await newPlace(fleet)];
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

describe("an operator with rights in some namespaces only", () => {
  it("lets a namespace go that takes its rights along, withdraws what was in it, and serves the others", async () => {
    const [going, staying] = [await api.namespace("going"), await api.namespace("staying")];
    await startNamespaced([going, staying]);
    await served(placeAt(fleet, going), openBooks({ deletionPolicy: "Delete" }));
    await served(placeAt(fleet, staying), openBooks());
    await endNamespace(api, going);
    await withdrawn(placeAt(fleet, going));
    await purged(going);
    await placeAt(fleet, staying).edit("ApiResource", "books", { access: { read: "Nobody" } });
    await placeAt(fleet, staying).everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(403), within);

    // What it may not see any more holds up neither its next start nor the others.
    await stopOperators();
    await addNamespaced([going, staying]);
    await placeAt(fleet, staying).edit("ApiResource", "books", { access: { read: "Anyone" } });
    await placeAt(fleet, staying).everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200), within);
    await ensureNamespace(api, going);
    await grantOperator(api, [going]);
    await placeAt(fleet, going).create(declared("Project", "shop"));
    await placeAt(fleet, going).said("Project", "shop", "Ready", within);
  });

  it("takes nothing for gone that it may not see, and deletes no data for that", async () => {
    const [halfSeen, seen] = [await api.namespace("half-seen"), await api.namespace("seen")];
    await startNamespaced([halfSeen, seen]);
    const place = placeAt(fleet, halfSeen);
    await served(place, openBooks({ deletionPolicy: "Delete" }));
    await stopOperators();
    const rightsOn = (...resources: readonly string[]) =>
      patchRule(`namespaces/${halfSeen}/roles/jsonplane-operator`, "0/resources", resources);
    await rightsOn("projects", "projectusers", "apikeys", "rootkeys");
    await addNamespaced([halfSeen, seen]);
    await served(placeAt(fleet, seen), openBooks());
    await place.edit("Project", "shop", { serving: "ReadOnly" });
    await bookCount(place, 1);
    await rightsOn("projects", "apiresources", "projectusers", "apikeys", "rootkeys");
    await place.said("Project", "shop", "Ready", within);
    await bookCount(place, 1);
  });
});

/** `role` and `member` = paths below the API of roles, and below the rules of this one. */
async function patchRule(role: string, member: string, value: readonly string[]): Promise<void> {
  const body = [{ op: "replace", path: `/rules/${member}`, value }];
  const path = `/apis/rbac.authorization.k8s.io/v1/${role}`;
  await apiObject(api, path, { method: "PATCH", body, contentType: "application/json-patch+json" });
}

// The last one, because it leaves the operator rights in the whole cluster.
describe("a namespace that was made anew before the operator heard of it: its watch of namespaces is behind, all others are not", () => {
  it("has the data of an earlier namespace kept from it, and its own are not taken for those", async () => {
    await start({ operators: 0, replicas: 0 });
    await fleet.addOperator({ kubeconfig: await api.kubeconfig(await grantOperator(api, "cluster")) });
    await fleet.addReplica();
    const [withData, without] = [await newPlace(fleet), await newPlace(fleet)];
    await served(withData, openBooks());

    // From the restart on it is told nothing of namespaces.
    const role = "clusterroles/jsonplane-operator";
    const { rules } = (await apiObject(api, `/apis/rbac.authorization.k8s.io/v1/${role}`)) as unknown as ClusterRole;
    const at = rules.findIndex(({ resources }) => resources.includes("namespaces"));
    const verbs = (...allowed: readonly string[]) => patchRule(role, `${at}/verbs`, allowed);
    await verbs("get");
    await api.restartApiServer();
    await Promise.all(
      [withData, without].map(async ({ namespace }) => {
        await endNamespace(api, namespace);
        await ensureNamespace(api, namespace);
      }),
    );
    await withData.create(declared("Project", "shop"), openBooks());
    await withData.said("Project", "shop", "RetainedDataFound", within);
    await withData.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));

    await served(without, openBooks());
    await verbs("get", "list", "watch");
    await without.patch("Project", "shop", { spec: { serving: "ReadOnly" } });
    await without.said("Project", "shop", "Ready", within);
    // The watch that failed is tried again within five seconds, and tells of the namespace that is there now.
    await sleep(12_000);
    await without.patch("Project", "shop", { spec: { serving: "ReadWrite" } });
    await without.said("Project", "shop", "Ready", within);
    await bookCount(without, 1);
  });
});

interface ClusterRole {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}
