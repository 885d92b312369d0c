import { afterEach, beforeEach, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { objectOf } from "../../../support/store/stored-objects.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

const books = { project: { namespace: "default", name: "shop" }, resource: "books" };
const priceIs = (type: string): JsonObject => ({ type: "object", properties: { price: { type } } });
const manifest = (kind: string, name: string, spec: object): string =>
  `${JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec })}\n---\n`;

async function save(schema: JsonObject, more: JsonObject = {}): Promise<readonly string[]> {
  const spec = { projectRef: { name: "shop" }, schema, schemaChange: { storedObjects: "Refuse", ...more } };
  dev.edit("a.yaml", manifest("Project", "shop", {}) + manifest("ApiResource", "books", spec));
  return await dev.pass();
}

it("a schema with Refuse is live in dev mode once all stored objects meet it, and else refused with an example", async () => {
  await save(priceIs("string"));
  await dev.store.declareIndexes(books, [], 1);
  for (const n of [1, 2]) await dev.store.create(books, objectOf(n, { price: n === 2 ? '"ten"' : "1" }), 10);
  const { id } = objectOf(2, {});
  expect(await save(priceIs("number"))).toEqual([
    expect.stringContaining(`1 of 2 stored objects doesn't meet this schema, such as ${id} at /price (type)`),
    "ApiResource/default/books is still served in its last valid version",
  ]);
  const served = () => dev.parts()?.resources.get("books");
  expect([served()?.schema, served()?.nextSchemaBinds]).toEqual([priceIs("string"), undefined]);
  expect(await dev.pass()).toEqual([]);
  await dev.restart();
  await dev.pass();
  expect(served()?.schema).toEqual(priceIs("string"));
  await dev.store.remove(books, id, {});
  expect(await dev.pass()).toEqual([expect.stringContaining("ApiResource/default/books is live")]);
  expect([served()?.schema, served()?.nextSchemaBinds]).toEqual([priceIs("number"), undefined]);
});

it("a schema with Refuse is live with the save where nothing is stored, and said so once", async () => {
  await save(priceIs("string"));
  expect(await save(priceIs("number"))).toEqual(["ApiResource/default/books is live"]);
  expect(dev.parts()?.resources.get("books")?.schema).toEqual(priceIs("number"));
});

it("stored objects are migrated in dev mode once a look found that all can be, which is said", async () => {
  await save(priceIs("number"));
  await dev.store.declareIndexes(books, [], 1);
  for (const n of [1, 2]) await dev.store.create(books, objectOf(n, { price: `${n}` }), 10);
  const cost: JsonObject = { type: "object", required: ["cost", "currency"] };
  const move: JsonObject = { op: "move", from: "/price", path: "/cost" };
  expect(await save(cost, { migrate: [move] })).toEqual([
    expect.stringContaining("2 of 2 stored objects don't meet this schema even when migrated, such as"),
    "ApiResource/default/books is still served in its last valid version",
  ]);
  const text = async () => (await dev.store.read(books, objectOf(1, {}).id, {}))?.text;
  expect(await text()).toContain('"price":1');
  const currency: JsonObject = { op: "add", path: "/currency", value: "EUR" };
  expect(await save(cost, { migrate: [move, currency] })).toEqual([
    "ApiResource/default/books is live",
    "default/shop/api/books: 2 stored objects were migrated to the new schema",
  ]);
  expect(await text()).toContain('"cost":1,"currency":"EUR"');
  expect(dev.parts()?.resources.get("books")).toMatchObject({ schema: cost });
  expect(dev.parts()?.resources.get("books")?.migration).toBeUndefined();
  expect(await dev.pass()).toEqual([]);
});
