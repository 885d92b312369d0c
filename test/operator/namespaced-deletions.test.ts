// Objects and namespaces that go where the operator has rights in some namespaces only: nothing
// holds them back, so that all that is known of them afterwards is what was seen.

import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { endNamespace, ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, openBooks, type Tenant, tenantAt } from "../support/kubernetes/declared.ts";
import { bookCount } from "../support/kubernetes/former-namespace.ts";
import { changeRule, grantOperator, operatorUser } from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
let fleet: OwnFleet;
let redis: Redis;
let watched: readonly string[];

async function startOperator(namespaces: readonly string[]): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  const kubeconfig = await fleet.api.kubeconfig(operatorUser);
  await fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", namespaces.join(",")] });
}

beforeAll(async () => {
  const redisArgs = ["--appendonly", "yes"];
  fleet = await startFleet({
    operators: 0,
    replicas: 0,
    api: { controllers: ["namespace"] },
    redis: { args: redisArgs },
  });
  redis = new Redis(fleet.redis.url);
  redis.on("error", () => undefined);
  watched = await Promise.all(["last-word", "going", "dropped", "other"].map((name) => fleet.api.namespace(name)));
  await grantOperator(fleet.api, watched);
  await startOperator(watched);
  await fleet.addReplica();
});
afterEach(laggardGoes);
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

async function served(namespace: string | undefined, books: Declared): Promise<Tenant> {
  const tenant = tenantAt(fleet, namespace ?? "");
  await tenant.create(declared("Project", "shop"), books);
  await tenant.reports("ApiResource", "books", "Ready");
  await tenant.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
  return tenant;
}

const objectsOf = ({ namespace }: Tenant) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

const withdrawn = (tenant: Tenant) =>
  tenant.everywhere("/api/books", {}, (reply) => expect([404, 410]).toContain(reply.status), within);

/** A replica that is alive and follows nothing. */
async function laggardComes(): Promise<void> {
  await redis.hset(acknowledgementKey("laggard"), "revision", 0, "refusals", "[]");
  await redis.zadd(configKeys.replicas, 9_000_000_000_000, "laggard");
}

async function laggardGoes(): Promise<void> {
  await redis.zrem(configKeys.replicas, "laggard");
  await redis.del(acknowledgementKey("laggard"));
}

/** Of namespaces that nobody else uses. */
async function startOperatorOf(...names: readonly [string, string]): Promise<readonly [Tenant, Tenant]> {
  const [one, other] = [await fleet.api.namespace(names[0]), await fleet.api.namespace(names[1])];
  await grantOperator(fleet.api, [one, other]);
  await startOperator([one, other]);
  return [tenantAt(fleet, one), tenantAt(fleet, other)];
}

describe("an object that said Retain before it went", () => {
  it("keeps its data, also where Redis was away and heard of neither", async () => {
    const tenant = await served(watched[0], openBooks({ deletionPolicy: "Delete" }));
    redis.disconnect();
    await fleet.redis.kill("SIGTERM");
    await tenant.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await tenant.remove("ApiResource", "books");
    await tenant.gone("ApiResource", "books", within);
    await fleet.redis.restart();
    await redis.connect();
    await withdrawn(tenant);
    // A purge takes half a second.
    await new Promise((resume) => setTimeout(resume, 3_000));
    expect(await objectsOf(tenant)).toBe(1);
  });
});

describe("a namespace that took the operator's rights along", () => {
  it("leaves no data behind that were to be deleted, however late the replicas are", async () => {
    const tenant = await served(watched[1], openBooks({ deletionPolicy: "Delete" }));
    await laggardComes();
    await endNamespace(fleet.api, tenant.namespace);
    await withdrawn(tenant);
    await new Promise((resume) => setTimeout(resume, 3_000));
    expect(await objectsOf(tenant)).toBe(1);
    await laggardGoes();
    await eventually(async () => expect(await objectsOf(tenant)).toBe(0), within);
    await eventually(async () => expect(await redis.exists(configKeys.orders, configKeys.results)).toBe(0), within);
  });
});

describe("a namespace that is taken off the list", () => {
  it("is not taken for empty: data of objects that are still there stay", async () => {
    const tenant = await served(watched[2], openBooks({ deletionPolicy: "Delete" }));
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await tenant.remove("Project", "shop");
    await startOperator([watched[3] ?? ""]);
    // What no object explains is looked for once everything is published.
    await new Promise((resume) => setTimeout(resume, 8_000));
    expect((await tenant.get("ApiResource", "books")).metadata.deletionTimestamp).toBeUndefined();
    expect(await objectsOf(tenant)).toBe(1);
  });
});

describe("an operator with rights in some namespaces only", () => {
  it("lets a namespace go that takes its rights along, withdraws what was in it, and serves the others", async () => {
    const [going, staying] = await startOperatorOf("going", "staying");
    await served(going.namespace, openBooks({ deletionPolicy: "Delete" }));
    await served(staying.namespace, openBooks());
    await endNamespace(fleet.api, going.namespace);
    await withdrawn(going);
    // What an operator had not purged before it stopped, none that comes later can know to be
    // unwanted.
    await eventually(async () => expect(await objectsOf(going)).toBe(0), within);
    await staying.edit("ApiResource", "books", { access: { read: "Nobody" } });
    await staying.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(403), within);

    // What it may not see any more holds up neither its next start nor the others.
    await startOperator([going.namespace, staying.namespace]);
    await staying.edit("ApiResource", "books", { access: { read: "Anyone" } });
    await staying.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200), within);
    await ensureNamespace(fleet.api, going.namespace);
    await grantOperator(fleet.api, [going.namespace]);
    await going.create(declared("Project", "shop"));
    await going.reports("Project", "shop", "Ready", within);
  });

  it("deletes the data of an object that it hears of last, after its Project's end and the loss of its rights", async () => {
    const [going] = await startOperatorOf("loses-rights", "keeps-rights");
    const tenant = await served(going.namespace, openBooks({ deletionPolicy: "Delete" }));
    await tenant.remove("Project", "shop");
    await tenant.reports("ApiResource", "books", "ProjectNotFound");
    const binding = `/apis/rbac.authorization.k8s.io/v1/namespaces/${tenant.namespace}/rolebindings/jsonplane-operator`;
    await apiObject(fleet.api, binding, { method: "DELETE" });
    await tenant.remove("ApiResource", "books");
    await eventually(async () => expect(await objectsOf(tenant)).toBe(0), within);
  });

  it("takes nothing for gone that it may not see, and deletes no data for that", async () => {
    const [halfSeen, seen] = await startOperatorOf("half-seen", "seen");
    await served(halfSeen.namespace, openBooks({ deletionPolicy: "Delete" }));
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    const role = `/apis/rbac.authorization.k8s.io/v1/namespaces/${halfSeen.namespace}/roles/jsonplane-operator`;
    const others = ["projects", "projectusers", "apikeys", "rootkeys"];
    await changeRule(fleet.api, role, { "0/resources": others });
    await startOperator([halfSeen.namespace, seen.namespace]);
    await served(seen.namespace, openBooks());
    await halfSeen.edit("Project", "shop", { serving: "ReadOnly" });
    await bookCount(halfSeen, 1);
    await changeRule(fleet.api, role, { "0/resources": ["apiresources", ...others] });
    await halfSeen.reports("Project", "shop", "Ready", within);
    await bookCount(halfSeen, 1);
  });
});
