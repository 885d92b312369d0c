// What dev mode says of stored data when their manifest goes or changes: before anything is
// deleted.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { graceMs } from "../../../../cli/dev/stored-data/pending-deletions.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

const manifest = (kind: string, name: string, spec: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n---\n`;
const shop = manifest("Project", "shop", "{}");
const of = (more: string) => `{ projectRef: { name: shop }${more} }`;
const books = (more = "") => manifest("ApiResource", "books", of(`, schema: { type: object }${more}`));
const flags = (more = "") => manifest("RootKey", "flags", of(more));
const project = { namespace: "default", name: "shop" };
const keptAs = (field: string) =>
  `is kept (deletionPolicy: Retain): to serve it again, restore the manifest, or give another one ${field}`;
const going = "will be deleted in 5 seconds (deletionPolicy: Delete), unless the manifest comes back";

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

async function served(manifests: string): Promise<void> {
  dev.edit("a.yaml", manifests);
  await dev.pass();
  const collection = { project, resource: "books" };
  await dev.store.declareIndexes(collection, [], 1);
  for (const id of ["1", "2"]) {
    await dev.store.create(collection, { id, owner: "user:a", text: `{"id":"${id}"}` }, 10);
  }
  await dev.store.initialise({ project, rootKey: "flags" }, "1");
}

const newsOf = async (manifests: string) => {
  dev.edit("a.yaml", manifests);
  return await dev.pass();
};

describe("a manifest that is removed while data are stored", () => {
  it("says that the data are kept, and how to serve them again", async () => {
    await served(shop + books() + flags());
    expect(await newsOf(shop)).toEqual([
      "ApiResource/default/books is no longer served",
      "RootKey/default/flags is no longer served",
      `ApiResource/default/books: its data (2 objects) ${keptAs("resourceName: books")}`,
      `RootKey/default/flags: its stored value ${keptAs("key: flags")}`,
    ]);
    expect(await newsOf(shop)).toEqual([]);
  });

  it("says that the data will be deleted before they are, and that they were", async () => {
    await served(shop + books(", deletionPolicy: Delete"));
    expect(await newsOf(shop)).toEqual([
      "ApiResource/default/books is no longer served",
      `ApiResource/default/books: its data (2 objects) ${going}`,
    ]);
    expect(await dev.store.count({ project, resource: "books" }, {})).toBe(2);
    dev.clock.advance(graceMs);
    expect(await dev.pass()).toEqual(["default/shop/api/books: its data are deleted"]);
  });

  it("says so of a renamed one, too: data belong to a name", async () => {
    await served(shop + books());
    const news = await newsOf(shop + books().replace("name: books", "name: volumes"));
    expect(news).toContain("ApiResource/default/volumes is live");
    expect(news).toContain(`ApiResource/default/books: its data (2 objects) ${keptAs("resourceName: books")}`);
  });

  it("says nothing where another object serves the data, or nothing is stored", async () => {
    await served(shop + books() + manifest("RootKey", "empty", of("")));
    const heir = books(", resourceName: books").replace("name: books", "name: heir");
    expect(await newsOf(shop + heir)).toEqual([
      "ApiResource/default/heir is live",
      "ApiResource/default/books is no longer served",
      "RootKey/default/empty is no longer served",
    ]);
  });

  it("says it of the children that a Project with Delete leaves behind", async () => {
    const standing = books() + flags(", deletionPolicy: Retain");
    await served(manifest("Project", "shop", "{ deletionPolicy: Delete }") + standing);
    const news = await newsOf(standing);
    expect(news).toContain(
      "ApiResource/default/books: its data (2 objects) will be deleted in 5 seconds (deletionPolicy: Delete), unless the Project shop comes back",
    );
    expect(news).toContain(
      "RootKey/default/flags: its stored value is kept as default/shop/json/flags (deletionPolicy: Retain): to serve it again, name a Project shop again",
    );
  });
});

describe("a changed initialValue", () => {
  it("says that it has no effect over a stored value, once, and how to apply it", async () => {
    await served(shop + flags(", initialValue: { a: 1 }"));
    const changed = shop + flags(", initialValue: { a: 2 }");
    expect(await newsOf(changed)).toEqual([
      "RootKey/default/flags is live",
      "RootKey/default/flags: the new initialValue has no effect, because a value is stored; to apply it, PUT it to /default/shop/json/flags",
    ]);
    expect(await newsOf(changed)).toEqual([]);
  });

  it("says nothing where nothing is stored, or something else has changed", async () => {
    await served(shop + manifest("RootKey", "other", of(", initialValue: 1")) + flags(", initialValue: 1"));
    const more = "initialValue: 1, access: { read: Nobody }";
    const changed = shop + manifest("RootKey", "other", of(", initialValue: 2")) + flags(`, ${more}`);
    expect(await newsOf(changed)).toEqual(["RootKey/default/flags is live", "RootKey/default/other is live"]);
  });
});
