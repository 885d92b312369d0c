// Every reason of the catalogue, on the real system: its conditions, a message that says what to
// do, an Event, and what heals it.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { acknowledgementKey, configKeys } from "../../core/config/config-keys.ts";
import { isTransient, noticeCatalogue, type Reason, reasonCatalogue } from "../../operator/model/reasons.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import {
  type Conditions,
  type DeclaredKind,
  declared,
  newTenant,
  secretOf,
  type Tenant,
} from "../support/kubernetes/declared.ts";
import { kstatusOf } from "../support/kubernetes/kstatus.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { reasonCases, unknownIssuer } from "./reason-cases.ts";

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({
    replicas: 2,
    api: { controllers: ["namespace"] },
    operatorArgs: ["--allowed-hosts", "*={namespace}.apps.test", "--allowed-issuers", unknownIssuer],
    onDataLoss: "Refuse",
  });
});
afterAll(() => fleet?.stop());

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(reasonCatalogue, reason);
}

function expectedOf(reason: string) {
  if (!isReason(reason)) return { status: "True", kstatus: "Current", condition: undefined };
  return isTransient(reason)
    ? { status: "False", kstatus: "InProgress", condition: "Reconciling" }
    : { status: "False", kstatus: "Failed", condition: "Stalled" };
}

/** The conditions agree with each other and with how Helm and Flux read them. */
async function expectReported(tenant: Tenant, kind: DeclaredKind, name: string, reason: string): Promise<Conditions> {
  const conditions = await tenant.reports(kind, name, reason, { withinMs: 60_000 });
  const { Ready, Reconciling, Stalled } = conditions;
  const { kstatus, status, condition } = expectedOf(reason);
  expect(Ready?.status).toBe(status);
  expect(kstatusOf(await tenant.get(kind, name))).toBe(kstatus);
  const further = [Reconciling, Stalled].filter((each) => each !== undefined);
  expect(further.map(({ type }) => type)).toEqual(condition === undefined ? [] : [condition]);
  for (const each of further) expect(each).toMatchObject({ status: "True", reason, message: Ready?.message });
  await eventually(async () => {
    const event = (await tenant.events(kind, name)).find((each) => each.reason === reason);
    expect(event?.note).toBe(Ready?.message);
  });
  return conditions;
}

describe.concurrent("the reason", () => {
  for (const { reason, kind, name, when, given, says, heal } of reasonCases) {
    it(`${reason}, when ${when}, is told with what to do, and mended`, async () => {
      const tenant = await newTenant(fleet);
      await given(tenant);
      const { Ready } = await expectReported(tenant, kind, name, reason);
      for (const part of says) expect(Ready?.message).toContain(part);
      await heal(tenant);
      const conditions = await tenant.reports(kind, name, "Ready", { withinMs: 120_000 });
      const available = kind === "Project" ? ["Available"] : [];
      const usual = ["Accepted", ...available, "Programmed", "Ready"];
      const ofData = ["Populated", "StoredObjectsValid"].filter((type) => conditions[type] !== undefined);
      expect(Object.keys(conditions).sort()).toEqual([...usual, ...ofData].sort());
      expect(kstatusOf(await tenant.get(kind, name))).toBe("Current");
    });
  }
});

