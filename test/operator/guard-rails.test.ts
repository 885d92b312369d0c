// The operator holds manifests to the platform's rules by itself, even if the API server admitted
// them: on the real system.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { send } from "../support/http/http-client.ts";
import { type NamespaceObjects, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newTenant, openBooks, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import { bookCount, namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";
import { eventually } from "../support/time/eventually.ts";

const name = "rails";
let fleet: OwnFleet;
let operator: OperatorProcess;
let system: NamespaceObjects;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { controllers: ["namespace"] } });
  system = objectsOf(fleet.api, systemNamespace);
  operator = await fleet.addOperator({ args: ["--guard-rails", name], untilReady: false });
});
afterAll(() => fleet?.stop());

const readiness = async (): Promise<string> => (await send(operator.adminUrl, "/readyz")).text;

/** Replaces rules of one namespace. */
async function setRules({ namespace }: Tenant, rules: Readonly<Record<string, string | null>>): Promise<void> {
  const data = Object.fromEntries(Object.entries(rules).map(([key, text]) => [`${namespace}.${key}`, text]));
  await system.patch("ConfigMap", name, { data });
}

const effectiveLimits = async (tenant: Tenant): Promise<unknown> =>
  (await tenant.get("Project", "shop")).status?.effectiveLimits;

