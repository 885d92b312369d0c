// A CustomResourceDefinition is deleted, and all objects of its kind with it: nothing of them is
// withdrawn until a definition stands again. Then they are deleted like any others. Deleting
// objects under a definition that stands revokes at once, however many.

import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { installCrds } from "../support/kubernetes/api-server/api-server.ts";
import { type Declared, declared, openBooks } from "../support/kubernetes/declared.ts";
import { runProgram } from "../support/process/run-program.ts";
import { eventually } from "../support/time/eventually.ts";
import { definitionsGone, deleteDefinitions } from "./definitions.ts";

const within = { withinMs: 90_000 };
const keys = [declared("ApiKey", "web", { access: "Write" }), declared("ApiKey", "second", { access: "Write" })];
const books = openBooks({ deletionPolicy: "Delete" });
const films = declared("ApiResource", "films", { schema: {}, deletionPolicy: "Delete" });
const waits = /CustomResourceDefinition is missing, being deleted or unreadable; deletions of its kind wait/;

let fleet: OwnFleet;
let redis: Redis;
let shop: GuardedShop;

beforeAll(async () => {
  fleet = await startFleet({ api: { own: true }, operatorArgs: ["--lease-duration", "4s"] });
  redis = new Redis(fleet.redis.url);
  shop = await openGuardedShop(fleet, books, films, ...keys, declared("ProjectUser", "ann"));
  await shop.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

const storedBooks = () => redis.zcard(`jp:{${shop.namespace}/shop/books}:ids`);

async function served(): Promise<void> {
  await shop.everywhere("/api/books", {}, (reply) => expect(reply.json()).toMatchObject({ count: 1 }));
}

async function apply(...objects: readonly Declared[]): Promise<void> {
  for (const object of objects) await eventually(() => shop.create(object), within);
}

it("a key whose kind's definition is deleted is let in as before, and its Secret stays; the log says what waits", async () => {
  const before = [await shop.key(), await shop.key("second-api-key")];
  await deleteDefinitions(fleet.api, "apikeys");
  await definitionsGone(fleet.api, "apikeys");
  await eventually(() => expect(fleet.operators[0]?.log()).toMatch(waits), within);
  for (const key of before) await shop.admitted(key);
  expect([await shop.key(), await shop.key("second-api-key")]).toEqual(before);
});

it("an object of another kind that is deleted meanwhile is revoked all the same", async () => {
  const session = await shop.session("ann", await shop.password());
  await shop.remove("ProjectUser", "ann");
  await shop.ended(session);
});

it("once the definition is back, a key without an object is revoked, and one that is created again is another one", async () => {
  const [web, second] = [await shop.key(), await shop.key("second-api-key")];
  await installCrds(fleet.api);
  for (const key of [web, second]) await shop.refused(key);
  await shop.gone("Secret", "ann-password", within);
  await shop.gone("Secret", "second-api-key");
  await apply(...keys.slice(0, 1));
  await shop.reports("ApiKey", "web", "Ready", within);
  expect(await shop.key()).not.toBe(web);
  await shop.admitted(await shop.key());
});

it("a definition whose objects have a finalizer waits for `finalizers clear`; until one is back, all is served", async () => {
  await deleteDefinitions(fleet.api, "apiresources");
  await eventually(async () => {
    expect((await shop.get("ApiResource", "books")).metadata.deletionTimestamp).toBeDefined();
  }, within);
  await shop.gone("ApiResource", "notes");
  await served();
  await shop.admitted(await shop.key());
  for (const other of fleet.operators.splice(0)) await other.stop();
  const operator = await fleet.addOperator();
  await eventually(() => expect(operator.log()).toMatch(waits), within);
  await served();

  const kubeconfig = await fleet.api.kubeconfig();
  const cleared = await runProgram(["finalizers", "clear", "--all-namespaces", "--kubeconfig", kubeconfig]);
  expect(cleared).toMatchObject({ code: 0, out: expect.stringContaining("the object is gone") });
  await definitionsGone(fleet.api, "apiresources");
  await served();
  expect(await storedBooks()).toBe(1);
});

it("data of an object that is not back are deleted as its policy says", async () => {
  await installCrds(fleet.api);
  await eventually(async () => expect(await storedBooks()).toBe(0), within);
  await shop.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_resource"), within);
});