describe("a broken edit of a schema", () => {
  it("keeps the last good version live, says so, and touches no neighbour", async () => {
    const tenant = await newTenant(fleet);
    const open = { access: { create: "Anyone", read: "Anyone" } };
    const good = { schema: { properties: { title: { maxLength: 5 } } } };
    await tenant.create(declared("Project", "shop"));
    await tenant.create(...["books", "films"].map((name) => declared("ApiResource", name, { ...open, ...good })));
    await tenant.reports("ApiResource", "books", "Ready");
    await tenant.reports("ApiResource", "films", "Ready");
    const before = await tenant.get("ApiResource", "films");
    await tenant.edit("ApiResource", "books", { schema: { properties: { title: { maxLength: -1 } } } });
    const { Accepted, Programmed, Ready } = await expectReported(tenant, "ApiResource", "books", "InvalidSchema");
    expect(Accepted?.status).toBe("False");
    expect(Programmed?.status).toBe("False");
    expect(Ready?.message).toContain("/spec/schema/properties/title/maxLength");
    expect(Ready?.message).toContain("Its last good version is still served");
    const books = await tenant.get("ApiResource", "books");
    expect(books.status).toMatchObject({ observedGeneration: 2, liveGeneration: 1 });
    const post = (title: string) => ({ method: "POST", body: { title } });
    await tenant.everywhere("/api/books", post("Momo"), (reply) => expect(reply.status).toBe(201), { withinMs: 0 });
    await tenant.everywhere("/api/books", post("longer"), (reply) => expect(reply.code).toBe("validation_failed"));
    await tenant.everywhere("/api/films", post("Alien"), (reply) => expect(reply.status).toBe(201));
    expect((await tenant.get("ApiResource", "films")).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await tenant.edit("ApiResource", "books", { schema: { properties: { title: { maxLength: 6 } } } });
    await tenant.reports("ApiResource", "books", "Ready");
    expect((await tenant.get("ApiResource", "books")).status).toMatchObject({ liveGeneration: 3 });
    await tenant.everywhere("/api/books", post("longer"), (reply) => expect(reply.status).toBe(201), { withinMs: 0 });
  });

  it("is told of an ApiResource that never was good, which is served to nobody while its siblings are", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(
      declared("Project", "shop"),
      declared("ApiResource", "books", { schema: { type: "nonsense" } }),
      declared("ApiResource", "films", { schema: {}, access: { read: "Anyone" } }),
    );
    await expectReported(tenant, "ApiResource", "books", "InvalidSchema");
    await tenant.reports("ApiResource", "films", "Ready");
    expect((await tenant.get("ApiResource", "books")).status?.["liveGeneration"]).toBeUndefined();
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_resource"));
    await tenant.everywhere("/api/films", {}, (reply) => expect(reply.status).toBe(200));
  });
});

describe("what becomes of data at an object's end", () => {
  it("is told in an Event of the object: kept with Retain, deleted with Delete", async () => {
    const tenant = await newTenant(fleet);
    const resource = (name: string, deletionPolicy: string) =>
      declared("ApiResource", name, { schema: {}, access: { create: "Anyone" }, deletionPolicy });
    await tenant.create(declared("Project", "shop"), resource("books", "Retain"), resource("films", "Delete"));
    for (const [name, reason] of [
      ["books", "DataRetained"],
      ["films", "DataPurged"],
    ] as const) {
      await tenant.reports("ApiResource", name, "Ready");
      await tenant.remove("ApiResource", name);
      await eventually(async () => {
        const events = await tenant.events("ApiResource", name);
        expect(events.find((each) => each.reason === reason)?.note).toContain(`The stored objects of "${name}" were`);
      });
    }
  });
});

/** A replica that only says things: alive until it is taken off the list. */
const fake = "fake-replica";
const farAhead = 9_000_000_000_000;

async function ask(...words: readonly (string | number)[]): Promise<string> {
  const reply = await askRedis(fleet.redis.port, words.join(" "));
  if (reply.startsWith("-")) throw new Error(reply);
  return reply;
}

async function fakeSays(revision: number, refusals: readonly object[] = []): Promise<void> {
  await ask(
    "HSET",
    acknowledgementKey(fake),
    "revision",
    revision,
    "refusals",
    JSON.stringify(JSON.stringify(refusals)),
  );
  await ask("ZADD", configKeys.replicas, farAhead, fake);
}

async function dismissFake(): Promise<void> {
  await ask("ZREM", configKeys.replicas, fake);
  await ask("DEL", acknowledgementKey(fake));
}

