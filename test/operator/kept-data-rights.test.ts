// Kept data are listed and deleted with the operator's own rights alone, as `kubectl exec` in its
// pod has them: in its namespaced form, and as the user of Redis that is documented.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, openBooks, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import { grantOperator, operatorUser } from "../support/kubernetes/rbac.ts";
import { type Ran, runProgram } from "../support/process/run-program.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
const annotation = "jsonplane.io/delete-kept-data";
let fleet: OwnFleet;
let tenant: Tenant;
let left: Tenant;
let kubeconfig: string;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0 });
  await allowAsDocumented(fleet.redis);
  const namespaces = await Promise.all(["shop", "left"].map((name) => fleet.api.namespace(name)));
  await grantOperator(fleet.api, namespaces);
  kubeconfig = await fleet.api.kubeconfig(operatorUser);
  await startOperator(namespaces);
  await fleet.addReplica();
  [tenant, left] = namespaces.map((namespace) => tenantAt(fleet, namespace)) as [Tenant, Tenant];
  for (const each of [tenant, left]) {
    await each.create(declared("Project", "shop"), openBooks());
    await fleet.ready(each.namespace);
    await each.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
    await each.remove("ApiResource", "books");
    await each.remove("Project", "shop");
    await each.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404), within);
  }
});
afterAll(() => fleet?.stop());

const redis = () => documentedUrl(fleet.redis, "jsonplane-operator");

async function startOperator(namespaces: readonly string[]): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await fleet.addOperator({ kubeconfig, redis: redis(), args: ["--watch-namespaces", namespaces.join(",")] });
}

const orphans = (...words: readonly string[]): Promise<Ran> =>
  runProgram(["data", "orphans", "--redis", redis(), "--kubeconfig", kubeconfig, ...words]);

it("what is kept is counted, and the command lists it", async () => {
  await eventually(async () => {
    const metrics = (await fleet.operators[0]?.metrics()) ?? "";
    expect(metrics).toMatch(/^jsonplane_retained_projects 2$/m);
    expect(metrics).toMatch(/^jsonplane_retained_data 2$/m);
  }, within);
  const { code, out, error } = await orphans();
  expect([code, error]).toEqual([0, "2 kept\n"]);
  expect(out).toMatch(new RegExp(`^${tenant.namespace}/shop/ApiResource/books .* ProjectDeleted +Kept$`, "m"));
});

it("what was ordered while no operator runs stands, and is done by the next one, which takes the name away", async () => {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  const name = `${tenant.namespace}/shop/ApiResource/books`;
  const ordered = await orphans("--delete", name, "--timeout", "1s");
  expect(ordered.code).toBe(1);
  expect(ordered.out).toContain(`${name}: ordered, the operator has not taken it up yet`);
  const secret = () => objectsOf(fleet.api, systemNamespace).get("Secret", "jsonplane-keyring");
  expect((await secret()).metadata.annotations?.[annotation]).toMatch(new RegExp(`^${name}@`));
  await startOperator([tenant.namespace]);
  await eventually(async () => expect((await orphans()).out).not.toContain(name), within);
  await eventually(async () => expect((await secret()).metadata.annotations?.[annotation]).toBeUndefined(), within);
});

it("what an object named that went while no operator ran, its Project before it, is found to be kept, and deleted", async () => {
  await tenant.create(declared("Project", "shop"), openBooks());
  await tenant.reports("ApiResource", "books", "Ready", within);
  await tenant.everywhere(
    "/api/books",
    { method: "POST", body: {} },
    (reply) => expect(reply.status).toBe(201),
    within,
  );
  await tenant.remove("Project", "shop");
  const name = `${tenant.namespace}/shop/ApiResource/books`;
  await eventually(
    async () => expect((await orphans()).out).toMatch(new RegExp(`^${name} +\\S+ +ProjectDeleted +Guarded$`, "m")),
    within,
  );
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await tenant.remove("ApiResource", "books");
  await startOperator([tenant.namespace]);
  await eventually(async () => expect((await orphans()).out).toMatch(new RegExp(`^${name} .* Kept$`, "m")), within);
  expect(await orphans("--delete", name)).toMatchObject({ code: 0, out: `${name}: deleted\n` });
});

it("what is kept of a namespace that the operator no longer watches is listed, and not deleted", async () => {
  await fleet.api.kubectl(["delete", "rolebindings", "--all", "--namespace", left.namespace]);
  const name = `${left.namespace}/shop/ApiResource/books`;
  await eventually(async () =>
    expect((await orphans()).out).toMatch(new RegExp(`^${name} .* NamespaceNotWatched `, "m")),
  );
  const refused = await orphans("--delete", name);
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining("can't read the namespace") });
});

it("without the right to write the Secret, the command says which rights it takes", async () => {
  const reader = await fleet.api.kubeconfig({ namespace: left.namespace, serviceAccount: "nobody" });
  const words = ["data", "orphans", "--redis", redis(), "--kubeconfig", reader];
  expect(await runProgram(words)).toMatchObject({
    code: 1,
    error: expect.stringContaining("get and update on secrets of the operator's namespace"),
  });
});
