// A namespace that was made anew before the operator heard of it: its watch of namespaces is behind, all others are not.

import { expect, it } from "vitest";
import { declared, type Place, placeAt } from "../support/declared.ts";
import { startFleet } from "../support/fleet.ts";
import { grantOperator } from "../support/rbac.ts";

const within = { withinMs: 40_000 };
const books = declared("ApiResource", "books", {
  access: { create: "Anyone", read: "Anyone", scope: { read: "All", write: "All" } },
  schema: { type: "object" },
});

it("keeps the data of an earlier namespace from a later one of its name, and does not take its own for that", async () => {
  const fleet = await startFleet({ operators: 0, replicas: 0, api: { controllers: ["namespace"] } });
  try {
    const kubeconfig = await fleet.api.kubeconfig(await grantOperator(fleet.api, "cluster"));
    await fleet.addOperator({ kubeconfig });
    await fleet.addReplica();
    const served = async (place: Place) => {
      await place.create(declared("Project", "shop"), books);
      await place.said("ApiResource", "books", "Ready", within);
      await place.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
    };
    const [withData, without] = [
      placeAt(fleet, await fleet.api.namespace()),
      placeAt(fleet, await fleet.api.namespace()),
    ];
    await served(withData);

    // From the restart on it is told nothing of namespaces.
    const cluster = ["clusterrole", "jsonplane-operator", "--type=json", "-p"];
    const rules = JSON.parse(await fleet.api.kubectl(["get", "clusterrole", "jsonplane-operator", "-o", "json"])).rules;
    const at = rules.findIndex(({ resources }: { resources: readonly string[] }) => resources.includes("namespaces"));
    const verbs = (...allowed: readonly string[]) =>
      fleet.api.kubectl([
        "patch",
        ...cluster,
        JSON.stringify([{ op: "replace", path: `/rules/${at}/verbs`, value: allowed }]),
      ]);
    await verbs("get");
    await fleet.api.restartApiServer();
    for (const { namespace } of [withData, without]) {
      await fleet.api.kubectl(["delete", "namespace", namespace, "--timeout=60s"]);
      await fleet.api.kubectl(["create", "namespace", namespace]);
    }
    await withData.create(declared("Project", "shop"), books);
    await withData.said("Project", "shop", "RetainedDataFound", within);
    await withData.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));

    await served(without);
    await verbs("get", "list", "watch");
    await without.patch("Project", "shop", { spec: { serving: "ReadOnly" } });
    await without.said("Project", "shop", "Ready", within);
    await new Promise((resume) => setTimeout(resume, 12_000));
    await without.patch("Project", "shop", { spec: { serving: "ReadWrite" } });
    await without.said("Project", "shop", "Ready", within);
    await without.everywhere("/api/books", {}, (reply) => expect(reply.json<{ count: number }>().count).toBe(1));
  } finally {
    await fleet.stop();
  }
});