describe("with replicas that", () => {
  afterEach(dismissFake);

  it("lag behind, an object says WaitingForReplicas, and Ready once they have followed", async () => {
    const tenant = await newTenant(fleet);
    await fakeSays(0);
    await tenant.create(declared("Project", "shop"));
    const { Accepted, Programmed, Ready } = await expectReported(tenant, "Project", "shop", "WaitingForReplicas");
    expect(Accepted?.status).toBe("True");
    expect(Programmed?.status).toBe("False");
    expect(Ready?.message).toContain("may still serve an older version");
    await fakeSays(farAhead);
    await tenant.reports("Project", "shop", "Ready");
  });

  it("go and come, an object that was Ready stays so", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready");
    await fakeSays(0);
    await tenant.create(declared("RootKey", "settings"));
    await tenant.reports("RootKey", "settings", "WaitingForReplicas");
    await tenant.reports("Project", "shop", "Ready", { withinMs: 0 });
  });

  it("can't use an object, it says RefusedByReplica and what the replica says, until they can", async () => {
    const tenant = await newTenant(fleet);
    const refusal = { project: `${tenant.namespace}/shop`, field: "resource:books", reason: "an unknown keyword" };
    await fakeSays(farAhead, [refusal]);
    await tenant.create(declared("Project", "shop"), declared("ApiResource", "books", { schema: {} }));
    const { Ready } = await expectReported(tenant, "ApiResource", "books", "RefusedByReplica");
    expect(Ready?.message).toContain("an unknown keyword");
    expect(Ready?.message).toContain("upgrade the data plane");
    await tenant.reports("Project", "shop", "Ready");
    await fakeSays(farAhead);
    await tenant.reports("ApiResource", "books", "Ready");
  });

  it("still serve what is deleted, it says Deleting, and its successor PurgePending, until they don't", async () => {
    const tenant = await newTenant(fleet);
    const spec = { schema: {}, deletionPolicy: "Delete", access: { create: "Anyone", read: "Anyone" } };
    await tenant.create(declared("Project", "shop"), declared("ApiResource", "books", spec));
    await tenant.reports("ApiResource", "books", "Ready");
    const post = { method: "POST", body: { title: "Momo" } };
    await tenant.everywhere("/api/books", post, (reply) => expect(reply.status).toBe(201));
    await fakeSays(0);
    await tenant.remove("ApiResource", "books");
    const { Ready } = await tenant.reports("ApiResource", "books", "Deleting");
    expect(Ready?.message).toContain("once all data-plane replicas have stopped serving it");
    await tenant.create(declared("ApiResource", "novels", { ...spec, resourceName: "books" }));
    const reported = await expectReported(tenant, "ApiResource", "novels", "PurgePending");
    expect(reported["Ready"]?.message).toContain("are being deleted; it is served after that");
    await dismissFake();
    await tenant.reports("ApiResource", "novels", "Ready");
    await expect(tenant.get("ApiResource", "books")).rejects.toThrow("NotFound");
    await eventually(async () => {
      const events = await tenant.events("ApiResource", "books");
      expect(events.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["Deleting", "DataPurged"]));
    });
    const empty = (count: unknown) => expect(count).toBe(0);
    await tenant.everywhere("/api/books", {}, (reply) => empty(reply.json()["count"]));
  });

  it("are all gone, an object says NoReplicas, and Ready once one is there", async () => {
    const tenant = await newTenant(fleet);
    await Promise.all(fleet.replicas.splice(0).map((replica) => replica.stop()));
    await tenant.create(declared("Project", "shop"));
    const { Ready } = await expectReported(tenant, "Project", "shop", "NoReplicas");
    expect(Ready?.message).toContain("it is served as soon as one is");
    await fleet.addReplica();
    await tenant.reports("Project", "shop", "Ready");
  });
});

