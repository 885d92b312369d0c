// Deletions under faults and in awkward orders, on a real fleet: replicas that die or lag in the middle of a purge, Redis away,
// objects deleted together or declared anew meanwhile. Nothing hangs, and nothing goes that was to stay.

import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { finalizer } from "../../operator/model/finalizer.ts";
import { parseRecord } from "../../operator/publish/data-records.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { startReplica } from "../support/fleet/replica.ts";
import { customResources, folderOf, objectsIn } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, newPlace, openBooks, type Place } from "../support/kubernetes/declared.ts";
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

async function served(project: object, ...children: readonly Declared[]): Promise<Place> {
  const place = await newPlace(fleet);
  await place.create(declared("Project", "shop", project), clerk, ...children);
  for (const { kind, metadata } of [clerk, ...children]) await place.said(kind as "ApiKey", metadata.name, "Ready");
  return place;
}

const clerkOf = async ({ namespace }: Place) => `apikey ${await fleet.secret(namespace, "clerk-api-key", "apiKey")}`;

async function write(place: Place, count: number): Promise<void> {
  const as = await clerkOf(place);
  const post = async (): Promise<void> => {
    const sent = { method: "POST", body: { title: "Momo" }, as };
    const reply = await fleet.replicas[0]?.send(`/${place.namespace}/shop/api/books`, sent);
    expect(reply?.status).toBe(201);
  };
  for (let left = count; left > 0; left -= 50) {
    await Promise.all(Array.from({ length: Math.min(left, 50) }, post));
  }
}

/** An initial value is stored nowhere. */
async function put(place: Place, ...rootKeys: readonly string[]): Promise<void> {
  const as = await clerkOf(place);
  for (const rootKey of rootKeys) {
    const path = `/${place.namespace}/shop/json/${rootKey}/a`;
    const reply = await fleet.replicas[0]?.send(path, { method: "PUT", body: 1, as });
    expect(reply?.status).toBeLessThan(300);
  }
}

const isStored = async ({ namespace }: Place, rootKey: string) =>
  (await redis.exists(`jp:{${namespace}/shop/json/${rootKey}}:value`)) === 1;

/** Everything that is stored below the namespace, whoever may see it. */
async function stored(place: Place): Promise<number> {
  let [cursor, found] = ["0", 0];
  do {
    const [next, keys] = await redis.scan(cursor, "MATCH", `jp:{${place.namespace}/*`, "COUNT", 5_000);
    found += keys.length;
    cursor = next;
  } while (cursor !== "0");
  return found;
}

const objectsOf = (place: Place) => redis.zcard(`jp:{${place.namespace}/shop/books}:ids`);

async function counted(place: Place, count: number): Promise<void> {
  const expectCount = (reply: { json<T>(): T }) => expect(reply.json<{ count: number }>().count).toBe(count);
  await place.everywhere("/api/books", {}, expectCount, within);
}

/** While it is held, orders wait: what comes next happens in the middle of a purge. */
const holdPurges = () => redis.set(configKeys.purgeLock, "a test");
const letPurgesGo = () => redis.del(configKeys.purgeLock);

/** A replica that is alive and follows nothing: what is deleted may still be served by it. */
async function laggardComes(): Promise<void> {
  await redis.hset(acknowledgementKey("laggard"), "revision", 0, "nacks", "[]");
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
    const place = await served({}, openBooks({ deletionPolicy: "Delete" }));
    await write(place, 10);
    await place.remove("ApiResource", "books");
    await place.gone("ApiResource", "books");
    expect(await stored(place)).toBe(0);
  });
});

describe("a purge of several steps", () => {
  it("is gone on with by another replica when the one that was at it dies in the middle", async () => {
    const count = 500;
    const place = await served(
      {},
      openBooks({ deletionPolicy: "Delete" }),
      declared("RootKey", "kept", { initialValue: 1 }),
    );
    await write(place, count);
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
      proxy.dropRepliesTo(new RegExp(`EVAL[^]*jp:\\{${place.namespace}/shop/books\\}:doc:`, "i"));
      await place.remove("ApiResource", "books");
      await proxy.dropped();
    } finally {
      await dying.stop("SIGKILL");
      await proxy.stop();
    }
    const left = await objectsOf(place);
    expect([left > 0, left < count]).toEqual([true, true]);
    expect((await place.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);

    await fleet.addReplica();
    await place.gone("ApiResource", "books");
    expect(await objectsOf(place)).toBe(0);
    await place.everywhere("/json/kept", { as: await clerkOf(place) }, (reply) => expect(reply.status).toBe(200));
    // Nobody has to wait any longer for what has died to be taken for dead.
    await redis.zrem(configKeys.replicas, "dying");
  });
});

describe("a name that is declared anew while its data are purged", () => {
  it("waits, is served then, and what is written to it stays", async () => {
    const place = await served({}, openBooks({ deletionPolicy: "Delete" }));
    await write(place, 20);
    await holdPurges();
    await place.remove("ApiResource", "books");
    await eventually(async () => expect(await redis.hlen(configKeys.purges)).toBe(1), within);
    await place.create(declared("ApiResource", "novels", { ...(openBooks().spec as object), resourceName: "books" }));
    await place.said("ApiResource", "novels", "PurgePending");
    // An order that was given is not taken back, whatever the policy says now.
    await place.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(404));
    expect(await objectsOf(place)).toBe(20);
    await letPurgesGo();
    await place.said("ApiResource", "novels", "Ready", within);
    await place.gone("ApiResource", "books");
    await counted(place, 0);
    await write(place, 3);
    await eventually(async () => expect(await redis.exists(configKeys.purges, configKeys.purged)).toBe(0), within);
    await place.edit("ApiResource", "novels", { limits: { maxObjects: 50 } });
    await place.said("ApiResource", "novels", "Ready");
    await counted(place, 3);
  });
});

