// A CustomResourceDefinition is deleted, and all objects of its kind with it: nothing of them is taken for deleted until they are there
// again, or a person confirms it. Deleting objects under a definition that stands revokes at once, however many.

import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { installCrds } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { type KubeObject, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, openBooks } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { definitionPath, definitionsGone, deleteDefinitions } from "./definitions.ts";

const within = { withinMs: 90_000 };
const plurals = ["projects", "apiresources", "projectusers", "apikeys", "rootkeys"];
const keys = [declared("ApiKey", "web", { access: "Write" }), declared("ApiKey", "second", { access: "Write" })];
const books = openBooks({ deletionPolicy: "Delete" });
const everything = [
  declared("Project", "shop"),
  declared("ApiResource", "notes", { schema: {} }),
  books,
  ...keys,
  declared("ProjectUser", "ann"),
  declared("ProjectUser", "ben"),
];

let fleet: OwnFleet;
let redis: Redis;
let shop: GuardedShop;

beforeAll(async () => {
  fleet = await startFleet({ operatorArgs: ["--lease-duration", "4s"] });
  redis = new Redis(fleet.redis.url);
  shop = await openGuardedShop(fleet, books, ...keys, declared("ProjectUser", "ann"), declared("ProjectUser", "ben"));
  await shop.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

/** Resolves once they are gone, which takes no confirmation. */
async function removeDefinitions(...removed: readonly string[]): Promise<void> {
  await deleteDefinitions(fleet.api, ...removed);
  await definitionsGone(fleet.api, ...removed);
}

const held = async (kind: string) => {
  const metrics = (await fleet.operators[0]?.metrics()) ?? "";
  return Number(new RegExp(`^jsonplane_deletions_held\\{kind="${kind}"\\} (\\d+)$`, "m").exec(metrics)?.[1]);
};
const isHeld = (kind: string, objects: number) =>
  eventually(async () => expect(await held(kind)).toBe(objects), within);
const storedBooks = () => redis.zcard(`jp:{${shop.namespace}/shop/books}:ids`);

const confirm = (value: string) =>
  objectsOf(fleet.api, systemNamespace).patch("Secret", "jsonplane-keyring", {
    metadata: { annotations: { "jsonplane.io/confirm-deletion": value } },
  });

async function apply(...objects: readonly Declared[]): Promise<void> {
  for (const object of objects) await eventually(() => shop.create(object), within);
}

/** The name that a deletion of this definition will have, as its Event says it. */
async function nameOfHold(plural: string): Promise<string> {
  const { metadata } = (await apiObject(fleet.api, definitionPath(plural))) as unknown as KubeObject;
  return `${plural}-${metadata.uid.slice(0, 8)}`;
}

const reported = (name: string) =>
  eventually(async () => {
    const advice = `Secret ${systemNamespace}/jsonplane-keyring with jsonplane.io/confirm-deletion: "${name}"`;
    const event = expect.objectContaining({
      type: "Warning",
      reason: "DeletionHeld",
      note: expect.stringContaining(advice),
    });
    expect(await shop.events("Project", "shop")).toContainEqual(event);
  }, within);

it("a key whose kind's definition goes is let in as before, its Secret stays; Event, metric and log say so", async () => {
  const before = [await shop.key(), await shop.key("second-api-key")];
  const name = await nameOfHold("apikeys");
  await removeDefinitions("apikeys");
  await isHeld("ApiKey", 2);
  await reported(name);
  await eventually(() => expect(fleet.operators[0]?.log()).toContain("CustomResourceDefinition deleted"), within);
  for (const key of before) await shop.admitted(key);
  expect([await shop.key(), await shop.key("second-api-key")]).toEqual(before);
});

it("an object of another kind that is deleted meanwhile is revoked all the same", async () => {
  const session = await shop.session("ann", await shop.password());
  await shop.remove("ProjectUser", "ann");
  await shop.ended(session);
  await shop.gone("Secret", "ann-password");
});

it("an operator that starts once the definition is back, and not yet its objects, holds them too, and revokes what is deleted then", async () => {
  const before = await shop.key();
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await installCrds(fleet.api);
  await fleet.addOperator();
  await isHeld("ApiKey", 2);
  await shop.admitted(before);
  expect(await shop.key()).toBe(before);

  const session = await shop.session("ben", await shop.password("ben-password"));
  await shop.remove("ProjectUser", "ben");
  await shop.ended(session);
  const audited = /"Credential revoked".*"name":"ben"/;
  await eventually(() => expect(fleet.operators[0]?.log()).toMatch(audited), within);
  await shop.admitted(before);
});

it("objects of the same names have the same keys, and are revoked at once when they are deleted", async () => {
  const before = [await shop.key(), await shop.key("second-api-key")];
  await apply(...keys);
  await isHeld("ApiKey", 0);
  for (const { metadata } of keys) await shop.reports("ApiKey", metadata.name, "Ready", within);
  expect([await shop.key(), await shop.key("second-api-key")]).toEqual(before);
  for (const key of before) await shop.admitted(key);
  for (const { metadata } of keys) await shop.remove("ApiKey", metadata.name);
  for (const key of before) await shop.refused(key);
  await shop.gone("Secret", "web-api-key");
});

it("all definitions deleted: finalizers let them go, data stay although they were to go, and all is served", async () => {
  await apply(...keys);
  await fleet.ready(shop.namespace);
  const before = await shop.key();
  await removeDefinitions(...plurals);
  await isHeld("Project", 1);
  await isHeld("ApiResource", 2);
  await shop.admitted(before);
  await shop.everywhere("/api/books", {}, (reply) => expect(reply.json()).toMatchObject({ count: 1 }));

  await installCrds(fleet.api);
  await apply(...everything);
  await fleet.ready(shop.namespace);
  for (const kind of ["Project", "ApiResource", "ApiKey"]) await isHeld(kind, 0);
  expect(await shop.key()).toBe(before);
  await shop.admitted(before);
  expect(await storedBooks()).toBe(1);
});

it("confirmed by its name, a deletion counts: keys are revoked, Secrets go, and data as their policy says", async () => {
  const before = await shop.key();
  const names = [await nameOfHold("apikeys"), await nameOfHold("apiresources")];
  await removeDefinitions("apikeys", "apiresources");
  await isHeld("ApiResource", 2);
  await isHeld("ApiKey", 2);
  await confirm("apikeys-00000000 true");
  await shop.admitted(before);
  await confirm(names.join(", "));
  await isHeld("ApiKey", 0);
  await isHeld("ApiResource", 0);
  await shop.everywhere("/api/notes", { as: before }, (reply) => expect(reply.code).toBe("unknown_resource"), within);
  await shop.gone("Secret", "web-api-key");
  await eventually(async () => expect(await storedBooks()).toBe(0), within);
});

it("what went with two definitions is held by each, and the confirmation of one says nothing of the other", async () => {
  await installCrds(fleet.api);
  await apply(declared("ApiResource", "notes", { schema: {} }), ...keys);
  await fleet.ready(shop.namespace);
  const [web, second] = [await shop.key(), await shop.key("second-api-key")];
  const first = await nameOfHold("apikeys");
  await removeDefinitions("apikeys");
  await isHeld("ApiKey", 2);
  await installCrds(fleet.api);
  await apply(declared("ApiKey", "web", { access: "Write" }));
  await isHeld("ApiKey", 1);
  await shop.reports("ApiKey", "web", "Ready", within);
  const later = await nameOfHold("apikeys");
  await removeDefinitions("apikeys");
  await isHeld("ApiKey", 2);
  await reported(later);
  await confirm(first);
  await shop.refused(second);
  await isHeld("ApiKey", 1);
  await shop.admitted(web);

  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await installCrds(fleet.api);
  await fleet.addOperator();
  await isHeld("ApiKey", 1);
  await shop.admitted(web);
  await confirm(`${first} ${later}`);
  await shop.refused(web);
});
