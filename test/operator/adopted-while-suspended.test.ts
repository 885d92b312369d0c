// A Project that is suspended while another installation takes everything over with --adopt-data.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { conditionsOf, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
const otherNamespace = "jsonplane-other";

let fleet: OwnFleet;
let otherRedis: TestRedis;
let tenant: Tenant;

beforeAll(async () => {
  fleet = await startFleet({ replicas: 0 });
  otherRedis = await startRedis();
  await ensureNamespace(fleet.api, otherNamespace);
  tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), declared("ApiKey", "web"), openBooks());
  await tenant.reports("ApiKey", "web", "NoReplicas");
  await tenant.edit("Project", "shop", { suspend: true });
  await tenant.reports("Project", "shop", "Suspended");
  for (const operator of fleet.operators.splice(0)) await operator.stop();
});
afterAll(async () => {
  await fleet?.stop();
  await otherRedis?.stop();
});

async function startOther(...args: readonly string[]): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await fleet.addOperator({ redis: otherRedis.url, args: ["--operator-namespace", otherNamespace, ...args] });
}

const makerOf = async (secret: string) =>
  (await tenant.get("Secret", secret)).metadata.annotations?.["jsonplane.io/installation"];

it("belongs to the one that adopted it, which needs to be told only once, and nothing in its Secrets changes", async () => {
  const secrets = ["shop-signing", "web-api-key", "web-key-hash"];
  const before = await Promise.all(secrets.map(async (name) => (await tenant.get("Secret", name)).data));
  expect(await makerOf("shop-signing")).toContain(`${systemNamespace}/`);
  await startOther("--adopt-data");
  await eventually(async () => {
    for (const name of secrets) expect(await makerOf(name)).toContain(`${otherNamespace}/`);
  }, within);
  expect(await Promise.all(secrets.map(async (name) => (await tenant.get("Secret", name)).data))).toEqual(before);
  await startOther();
  await tenant.edit("Project", "shop", { suspend: false });
  const conditions = await tenant.reports("Project", "shop", "NoReplicas");
  expect(conditions["Contested"]).toBeUndefined();
  expect(conditionsOf(await tenant.get("Project", "shop"))["Contested"]).toBeUndefined();
});
