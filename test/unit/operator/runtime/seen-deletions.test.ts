import { describe, expect, it } from "vitest";
import { createSeenDeletions } from "../../../../operator/runtime/seen-deletions.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => stored("RootKey", `k-${at}`));

describe("objects whose deletion was seen", () => {
  it("are taken once, in order, and are there again when they were given back, before what went since", () => {
    const deletions = createSeenDeletions();
    deletions.add("default/shop", stored("RootKey", "one"));
    deletions.add("default/shop", stored("RootKey", "two"));
    deletions.add("default/blog", stored("RootKey", "other"));
    const taken = deletions.take("default/shop");
    expect([namesOf(taken), deletions.take("default/shop")]).toEqual([["one", "two"], []]);
    deletions.add("default/shop", stored("RootKey", "three"));
    deletions.giveBack("default/shop", taken);
    expect(namesOf(deletions.take("default/shop"))).toEqual(["one", "two", "three"]);
  });

  it("keep what their deletion depends on, and not what they declared", () => {
    const deletions = createSeenDeletions();
    const declared = { schema: { type: "object", title: "x".repeat(1_000) }, deletionPolicy: "Delete" };
    deletions.add("default/shop", stored("ApiResource", "books", { spec: declared, status: { conditions: [] } }));
    const spec = { initialValue: "x".repeat(1_000), deletionPolicy: "Delete" };
    deletions.add("default/shop", stored("RootKey", "settings", { spec }));
    const key = stored("ApiKey", "ci", { spec: { secretName: "elsewhere" } });
    deletions.add("default/shop", key);
    const [books, settings, ci] = deletions.take("default/shop");
    expect(books).toEqual(stored("ApiResource", "books", { spec: { schema: {}, deletionPolicy: "Delete" } }));
    expect(settings).toEqual(stored("RootKey", "settings", { spec: { deletionPolicy: "Delete" } }));
    expect(ci).toEqual(key);
  });

  it("are 10,000 at most: those of the Project that has waited longest are forgotten, whole", () => {
    const deletions = createSeenDeletions();
    for (const object of numbered(4_000)) deletions.add("default/first", object);
    for (const object of numbered(4_000)) deletions.add("default/second", object);
    const taken = deletions.take("default/second");
    for (const object of numbered(4_000)) deletions.add("default/third", object);
    deletions.giveBack("default/second", taken);
    const left = ["first", "second", "third"].map((name) => deletions.take(`default/${name}`).length);
    expect(left).toEqual([0, 4_000, 4_000]);
    for (const object of numbered(10_000)) deletions.add("default/first", object);
    expect(deletions.take("default/first")).toHaveLength(10_000);
  });
});
