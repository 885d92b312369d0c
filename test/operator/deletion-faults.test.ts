// Deletions under faults and in awkward orders, on a real fleet: replicas that die or lag in the
// middle of a purge, Redis away, objects deleted together or declared again meanwhile. Nothing
// hangs, and nothing goes that was to stay.

import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acknowledgementKey, configKeys, purgingLockKey } from "../../core/config/config-keys.ts";
import { finalizer } from "../../operator/deletion/finalizers.ts";
import { parseInventory } from "../../operator/publish/data-inventories.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { startReplica } from "../support/fleet/replica.ts";
import { customResources, folderOf, objectsIn } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
let fleet: OwnFleet;
let redis: Redis;

beforeAll(async () => {
  fleet = await startFleet({ replicas: 2, redis: { args: ["--appendonly", "yes"] } });
  redis = new Redis(fleet.redis.url);
  redis.on("error", () => undefined);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

/** Whatever a test did with them. */
beforeEach(async () => {
  while (fleet.replicas.length < 2) await fleet.addReplica();
});

const clerk = declared("ApiKey", "clerk", { role: "Administrators", access: "Write" });

async function served(project: object, ...children: readonly Declared[]): Promise<Tenant> {
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop", project), clerk, ...children);
  for (const { kind, metadata } of [clerk, ...children]) await tenant.reports(kind as "ApiKey", metadata.name, "Ready");
  return tenant;
}

const clerkOf = async ({ namespace }: Tenant) => `apikey ${await fleet.secret(namespace, "clerk-api-key", "apiKey")}`;

async function write(tenant: Tenant, count: number): Promise<void> {
  const as = await clerkOf(tenant);
  const post = async (): Promise<void> => {
    const sent = { method: "POST", body: { title: "Momo" }, as };
    const reply = await fleet.replicas[0]?.send(`/${tenant.namespace}/shop/api/books`, sent);
    expect(reply?.status).toBe(201);
  };
  for (let left = count; left > 0; left -= 50) {
    await Promise.all(Array.from({ length: Math.min(left, 50) }, post));
  }
}

/** An initial value is stored nowhere. */
async function put(tenant: Tenant, ...rootKeys: readonly string[]): Promise<void> {
  const as = await clerkOf(tenant);
  for (const rootKey of rootKeys) {
    const path = `/${tenant.namespace}/shop/json/${rootKey}/a`;
    const reply = await fleet.replicas[0]?.send(path, { method: "PUT", body: 1, as });
    expect(reply?.status).toBeLessThan(300);
  }
}

const isStored = async ({ namespace }: Tenant, rootKey: string) =>
  (await redis.exists(`jp:{${namespace}/shop/json/${rootKey}}:value`)) === 1;

/** Everything that is stored below the namespace, whoever may see it. */
async function stored(tenant: Tenant): Promise<number> {
  let [cursor, found] = ["0", 0];
  do {
    const [next, keys] = await redis.scan(cursor, "MATCH", `jp:{${tenant.namespace}/*`, "COUNT", 5_000);
    found += keys.length;
    cursor = next;
  } while (cursor !== "0");
  return found;
}

const objectsOf = (tenant: Tenant) => redis.zcard(`jp:{${tenant.namespace}/shop/books}:ids`);

async function counted(tenant: Tenant, count: number): Promise<void> {
  const expectCount = (reply: { json<T>(): T }) => expect(reply.json<{ count: number }>().count).toBe(count);
  await tenant.everywhere("/api/books", {}, expectCount, within);
}

/** While it is held, orders wait: what comes next happens in the middle of a purge. */
const holdPurges = () => redis.set(purgingLockKey, "a test");
const letPurgesGo = () => redis.del(purgingLockKey);

/** A replica that is alive and follows nothing: what is deleted may still be served by it. */
async function laggardComes(): Promise<void> {
  await redis.hset(acknowledgementKey("laggard"), "revision", 0, "refusals", "[]");
  await redis.zadd(configKeys.replicas, 9_000_000_000_000, "laggard");
}

async function laggardGoes(): Promise<void> {
  await redis.zrem(configKeys.replicas, "laggard");
  await redis.del(acknowledgementKey("laggard"));
}

afterEach(async () => {
  await letPurgesGo();
  await laggardGoes();
});

describe("a purge of little data", () => {
  it("leaves nothing that is stored when the object is gone", async () => {
    const tenant = await served({}, openBooks({ deletionPolicy: "Delete" }));
    await write(tenant, 10);
    await tenant.remove("ApiResource", "books");
    await tenant.gone("ApiResource", "books");
    expect(await stored(tenant)).toBe(0);
  });
});

describe("a purge of several steps", () => {
  it("is gone on with by another replica when the one that was at it dies in the middle", async () => {
    const count = 500;
    const tenant = await served(
      {},
      openBooks({ deletionPolicy: "Delete" }),
      declared("RootKey", "kept", { initialValue: 1 }),
    );
    await write(tenant, count);
    for (const replica of fleet.replicas.splice(0)) await replica.stop();
    const proxy = await startTcpProxy(fleet.redis.port);
    const dying = await startReplica({
      redis: `redis://127.0.0.1:${proxy.port}`,
      keyring: fleet.keyring,
      name: "dying",
    });
    try {
      // Nobody else can be at it now. Its first step takes place, and it never hears of it.
      await eventually(async () => expect(await redis.zcard(configKeys.replicas)).toBe(1), within);
      proxy.dropRepliesTo(new RegExp(`EVAL[^]*jp:\\{${tenant.namespace}/shop/books\\}:doc:`, "i"));
      await tenant.remove("ApiResource", "books");
      await proxy.dropped();
    } finally {
      await dying.stop("SIGKILL");
      await proxy.stop();
    }
    const left = await objectsOf(tenant);
    expect([left > 0, left < count]).toEqual([true, true]);
    expect((await tenant.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);

    await fleet.addReplica();
    await tenant.gone("ApiResource", "books");
    expect(await objectsOf(tenant)).toBe(0);
    await tenant.everywhere("/json/kept", { as: await clerkOf(tenant) }, (reply) => expect(reply.status).toBe(200));
    // Nobody has to wait any longer for what has died to be taken for dead.
    await redis.zrem(configKeys.replicas, "dying");
  });
});

describe("a name that is declared anew while its data are purged", () => {
  it("waits, is served then, and what is written to it stays", async () => {
    const tenant = await served({}, openBooks({ deletionPolicy: "Delete" }));
    await write(tenant, 20);
    await holdPurges();
    await tenant.remove("ApiResource", "books");
    await eventually(async () => expect(await redis.hlen(configKeys.orders)).toBe(1), within);
    await tenant.create(declared("ApiResource", "novels", { ...(openBooks().spec as object), resourceName: "books" }));
    await tenant.reports("ApiResource", "novels", "PurgePending");
    // An order that was given is not taken back, whatever the policy says now.
    await tenant.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    expect(await objectsOf(tenant)).toBe(20);
    await letPurgesGo();
    await tenant.reports("ApiResource", "novels", "Ready", within);
    await tenant.gone("ApiResource", "books");
    await counted(tenant, 0);
    await write(tenant, 3);
    await eventually(async () => expect(await redis.exists(configKeys.orders, configKeys.results)).toBe(0), within);
    await tenant.edit("ApiResource", "novels", { limits: { maxObjects: 50 } });
    await tenant.reports("ApiResource", "novels", "Ready");
    await counted(tenant, 3);
  });
});

describe("a Project that is being deleted", () => {
  it("is released by an edit to Retain: it goes, and its data stay", async () => {
    const tenant = await served({ deletionPolicy: "Delete" }, openBooks());
    await write(tenant, 2);
    await laggardComes();
    await tenant.remove("Project", "shop");
    const { Ready } = await tenant.reports("Project", "shop", "Deleting");
    expect(Ready?.message).toContain("once all data-plane replicas have stopped serving it");
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"));
    await tenant.edit("Project", "shop", { deletionPolicy: "Retain" });
    await tenant.gone("Project", "shop");
    await laggardGoes();
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("ApiResource", "books", "Ready", within);
    await counted(tenant, 2);
  });

  it("purges data that a child left earlier, too, but none that the child said to keep", async () => {
    const films = declared("RootKey", "films", { deletionPolicy: "Retain" });
    const tenant = await served({}, openBooks(), declared("RootKey", "flags"), films);
    await write(tenant, 2);
    await put(tenant, "films", "flags");
    // The operator sees both at once, and a later change of the policy concerns the living.
    for (const operator of fleet.operators) await operator.stop();
    await tenant.remove("ApiResource", "books");
    await tenant.remove("RootKey", "films");
    await tenant.gone("ApiResource", "books");
    await tenant.gone("RootKey", "films");
    await tenant.edit("Project", "shop", { deletionPolicy: "Delete" });
    await fleet.addOperator();
    await tenant.reports("Project", "shop", "Ready");
    await tenant.edit("RootKey", "flags", { initialValue: 2 });
    await tenant.reports("RootKey", "flags", "Ready");
    const inventory = parseInventory((await redis.hget(configKeys.data, `${tenant.namespace}/shop`)) ?? "");
    const books = inventory?.entries.find(({ name }) => name === "books");
    expect(books).toMatchObject({ retained: true });
    expect(books).not.toHaveProperty("purgeFromRevision");
    expect(await objectsOf(tenant)).toBe(2);
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    expect(await objectsOf(tenant)).toBe(0);
    expect([await isStored(tenant, "flags"), await isStored(tenant, "films")]).toEqual([false, true]);
  });
});

describe("a Project and its children, deleted together by kubectl,", () => {
  const manifests: readonly Declared[] = [
    declared("Project", "shop", { deletionPolicy: "Delete" }),
    openBooks(),
    declared("RootKey", "flags", { deletionPolicy: "Delete" }),
    declared("RootKey", "kept", { deletionPolicy: "Retain" }),
    declared("ProjectUser", "ann"),
    clerk,
  ];
  const yaml = (documents: readonly Declared[]) =>
    documents.map((document) => JSON.stringify(document)).join("\n---\n");
  const kinds = "projects,apiresources,rootkeys,projectusers,apikeys";
  const all = ["delete", kinds, "--all"];
  const file = ["delete", "-f", "-"];

  it.concurrent.each<[string, readonly string[], string]>([
    ["in the order of the file", file, yaml(manifests)],
    ["in the opposite order", file, yaml(manifests.toReversed())],
    ["all of each kind", all, ""],
    ["without waiting in between", [...file, "--wait=false"], yaml(manifests)],
  ])("%s, go without hanging, with the data that were to go", async (_, args, input) => {
    const tenant = await newTenant(fleet);
    await fleet.api.apply(yaml(manifests), { namespace: tenant.namespace });
    await fleet.ready(tenant.namespace);
    await write(tenant, 5);
    await put(tenant, "flags", "kept");
    await fleet.api.kubectl([...args, "--namespace", tenant.namespace, "--timeout=90s"], { input });
    await eventually(async () => {
      expect(await customResources(fleet.api, tenant.namespace)).toEqual([]);
    }, within);
    // The value and its size.
    await eventually(async () => expect(await stored(tenant)).toBe(2), within);
    expect(await isStored(tenant, "kept")).toBe(true);
    await eventually(async () => {
      expect(await objectsIn(fleet.api, folderOf("Secret", tenant.namespace))).toEqual([]);
    }, within);
  });
});

describe("without a replica", () => {
  it("a purge waits and says so; Retain lets the object go, a replica the others", async () => {
    const tenant = await served(
      {},
      openBooks({ deletionPolicy: "Delete" }),
      declared("RootKey", "flags", { deletionPolicy: "Delete" }),
    );
    for (const replica of fleet.replicas.splice(0)) await replica.stop();
    await tenant.remove("ApiResource", "books");
    await tenant.remove("RootKey", "flags");
    await eventually(async () => {
      const { Ready } = await tenant.reports("ApiResource", "books", "Deleting", within);
      expect(Ready?.message).toContain("none is running");
    }, within);
    await tenant.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await tenant.gone("ApiResource", "books");
    expect((await tenant.get("RootKey", "flags")).metadata.deletionTimestamp).toBeDefined();
    await fleet.addReplica();
    await tenant.gone("RootKey", "flags");
  });
});

describe("while Redis is away", () => {
  it("a deletion waits, says why, and is carried out once Redis is back", async () => {
    const tenant = await served({}, openBooks({ deletionPolicy: "Delete" }), declared("ApiKey", "web"));
    await write(tenant, 5);
    redis.disconnect();
    await fleet.redis.kill("SIGTERM");
    await tenant.remove("ApiResource", "books");
    await tenant.remove("ApiKey", "web");
    const { Ready } = await tenant.reports("ApiResource", "books", "Deleting", within);
    expect(Ready?.message).toContain("withdrawn once that can be published");
    expect(Ready?.message).toContain("the operator retries");
    expect((await tenant.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);
    await fleet.redis.restart();
    await redis.connect();
    await tenant.gone("ApiResource", "books");
    await tenant.gone("Secret", "web-api-key");
    await eventually(async () => expect(await stored(tenant)).toBe(0), within);
  });
});
