// Namespaces that go and come back, with the operator there or away, in both forms of its rights.

import { afterEach, describe, expect, it } from "vitest";
import { type Declared, declared, newPlace, type Place, placeAt } from "../support/declared.ts";
import { eventually } from "../support/eventually.ts";
import { type OwnFleet, startFleet } from "../support/fleet.ts";
import { grantOperator, operatorUser } from "../support/rbac.ts";

const within = { withinMs: 40_000 };
const controllers = ["namespace"] as const;
let fleet: OwnFleet;

afterEach(() => fleet.stop());

const books = (spec: object = {}): Declared =>
  declared("ApiResource", "books", {
    access: { create: "Anyone", read: "Anyone", scope: { read: "All", write: "All" } },
    schema: { type: "object" },
    ...spec,
  });

async function served(place: Place, ...objects: readonly Declared[]): Promise<void> {
  await place.create(declared("Project", "shop"), ...objects);
  await place.said("ApiResource", "books", "Ready");
  await place.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
}

const drop = (namespace: string, ...more: readonly string[]) =>
  fleet.api.kubectl(["delete", "namespace", namespace, ...more]);

async function withdrawn(place: Place): Promise<void> {
  await place.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
}

describe("a namespace that comes back", () => {
  it("finds its former data only once somebody says so: they may be another team's", async () => {
    fleet = await startFleet({ api: { controllers } });
    const place = await newPlace(fleet);
    await served(place, books());
    await drop(place.namespace, "--timeout=60s");
    await withdrawn(place);
    await fleet.api.kubectl(["create", "namespace", place.namespace]);
    await place.create(declared("Project", "shop"), books());
    const said = await place.said("Project", "shop", "RetainedDataFound", within);
    expect(said["Stalled"]?.status).toBe("True");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await place.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } });
    await place.said("ApiResource", "books", "Ready");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.json<{ count: number }>().count).toBe(1));
  });
});

describe("a namespace that goes while no operator runs", () => {
  it("is gone at once under Retain, and waits for the operator's return under Delete", async () => {
    fleet = await startFleet({ api: { controllers } });
    const [kept, purged] = [await newPlace(fleet), await newPlace(fleet)];
    await served(kept, books());
    await served(purged, books({ deletionPolicy: "Delete" }));
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await drop(kept.namespace, "--timeout=60s");
    await drop(purged.namespace, "--wait=false");
    // What was published goes on being served: nobody withdraws it.
    await kept.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200));
    await fleet.addOperator();
    await Promise.all([withdrawn(kept), withdrawn(purged)]);
    await eventually(async () => {
      await expect(fleet.api.kubectl(["get", "namespace", purged.namespace])).rejects.toThrow("not found");
    }, within);
  });
});

describe("an operator with rights in some namespaces only", () => {
  it("lets a namespace go that takes its rights along, withdraws what was in it, and serves the others", async () => {
    fleet = await startFleet({ operators: 0, replicas: 0, api: { controllers } });
    const [going, staying] = [await fleet.api.namespace("going"), await fleet.api.namespace("staying")];
    await grantOperator(fleet.api, [going, staying]);
    const kubeconfig = await fleet.api.kubeconfig(operatorUser);
    await fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", `${going},${staying}`] });
    await fleet.addReplica();
    await served(placeAt(fleet, going), books({ deletionPolicy: "Delete" }));
    await served(placeAt(fleet, staying), books());
    await drop(going, "--timeout=60s");
    await withdrawn(placeAt(fleet, going));
    await placeAt(fleet, staying).edit("ApiResource", "books", { access: { read: "Nobody" } });
    await placeAt(fleet, staying).everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(403), within);

    // What it may not see any more holds up neither its next start nor the others.
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", `${going},${staying}`] });
    await placeAt(fleet, staying).edit("ApiResource", "books", { access: { read: "Anyone" } });
    await placeAt(fleet, staying).everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200), within);
    await fleet.api.kubectl(["create", "namespace", going]);
    await grantOperator(fleet.api, [going]);
    await placeAt(fleet, going).create(declared("Project", "shop"));
    await placeAt(fleet, going).said("Project", "shop", "Ready", within);
  });

  it("takes nothing for gone that it may not see, and deletes no data for that", async () => {
    fleet = await startFleet({ operators: 0, replicas: 0 });
    const [halfSeen, seen] = [await fleet.api.namespace("half-seen"), await fleet.api.namespace("seen")];
    await grantOperator(fleet.api, [halfSeen, seen]);
    const start = async () =>
      fleet.addOperator({
        kubeconfig: await fleet.api.kubeconfig(operatorUser),
        args: ["--watch-namespaces", `${halfSeen},${seen}`],
      });
    await start();
    await fleet.addReplica();
    const place = placeAt(fleet, halfSeen);
    await served(place, books({ deletionPolicy: "Delete" }));
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    const lessOf = (resources: string) =>
      fleet.api.kubectl([
        ...["patch", "role", "jsonplane-operator", "--namespace", halfSeen, "--type=json"],
        ...["-p", `[{"op":"replace","path":"/rules/0/resources","value":${resources}}]`],
      ]);
    await lessOf('["projects","projectusers","apikeys","rootkeys"]');
    await start();
    await served(placeAt(fleet, seen), books());
    await place.edit("Project", "shop", { serving: "ReadOnly" });
    const expectCount = (reply: { json<T>(): T }) => expect(reply.json<{ count: number }>().count).toBe(1);
    await place.everywhere("/api/books", {}, expectCount);
    await lessOf('["projects","apiresources","projectusers","apikeys","rootkeys"]');
    await place.said("Project", "shop", "Ready", within);
    await place.everywhere("/api/books", {}, expectCount);
  });
});
