// What a Project's status says of replicas that come and go, which it does not need to become Ready
// again.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { conditionsOf, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
let fleet: OwnFleet;
let tenant: Tenant;

beforeAll(async () => {
  fleet = await startFleet();
  tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), openBooks());
  await fleet.ready(tenant.namespace);
});
afterAll(() => fleet?.stop());

const shop = () => tenant.get("Project", "shop");

async function available(status: string, reason: string): Promise<void> {
  await eventually(
    async () => expect(conditionsOf(await shop())["Available"]).toMatchObject({ status, reason }),
    within,
  );
}

async function gauge(name: string): Promise<string | undefined> {
  const text = (await fleet.operators[0]?.metrics()) ?? "";
  return new RegExp(`^${name} ([0-9]+)$`, "m").exec(text)?.[1];
}

const unavailable = () => gauge("jsonplane_projects_unavailable");

it("a Project is available while a replica is live; Ready stays, and claims none that is not there", async () => {
  await available("True", "Available");
  expect(await unavailable()).toBe("0");
  const before = conditionsOf(await shop());
  const books = await tenant.get("ApiResource", "books");
  for (const replica of fleet.replicas.splice(0)) await replica.stop();
  await available("False", "NoReplicas");
  const without = conditionsOf(await shop());
  expect([without["Ready"], without["Programmed"]]).toEqual([before["Ready"], before["Programmed"]]);
  expect(without["Ready"]?.message).toContain("that was live");
  expect(without["Available"]?.message).toContain("No heartbeat of a data-plane replica is in Redis");
  const reported = expect.objectContaining({ type: "Warning", reason: "NoReplicas" });
  await eventually(async () => expect(await tenant.events("Project", "shop")).toContainEqual(reported));
  await eventually(async () => expect(await unavailable()).toBe("1"));
  const columns = await fleet.api.kubectl(["get", "projects.jsonplane.io", "-n", tenant.namespace]);
  expect(columns).toMatch(/READY +AVAILABLE +REASON/);
  expect(columns).toMatch(/True +False +Ready/);
  await fleet.addReplica();
  await available("True", "Available");
  await eventually(async () => expect(await unavailable()).toBe("0"));
  // Nothing of it concerns the children, and nothing is written to them.
  expect(await tenant.get("ApiResource", "books")).toEqual(books);
});

it("a second replica that comes and goes writes nothing", async () => {
  const { metadata } = await shop();
  const second = await fleet.addReplica();
  await eventually(async () => expect(await gauge("jsonplane_replicas_live")).toBe("2"), within);
  await second.stop();
  await eventually(async () => expect(await gauge("jsonplane_replicas_live")).toBe("1"), within);
  expect((await shop()).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

it("while Redis is away nobody knows, and it is said again once Redis is back", async () => {
  await fleet.redis.kill();
  await available("Unknown", "ReplicasUnknown");
  expect(conditionsOf(await shop())["Ready"]?.status).toBe("True");
  await fleet.redis.restart();
  await available("True", "Available");
});
