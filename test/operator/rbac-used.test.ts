// The operator with exactly the rights of deploy/rbac: it gets along with them, and uses every one.

import { afterEach, describe, expect, it } from "vitest";
import { declared, newPlace, type Place, placeAt, secretOf } from "../support/declared.ts";
import { eventually } from "../support/eventually.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { grantedToOperator, grantOperator, operatorUser, refusedVerbs, usedVerbs } from "../support/rbac.ts";

const within = { withinMs: 30_000 };
let fleet: Fleet;

afterEach(() => fleet.stop());

/** Everything that makes the operator write or read something of its own kind. */
async function useEverything(place: Place): Promise<void> {
  await place.create(
    secretOf("given", { password: "correct horse" }),
    declared("Project", "shop", { deletionPolicy: "Delete" }),
    declared("ApiResource", "books", { schema: { type: "object" } }),
    declared("RootKey", "flags", { initialValue: {} }),
    declared("ProjectUser", "ann", { passwordSecretRef: { name: "given", key: "password" } }),
    declared("ProjectUser", "bob"),
    declared("ApiKey", "web", { rotation: { id: "1" } }),
  );
  await fleet.ready(place.namespace);
  await place.edit("ApiKey", "web", { rotation: { id: "2" } });
  await place.said("ApiKey", "web", "Ready");
  await place.edit("ApiResource", "books", { schema: { type: "wrong" } });
  await place.said("ApiResource", "books", "InvalidSchema");
  await place.remove("ApiKey", "web");
  await place.remove("ProjectUser", "bob");
  await eventually(async () => {
    await expect(place.get("Secret", "web-api-key")).rejects.toThrow("404");
    await expect(place.get("Secret", "bob-password")).rejects.toThrow("404");
  }, within);
  // Its own annotation is what renews the fleet's key ring.
  const rotate = "jsonplane.io/rotate=now";
  await fleet.api.kubectl(["annotate", "secret", "jsonplane-keyring", rotate, "--namespace", "jsonplane-system"]);
  await eventually(async () => {
    const { metadata } = await fleet.get("secret", "jsonplane-system", "jsonplane-keyring");
    expect(JSON.stringify(metadata)).toContain("jsonplane.io/rotated");
  }, within);
}

describe("the cluster-wide form", () => {
  it("is enough, and not too much", async () => {
    fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
    await grantOperator(fleet.api, "cluster");
    await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(operatorUser) });
    await fleet.addReplica();
    const place = await newPlace(fleet);
    await useEverything(place);
    await place.remove("RootKey", "flags");
    await place.remove("Project", "shop");
    await eventually(async () => {
      await expect(place.get("Project", "shop")).rejects.toThrow("404");
      await expect(place.get("RootKey", "flags")).rejects.toThrow("404");
    }, within);
    expect(await refusedVerbs(fleet.api, operatorUser)).toEqual([]);
    const used = await usedVerbs(fleet.api, operatorUser);
    const granted = await grantedToOperator("cluster");
    expect([...used].filter((verb) => !granted.has(verb))).toEqual([]);
    expect([...granted].filter((verb) => !used.has(verb)).sort()).toEqual(notUsedEveryTime);
  });
});

describe("the namespaced form", () => {
  it("is enough for the namespaces that are watched", async () => {
    fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
    const namespace = await fleet.api.namespace("watched");
    await grantOperator(fleet.api, [namespace]);
    const kubeconfig = await fleet.api.kubeconfig(operatorUser);
    await fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", namespace] });
    await fleet.addReplica();
    const place = placeAt(fleet, namespace);
    await useEverything(place);
    await place.remove("Project", "shop");
    await eventually(async () => {
      await expect(place.get("Project", "shop")).rejects.toThrow("404");
    }, within);
    expect(await refusedVerbs(fleet.api, operatorUser)).toEqual([]);
    const used = await usedVerbs(fleet.api, operatorUser);
    const granted = await grantedToOperator([namespace]);
    expect([...used].filter((verb) => !granted.has(verb))).toEqual([]);
  });
});

/** Rights for what happens seldom, each with its reason in the manifests. */
const notUsedEveryTime: readonly string[] = [
  // A namespace that is younger than the watch of namespaces.
  "get namespaces",
  // The same Event again within ten minutes, told once in five.
  "patch events.events.k8s.io",
  // A finalizer that a restored manifest brought: test/operator/status.test.ts.
  "update apiresources.jsonplane.io",
  "update projects.jsonplane.io",
  "update rootkeys.jsonplane.io",
];
