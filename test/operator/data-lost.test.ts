// A Redis that comes back without what was stored: nobody reads it as an empty store, until it is
// restored or a person decides.

import { afterAll, beforeAll, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { conditionsOf, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring";
const accept = "jsonplane.io/accept-data-loss";
const idAnnotation = "jsonplane.io/store-id";
const flags = declared("RootKey", "flags", {
  initialValue: { on: true },
  access: { read: "Anyone", update: "Anyone" },
});
const open = () => [declared("Project", "shop"), openBooks(), flags] as const;
let fleet: OwnFleet;
let tenant: Tenant;
let other: Tenant;

beforeAll(async () => {
  fleet = await startFleet({ operatorArgs: ["--lease-duration", "4s"], onDataLoss: "Refuse" });
  [tenant, other] = [await newTenant(fleet), await newTenant(fleet)];
  for (const each of [tenant, other]) {
    await each.create(...open());
    await fleet.ready(each.namespace);
    await add(each);
  }
});
afterAll(() => fleet?.stop());

const ask = (...words: readonly string[]) => askRedis(fleet.redis.port, words.join(" "));
const system = () => objectsOf(fleet.api, systemNamespace);
const meta = async (field: string) => /^\$[0-9]+\r?\n([^\r\n]+)/.exec(await ask("HGET", configKeys.meta, field))?.[1];
const gauge = async () => /^jsonplane_data_lost ([01])$/m.exec((await fleet.operators[0]?.metrics()) ?? "")?.[1];

/** Lines of the log are gathered for a moment before they are written. */
const accepted = () =>
  fleet.operators
    .flatMap((operator) => operator.log().split("\n").slice(0, -1))
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    .filter(({ audit, message }) => audit === true && message === "Data loss accepted")
    .map(({ time: _, level: __, message: ___, audit: ____, ...facts }) => facts);

async function add(where: Tenant): Promise<void> {
  await where.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
}

const requests = [
  ["/api/books", {}],
  ["/api/books", { method: "POST", body: {} }],
  ["/json/flags", {}],
  ["/json/flags", { method: "PUT", body: { on: false } }],
] as const;

async function refused(where: Tenant): Promise<void> {
  for (const [path, sent] of requests) {
    await where.everywhere(
      path,
      sent,
      (reply) => expect([reply.status, reply.code]).toEqual([503, "data_lost"]),
      within,
    );
  }
}

async function counted(where: Tenant, count: number): Promise<void> {
  await where.everywhere("/api/books", {}, (reply) => expect(reply.json()).toMatchObject({ count }), within);
}

/** Empties Redis; resolves with the name of the loss once the operator has found it. */
async function lose(): Promise<string> {
  await ask("FLUSHALL");
  return await eventually(async () => {
    const name = await meta("data_loss");
    if (name === undefined) throw new Error("No loss is named yet");
    return name;
  }, within);
}

it("an id stands in Redis and in the Secret of the key ring from the first start on", async () => {
  const { metadata } = await system().get("Secret", ring);
  expect(metadata.annotations?.[idAnnotation]).toMatch(/^[0-9a-f-]{36}$/);
  expect(await meta("store_id")).toBe(metadata.annotations?.[idAnnotation]);
  await eventually(async () => expect(await gauge()).toBe("0"), within);
});

it("the id comes back by itself where somebody writes over the Secret, or deletes it", async () => {
  const id = (await meta("store_id")) ?? "";
  const isBack = () =>
    eventually(async () => {
      const { metadata } = await system().get("Secret", ring);
      expect(metadata.annotations?.[idAnnotation]).toBe(id);
    }, within);
  await system().patch("Secret", ring, { metadata: { annotations: { [idAnnotation]: null } } });
  await isBack();
  await fleet.api.kubectl(["delete", "secret", ring, "--namespace", systemNamespace]);
  await isBack();
});

it("emptied, it is refused to readers and writers; Projects, an Event and a metric say so, and logins go on", async () => {
  const loss = await lose();
  for (const each of [tenant, other]) await refused(each);
  const { Ready, Stalled, Available, Reconciling } = await tenant.reports("Project", "shop", "DataLost", within);
  expect([Ready?.status, Stalled?.status, Stalled?.reason]).toEqual(["False", "True", "DataLost"]);
  expect([Available?.status, Available?.reason, Reconciling]).toEqual(["False", "DataLost", undefined]);
  expect(Ready?.message).toContain(`${accept}: "${loss}"`);
  const reported = expect.objectContaining({ type: "Warning", reason: "DataLost" });
  await eventually(async () => expect(await tenant.events("Project", "shop")).toContainEqual(reported), within);
  await eventually(async () => expect(await gauge()).toBe("1"), within);
  await tenant.everywhere("/.well-known/jwks.json", {}, (reply) => expect(reply.status).toBe(200));
  expect(conditionsOf(await tenant.get("ApiResource", "books"))["Ready"]?.status).toBe("True");
});

it("an operator and a replica that start then refuse as well", async () => {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await fleet.addOperator();
  await fleet.addReplica();
  await refused(tenant);
  await tenant.reports("Project", "shop", "DataLost", within);
});

it("all Projects are served anew once it is accepted on the Secret; the id stays, and what that accepted goes for no later loss", async () => {
  const loss = (await meta("data_loss")) ?? "";
  await system().patch("Secret", ring, { metadata: { annotations: { [accept]: "another" } } });
  await refused(tenant);
  await system().patch("Secret", ring, { metadata: { annotations: { [accept]: loss } } });
  await tenant.reports("Project", "shop", "Ready", within);
  await counted(tenant, 0);
  expect(await meta("store_id")).toBe((await system().get("Secret", ring)).metadata.annotations?.[idAnnotation]);
  expect(await meta("data_loss")).toBeUndefined();
  await eventually(async () => expect(accepted()).toContainEqual({ loss, why: "Annotated" }), within);
  await add(tenant);
  await add(other);
  expect(await ask("SAVE")).toContain("OK");
  expect(await lose()).not.toBe(loss);
  for (const each of [tenant, other]) await refused(each);
});

it("a backup that is put back ends it, with the data", async () => {
  // Emptied in memory only: the file of the last save is the backup.
  await fleet.redis.kill();
  await fleet.redis.restart();
  for (const each of [tenant, other]) await each.reports("Project", "shop", "Ready", within);
  await counted(tenant, fleet.replicas.length);
  await counted(other, fleet.replicas.length);
  await eventually(async () => expect(await gauge()).toBe("0"), within);
});

it("is served as it is after a start with --adopt-data, which the log tells", async () => {
  await lose();
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  const adopting = await fleet.addOperator({ args: ["--adopt-data"] });
  for (const each of [tenant, other]) {
    await each.reports("Project", "shop", "Ready", within);
    await counted(each, 0);
  }
  await eventually(async () => expect(accepted()).toEqual([{ why: "Adopted" }]), within);
  await adopting.stop();
  fleet.operators.splice(0);
  await fleet.addOperator();
  for (const each of [tenant, other]) await add(each);
});

it("a store that says no id is taken as it is where none was expected", async () => {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await system().patch("Secret", ring, { metadata: { annotations: { [idAnnotation]: null } } });
  await ask("HDEL", configKeys.meta, "store_id", "data_loss", "refuses_loss");
  await fleet.addOperator();
  await eventually(async () => expect(await meta("store_id")).toMatch(/^[0-9a-f-]{36}$/), within);
  await fleet.ready(tenant.namespace);
  await counted(tenant, fleet.replicas.length);
  expect((await system().get("Secret", ring)).metadata.annotations?.[idAnnotation]).toBe(await meta("store_id"));
});