describe("where versions differ", () => {
  afterEach(dismissFake);

  const { meta } = configKeys;
  /** As after another operator of this installation has written. */
  const writtenWith = async (format: number) => {
    const [, epoch = ""] = (await ask("HGET", meta, "epoch")).split("\r\n");
    await ask("HSET", meta, "format", format, "epoch", epoch.replace(/[^#]*$/, crypto.randomUUID()));
  };

  it("a new object says NewerVersion while what Redis holds is of a newer format, and one that was Ready stays so", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready");
    await writtenWith(2);
    await tenant.create(declared("RootKey", "settings"));
    const { Ready } = await expectReported(tenant, "RootKey", "settings", "NewerVersion");
    expect(Ready?.message).toContain("update the operator");
    await tenant.reports("Project", "shop", "Ready", { withinMs: 0 });
    expect(await ask("HEXISTS", configKeys.projects, `${tenant.namespace}/shop`)).toBe(":1\r\n");
    await writtenWith(1);
    await tenant.reports("RootKey", "settings", "Ready", { withinMs: 60_000 });
  });

  it("a Project says ReplicasOutdated while a live replica can't read what would be written", async () => {
    const tenant = await newTenant(fleet);
    await fakeSays(0);
    await ask("HSET", acknowledgementKey(fake), "format", 0);
    await writtenWith(0);
    await tenant.create(declared("Project", "shop"));
    const { Ready } = await expectReported(tenant, "Project", "shop", "ReplicasOutdated");
    expect(Ready?.message).toContain("until they are updated");
    await dismissFake();
    await tenant.reports("Project", "shop", "Ready", { withinMs: 60_000 });
    expect(await ask("HGET", meta, "format")).toBe("$1\r\n1\r\n");
  });
});

describe("while Redis is away", () => {
  it("a new object says PublishFailed, one that was Ready stays so, and both are Ready after", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(secretOf("ada", { password: "correct horse" }), declared("Project", "shop"));
    await tenant.reports("Project", "shop", "Ready");
    await fleet.redis.kill();
    await tenant.create(declared("RootKey", "settings"));
    const { Ready } = await expectReported(tenant, "RootKey", "settings", "PublishFailed");
    expect(Ready?.message).toContain("the operator retries");
    await tenant.reports("Project", "shop", "Ready", { withinMs: 0 });
    await fleet.redis.restart();
    await tenant.reports("RootKey", "settings", "Ready", { withinMs: 120_000 });
  });
});

describe("after Redis came back empty", () => {
  it("a Project says DataLost, and Ready once that is accepted by its name", async () => {
    const tenant = await newTenant(fleet);
    await fleet.redis.kill();
    await fleet.redis.restart();
    await tenant.create(declared("Project", "shop"));
    const { Ready } = await expectReported(tenant, "Project", "shop", "DataLost");
    const [, annotation = "", loss = ""] = /(jsonplane\.io\/[a-z-]+): "([0-9a-f]+)"/.exec(Ready?.message ?? "") ?? [];
    const ring = objectsOf(fleet.api, systemNamespace);
    await ring.patch("Secret", "jsonplane-keyring", { metadata: { annotations: { [annotation]: loss } } });
    await tenant.reports("Project", "shop", "Ready", { withinMs: 120_000 });
  });
});

describe("the catalogue", () => {
  it("is reached as a whole", () => {
    const byFleet = [
      "WaitingForReplicas",
      "RefusedByReplica",
      "Deleting",
      "PurgePending",
      "NoReplicas",
      "PublishFailed",
      // copied-ring.test.ts and lost-ring.test.ts.
      "RedisContested",
      "KeyRingUnusable",
      "DataLost",
      "NewerVersion",
      "ReplicasOutdated",
      // external-issuers.test.ts.
      "WaitingForIssuer",
      // data-copies.test.ts.
      "Copying",
      // revoked-beside-hashes.test.ts.
      "CredentialPending",
    ];
    const reached = new Set([...reasonCases.map(({ reason }) => reason), ...byFleet]);
    // A reason may be of both kinds.
    const known = new Set([...Object.keys(reasonCatalogue), ...Object.keys(noticeCatalogue)]);
    expect([...reached].sort()).toEqual([...known].sort());
  });
});