describe("a purge whose record somebody removed", () => {
  it("is given up: what is served under that name by then stays", async () => {
    const place = await served({}, openBooks({ deletionPolicy: "Delete" }));
    await write(place, 2);
    await holdPurges();
    await place.remove("ApiResource", "books");
    await eventually(async () => expect(await redis.hlen(configKeys.purges)).toBe(1), within);
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await redis.hdel(configKeys.data, `${place.namespace}/shop`);
    await fleet.addOperator();
    await place.gone("ApiResource", "books");
    await place.create(openBooks());
    await place.said("ApiResource", "books", "Ready", within);
    await letPurgesGo();
    await new Promise((resume) => setTimeout(resume, 3_000));
    await counted(place, 2);
    expect(await redis.exists(configKeys.purges, configKeys.purged)).toBe(0);
  });
});

describe("a Project that is being deleted", () => {
  it("is released by an edit to Retain: it goes, and its data stay", async () => {
    const place = await served({ deletionPolicy: "Delete" }, openBooks());
    await write(place, 2);
    await laggardComes();
    await place.remove("Project", "shop");
    const { Ready } = await place.said("Project", "shop", "Deleting");
    expect(Ready?.message).toContain("once all data-plane replicas have stopped serving it");
    await place.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"));
    await place.edit("Project", "shop", { deletionPolicy: "Retain" });
    await place.gone("Project", "shop");
    await laggardGoes();
    await place.create(declared("Project", "shop"));
    await place.said("ApiResource", "books", "Ready", within);
    await counted(place, 2);
  });

  it("purges data that a child left earlier, too, but none that the child said to keep", async () => {
    const films = declared("RootKey", "films", { deletionPolicy: "Retain" });
    const place = await served({}, openBooks(), declared("RootKey", "flags"), films);
    await write(place, 2);
    await put(place, "films", "flags");
    // The operator learns of both at once, and a later change of the policy concerns the living.
    for (const operator of fleet.operators) await operator.stop();
    await place.remove("ApiResource", "books");
    await place.remove("RootKey", "films");
    await place.gone("ApiResource", "books");
    await place.gone("RootKey", "films");
    await place.edit("Project", "shop", { deletionPolicy: "Delete" });
    await fleet.addOperator();
    await place.said("Project", "shop", "Ready");
    await place.edit("RootKey", "flags", { initialValue: 2 });
    await place.said("RootKey", "flags", "Ready");
    const record = parseRecord((await redis.hget(configKeys.data, `${place.namespace}/shop`)) ?? "");
    const books = record?.entries.find(({ name }) => name === "books");
    expect(books).toMatchObject({ retained: true });
    expect(books).not.toHaveProperty("purgeFromRevision");
    expect(await objectsOf(place)).toBe(2);
    await place.remove("Project", "shop");
    await place.gone("Project", "shop");
    expect(await objectsOf(place)).toBe(0);
    expect([await isStored(place, "flags"), await isStored(place, "films")]).toEqual([false, true]);
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
    const place = await newPlace(fleet);
    await fleet.api.apply(yaml(manifests), { namespace: place.namespace });
    await fleet.ready(place.namespace);
    await write(place, 5);
    await put(place, "flags", "kept");
    await fleet.api.kubectl([...args, "--namespace", place.namespace, "--timeout=90s"], { input });
    await eventually(async () => {
      expect(await customResources(fleet.api, place.namespace)).toEqual([]);
    }, within);
    // The value and its size.
    await eventually(async () => expect(await stored(place)).toBe(2), within);
    expect(await isStored(place, "kept")).toBe(true);
    await eventually(async () => {
      expect(await objectsIn(fleet.api, folderOf("Secret", place.namespace))).toEqual([]);
    }, within);
  });
});

describe("without a replica", () => {
  it("a purge waits and says so; Retain lets the object go, a replica the others", async () => {
    const place = await served(
      {},
      openBooks({ deletionPolicy: "Delete" }),
      declared("RootKey", "flags", { deletionPolicy: "Delete" }),
    );
    for (const replica of fleet.replicas.splice(0)) await replica.stop();
    await place.remove("ApiResource", "books");
    await place.remove("RootKey", "flags");
    await eventually(async () => {
      const { Ready } = await place.said("ApiResource", "books", "Deleting", within);
      expect(Ready?.message).toContain("none is running");
    }, within);
    await place.edit("ApiResource", "books", { deletionPolicy: "Retain" });
    await place.gone("ApiResource", "books");
    expect((await place.get("RootKey", "flags")).metadata.deletionTimestamp).toBeDefined();
    await fleet.addReplica();
    await place.gone("RootKey", "flags");
  });
});

describe("while Redis is away", () => {
  it("a deletion waits, says why, and is carried out once Redis is back", async () => {
    const place = await served({}, openBooks({ deletionPolicy: "Delete" }), declared("ApiKey", "web"));
    await write(place, 5);
    redis.disconnect();
    await fleet.redis.kill("SIGTERM");
    await place.remove("ApiResource", "books");
    await place.remove("ApiKey", "web");
    const { Ready } = await place.said("ApiResource", "books", "Deleting", within);
    expect(Ready?.message).toContain("withdrawn once that can be published");
    expect(Ready?.message).toContain("tried again until it can");
    expect((await place.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);
    await fleet.redis.restart();
    await redis.connect();
    await place.gone("ApiResource", "books");
    await place.gone("Secret", "web-api-key");
    await eventually(async () => expect(await stored(place)).toBe(0), within);
  });
});
