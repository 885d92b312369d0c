// The Secret of the fleet's key ring is deleted while no operator runs: what Redis holds can be
// opened by nobody who makes a new ring.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring";
const quick = ["--lease-duration", "4s"];
let fleet: OwnFleet;
let tenant: Tenant;

beforeAll(async () => {
  fleet = await startFleet({ operatorArgs: quick });
  tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), openBooks());
  await fleet.ready(tenant.namespace);
});
afterAll(() => fleet?.stop());

const secrets = () => objectsOf(fleet.api, systemNamespace);
const hasRing = async () => (await secrets().names("Secret")).includes(ring);
const isServed = (status: number) =>
  tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(status), within);

/**
 * Of those metrics of the operator that alerts about a lost ring go by; one that isn't named isn't
 * there.
 */
async function figuresAre(expected: Readonly<Record<string, string>>): Promise<void> {
  await eventually(async () => {
    const text = (await fleet.operators[0]?.metrics()) ?? "";
    const names = /^(jsonplane_(?:operator_keyring_usable|projects_unpublished|replicas_live)) (\d+)$/gm;
    expect(Object.fromEntries([...text.matchAll(names)].map(([, name, value]) => [name, value]))).toEqual(expected);
  }, within);
}

async function restartWithoutRing(...args: string[]): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await secrets().remove("Secret", ring);
  await fleet.addOperator({ args });
}

it("no new one is made: the operator names the Secret, and goes on by itself once it is back", async () => {
  const { data } = await secrets().get("Secret", ring);
  await restartWithoutRing();
  await eventually(
    () => expect(fleet.operators[0]?.log()).toContain(`Secret ${systemNamespace}/${ring} is missing`),
    within,
  );
  await tenant.edit("ApiResource", "books", { access: { read: "Nobody" } });
  await tenant.reports("ApiResource", "books", "KeyRingUnusable", within);
  expect(await hasRing()).toBe(false);
  // Nobody can look how many replicas live, and none is said to be missing.
  await figuresAre({ jsonplane_operator_keyring_usable: "0", jsonplane_projects_unpublished: "1" });
  await isServed(200);
  await secrets().create({ apiVersion: "v1", kind: "Secret", metadata: { name: ring }, data });
  await tenant.reports("ApiResource", "books", "Ready", within);
  await isServed(403);
  const replicas = String(fleet.replicas.length);
  await figuresAre({
    jsonplane_operator_keyring_usable: "1",
    jsonplane_projects_unpublished: "0",
    jsonplane_replicas_live: replicas,
  });
});

it("a new one is made where a person says that the Redis may be taken over, and what was stored stays", async () => {
  await tenant.edit("ApiResource", "books", { access: { read: "Anyone", create: "Anyone" } });
  await tenant.reports("ApiResource", "books", "Ready", within);
  await tenant.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
  await restartWithoutRing("--adopt-data");
  await eventually(async () => expect(await hasRing()).toBe(true), within);
  await fleet.mountKeyring();
  await tenant.edit("ApiResource", "books", { access: { read: "Anyone", create: "Nobody" } });
  await tenant.reports("ApiResource", "books", "Ready", within);
  await tenant.everywhere("/api/books", {}, (reply) => expect(reply.json()).toMatchObject({ count: 1 }), within);
});
