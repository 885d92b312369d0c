// A file of manifests of which one document can't be read: what it may have held goes on being
// served, and no data are deleted.

import { afterEach, beforeEach, expect, it } from "vitest";
import { graceMs } from "../../../../cli/dev/stored-data/pending-deletions.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const shop = document("Project", "shop", "{ deletionPolicy: Delete }");
const books = document("ApiResource", "books", "{ projectRef: { name: shop }, schema: { type: object } }");
const flags = document("RootKey", "flags", "{ projectRef: { name: shop } }");
const user = document("ProjectUser", "ada", "{ projectRef: { name: shop } }");
const good = [shop, books, flags, user].join("---\n");
const collection = { project: { namespace: "default", name: "shop" }, resource: "books" };
const kept = "a.yaml: what can't be read in it is skipped until this is fixed; what was live stays live";

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
  dev.edit("a.yaml", good);
  await dev.pass();
  await dev.store.declareIndexes(collection, [], 1);
  await dev.store.create(collection, { id: "1", owner: "user:a", text: '{"id":"1"}' }, 10);
});
afterEach(() => dev.close());

/**
 * What is served, and how many objects are stored, once everything that is pending would be due.
 */
async function left() {
  dev.clock.advance(graceMs);
  await dev.pass();
  const parts = dev.parts();
  const served = [
    ...(parts?.resources.keys() ?? []),
    ...(parts?.rootKeys.keys() ?? []),
    ...(parts?.users.keys() ?? []),
  ];
  return { served, stored: await dev.store.count(collection, {}) };
}

it.each<[string, string]>([
  ["a lost separator before the last object", [shop, books, flags].join("---\n") + user],
  ["a lost separator that makes one object of two", [shop, books + flags, user].join("---\n")],
  ["a lost separator behind the Project", [shop + books, flags, user].join("---\n")],
  ["a misspelt kind", good.replace("kind: ApiResource", "kind: ApiResuorce")],
  ["a kind in the plural", good.replace("kind: ApiResource", "kind: ApiResources")],
  ["a kind that is missing", good.replace("kind: ApiResource\n", "")],
  ["a member that is there twice", good.replace("kind: ApiResource", "kind: ApiResource\nkind: RootKey")],
])("%s withdraws nothing and deletes nothing", async (_, text) => {
  dev.edit("a.yaml", text);
  const news = await dev.pass();
  expect(news[0]).toMatch(/^a\.yaml:[0-9]+:[0-9]+: /);
  expect(news).toContain(kept);
  expect(news.join("\n")).not.toContain("no longer served");
  expect(await left()).toEqual({ served: ["books", "flags", "ada"], stored: 1 });
  dev.edit("a.yaml", good);
  expect((await dev.pass()).join("\n")).not.toContain("no longer served");
});

it("takes over what the rest of the file says meanwhile", async () => {
  const edited = good.replace("{ projectRef: { name: shop } }", "{ projectRef: { name: shop }, key: flags2 }");
  dev.edit(
    "a.yaml",
    edited.replace("kind: ProjectUser", "kind: ProjectUsr").replace("deletionPolicy: Delete", "serving: ReadOnly"),
  );
  const news = await dev.pass();
  expect(news).toEqual(expect.arrayContaining(["Project/default/shop is live", kept]));
  expect(dev.parts()?.project.serving).toBe("ReadOnly");
  expect(dev.parts()?.users.has("ada")).toBe(true);
});

it("withdraws what is removed from another file all the same", async () => {
  dev.edit("b.yaml", document("RootKey", "more", "{ projectRef: { name: shop } }"));
  await dev.pass();
  dev.edit("a.yaml", good.replace("kind: ApiResource", "kind: ApiResuorce"));
  dev.edit("b.yaml", undefined);
  expect(await dev.pass()).toContain("RootKey/default/more is no longer served");
});
