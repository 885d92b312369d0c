// Something that takes the finalizer away again and again, as a tool does that applies an object
// without it by PUT.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { declared, newTenant, type Tenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { type OperatorUser, operatorUserOf, writesOf } from "./operator-users.ts";

const finalizer = "jsonplane.io/purge";
const removals = 60;

let fleet: OwnFleet;
let tenant: Tenant;
let user: OperatorUser;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
  user = await operatorUserOf(fleet.api, "one");
  await fleet.addOperator({ kubeconfig: await fleet.api.kubeconfig(user) });
  tenant = await newTenant(fleet);
});
afterAll(() => fleet?.stop());

const finalizers = async () => (await tenant.get("Project", "shop")).metadata.finalizers ?? [];
const standsAgain = () => eventually(async () => expect(await finalizers()).toContain(finalizer), { withinMs: 90_000 });

async function timesSet(): Promise<number> {
  const writes = await writesOf(fleet.api, user);
  return writes.filter(({ verb, resource }) => verb === "patch" && resource === "projects.jsonplane.io").length;
}

it("finds it set again at once at first, then ever more seldom, and once it is over for good", async () => {
  await tenant.create(declared("Project", "shop", { deletionPolicy: "Delete" }));
  await standsAgain();
  await tenant.patch("Project", "shop", { metadata: { finalizers: null } });
  await standsAgain();
  for (let time = 0; time < removals; time += 1) {
    if ((await finalizers()).length > 0) await tenant.patch("Project", "shop", { metadata: { finalizers: null } });
    await sleep(100);
  }
  // At once at first, then a second later, two, four and so on: however long the removals took, far
  // fewer than there were.
  const writes = await timesSet();
  expect(writes).toBeGreaterThan(3);
  expect(writes).toBeLessThan(removals / 3);
  await standsAgain();
});