const shop = (spec: object = {}, projectName = "shop") => declared("Project", projectName, spec);
const create = (tenant: Tenant) => async (): Promise<number> =>
  (await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/api/books`, { method: "POST", body: {} }))?.status ?? 0;

it("an operator leads only once it has read its guard rails, and says what it waits for", async () => {
  await eventually(async () =>
    expect(await readiness()).toContain(`the ConfigMap ${name} with the guard rails has not been read yet`),
  );
  await system.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { allowedHosts: "", anyone: "Maybe" },
  });
  await eventually(async () =>
    expect(await readiness()).toContain("with the guard rails has a mistake: the operator's log says which"),
  );
  expect(await operator.leads()).toBe(false);
  await system.patch("ConfigMap", name, { data: { anyone: "Allow" } });
  await eventually(async () => expect(await operator.leads()).toBe(true), { withinMs: 30_000 });
  expect(await readiness()).toContain("ok");
  await fleet.addReplica();
});

describe("guard rails", () => {
  it("refuse a new object with NotAllowed and its place, serve nothing of it, and all else", async () => {
    const tenant = await newTenant(fleet);
    await setRules(tenant, { anyone: "ReadOnly" });
    await tenant.create(shop(), openBooks(), declared("RootKey", "flags"));
    const { Stalled } = await tenant.reports("ApiResource", "books", "NotAllowed");
    expect(Stalled?.message).toContain("/spec/access/create");
    expect(Stalled?.message).toContain(`does not let namespace "${tenant.namespace}" give Anyone the right to create`);
    await tenant.reports("RootKey", "flags", "Ready");
    await tenant.everywhere("/json/flags", {}, (reply) => expect(reply.status).toBe(200));
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    await tenant.edit("ApiResource", "books", { access: { create: "Authenticated" } });
    await tenant.reports("ApiResource", "books", "Ready");
  });

  it("that are tightened leave the last good version served, and say so; loosened, the newest is served at once", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(shop({ authentication: { policy: "Disabled" } }), openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await setRules(tenant, { authenticationDisabled: "Deny", anyone: "Deny" });
    const { Stalled } = await tenant.reports("Project", "shop", "NotAllowed");
    expect(Stalled?.message).toContain("/spec/authentication/policy");
    await tenant.reports("ApiResource", "books", "NotAllowed");
    await tenant.edit("ApiResource", "books", { schema: { type: "object", required: ["title"] } });
    await tenant.reports("ApiResource", "books", "NotAllowed");
    expect(await create(tenant)()).toBe(201);
    await setRules(tenant, { authenticationDisabled: null, anyone: null });
    await tenant.reports("Project", "shop", "Ready");
    await tenant.reports("ApiResource", "books", "Ready");
    await eventually(async () => expect(await create(tenant)()).toBe(400));
  });

  it("give a Project the quota that it did not declare, which its status shows", async () => {
    const tenant = await newTenant(fleet);
    await setRules(tenant, { maxQuotaObjects: "10", defaultQuotaObjects: "2" });
    await tenant.create(shop(), openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await tenant.reports("Project", "shop", "Ready");
    expect(await effectiveLimits(tenant)).toEqual({ quota: { objects: 2 } });
    for (const status of [201, 201, 403]) expect(await create(tenant)()).toBe(status);
    await eventually(
      async () => {
        const { status } = await tenant.get("Project", "shop");
        expect(status?.usage).toEqual([{ quota: "objects", used: 2, limit: 2, nearlyFull: true }]);
      },
      { withinMs: 100_000, everyMs: 100 },
    );
    await tenant.edit("Project", "shop", { limits: { quota: { objects: 3 } } });
    await eventually(async () => expect(await create(tenant)()).toBe(201));
    await tenant.edit("Project", "shop", { limits: { quota: { objects: 11 } } });
    await tenant.reports("Project", "shop", "NotAllowed");
    expect(await create(tenant)()).toBe(403);
    expect(await effectiveLimits(tenant), "of what is served").toEqual({ quota: { objects: 3 } });
    await setRules(tenant, { maxQuotaObjects: "2", maxRequestsPerSecond: "500" });
    const rate = { project: { requestsPerSecond: 500, burst: 500 } };
    await eventually(async () => expect(await effectiveLimits(tenant)).toEqual({ quota: { objects: 2 }, rate }));
  });

  it("keep data that have to be kept, although a refused manifest wants them deleted", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(shop(), openBooks({ deletionPolicy: "Delete" }));
    await tenant.reports("ApiResource", "books", "Ready");
    expect(await create(tenant)()).toBe(201);
    await setRules(tenant, { deletionPolicy: "Retain" });
    await tenant.reports("ApiResource", "books", "NotAllowed");
    await tenant.edit("Project", "shop", { deletionPolicy: "Delete" });
    await tenant.reports("Project", "shop", "NotAllowed");
    await tenant.remove("ApiResource", "books");
    await tenant.gone("ApiResource", "books");
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    await tenant.create(shop(), openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await bookCount(tenant, 1);
  });

  it("keep data that were deleted while no operator ran, and the rule came", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(shop(), openBooks({ deletionPolicy: "Delete" }));
    await tenant.reports("ApiResource", "books", "Ready");
    expect(await create(tenant)()).toBe(201);
    await operator.stop();
    fleet.operators.splice(0);
    await tenant.patch("ApiResource", "books", { metadata: { finalizers: null } });
    await tenant.remove("ApiResource", "books");
    await setRules(tenant, { deletionPolicy: "Retain" });
    operator = await fleet.addOperator({ args: ["--guard-rails", name] });
    await tenant.reports("Project", "shop", "Ready");
    await tenant.create(openBooks());
    await tenant.reports("ApiResource", "books", "Ready");
    await bookCount(tenant, 1);
  });

  it("let a Project take over data of an earlier namespace where they say so; these go as its others do", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    await tenant.create(shop({ deletionPolicy: "Delete" }), openBooks());
    await tenant.reports("Project", "shop", "RetainedDataFound");
    await tenant.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/adopt-data": "true" } } });
    await setRules(tenant, { adoptData: "Allow" });
    await tenant.reports("ApiResource", "books", "Ready");
    await bookCount(tenant, 1);
    await eventually(async () => {
      expect((await tenant.events("Project", "shop")).map(({ reason }) => reason)).toContain("DataAdopted");
    });
    await setRules(tenant, { adoptData: null });
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    await tenant.create(shop());
    await tenant.reports("ApiResource", "books", "Ready");
    await bookCount(tenant, 0);
  });

  it("hold for no Project in the operator's own namespace, which is the platform's", async () => {
    const own = tenantAt(fleet, systemNamespace);
    await setRules(own, { authenticationDisabled: "Deny" });
    await own.create(shop({ authentication: { policy: "Disabled" } }, "own"));
    await own.reports("Project", "own", "Ready");
  });

  it("decide about hosts in place of --allowed-hosts", async () => {
    const tenant = await newTenant(fleet);
    const host = `shop.${tenant.namespace}.test`;
    await tenant.create(shop({ hosts: [host] }));
    const { Stalled } = await tenant.reports("Project", "shop", "NotAllowed");
    expect(Stalled?.message).toContain("it allows this namespace no host at all");
    await setRules(tenant, { allowedHosts: "*={namespace}.test" });
    await tenant.reports("Project", "shop", "Ready");
  });

  it("leave a host that a refused Project claims to another one, which keeps it when the first one is allowed", async () => {
    const [tenant, other] = [await newTenant(fleet), await newTenant(fleet)];
    const host = `shop.${tenant.namespace}.test`;
    for (const each of [tenant, other]) await setRules(each, { allowedHosts: `*=${host}` });
    await setRules(tenant, { authenticationDisabled: "Deny" });
    await tenant.create(shop({ hosts: [host], authentication: { policy: "Disabled" } }));
    await tenant.reports("Project", "shop", "NotAllowed");
    await other.create(shop({ hosts: [host] }));
    await other.reports("Project", "shop", "Ready");
    await setRules(tenant, { authenticationDisabled: null });
    await tenant.reports("Project", "shop", "HostConflict");
    await other.reports("Project", "shop", "Ready");
  });

  it("with a mistake hold as they were, and the operator is not ready but leads on", async () => {
    const tenant = await newTenant(fleet);
    await setRules(tenant, { anyone: "Deny" });
    await tenant.create(shop(), openBooks());
    await tenant.reports("ApiResource", "books", "NotAllowed");
    await setRules(tenant, { anyone: "None" });
    await eventually(async () => expect(await readiness()).toContain("has a mistake"));
    expect(operator.log()).toContain(`${tenant.namespace}.anyone must be one of Allow, ReadOnly, Deny`);
    await tenant.edit("ApiResource", "books", { access: { read: "Authenticated" } });
    await tenant.reports("ApiResource", "books", "NotAllowed");
    expect(await operator.leads()).toBe(true);
    await setRules(tenant, { anyone: null });
    await tenant.reports("ApiResource", "books", "Ready");
    expect(await readiness()).toContain("ok");
  });
});
