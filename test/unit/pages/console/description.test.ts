// What the console makes of the document that the service writes.

import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { CompiledProject } from "../../../../core/config/types.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { readDescription } from "../../../../pages/console/description.ts";
import { describedText } from "../../../support/http/described.ts";
import { project, withResource, withRootKey, withServing } from "../../../support/http/projects.ts";

async function described(parts: CompiledProject) {
  const live = createMemoryDirectory(systemClock);
  expect(live.put(parts)).toEqual([]);
  const found = live.directory.project(parts.project);
  if (found instanceof Promise || found.outcome !== "found") throw new Error("it is live at once");
  return readDescription(JSON.parse(await describedText(found.value, "https://api.example.org")));
}

const schema = {
  type: "object",
  description: "Every book",
  required: ["title"],
  properties: {
    price: { type: ["number", "null"], default: 7.5 },
    title: { type: "string", description: "As on the cover" },
    cover: { enum: ["hard", "soft", null] },
    author: { $ref: "#/$defs/author" },
  },
  $defs: { author: { type: "object", properties: { name: { type: "string" } } } },
};

describe("what the console knows of a project", () => {
  it("is its resources with their fields, and which of them a list is sorted by at any size", async () => {
    const { title, resources } = await described(
      project("shop", withResource("books", { schema, indexes: ["price", "title"] })),
    );
    expect(title).toBe("shop");
    const [books] = resources;
    expect(books).toMatchObject({
      name: "books",
      description: "Every book",
      fields: [
        { name: "price", types: ["number", "null"], isRequired: false, placeholder: "7.5" },
        { name: "title", types: ["string"], description: "As on the cover", isRequired: true },
        { name: "cover", types: ["string", "null"], values: ["hard", "soft", "null"] },
        { name: "author", types: ["object"], control: { kind: "group", fields: [{ name: "name" }] } },
      ],
      maxPageSize: 100,
      may: { list: true, listAnonymously: false, create: true, update: true, delete: true },
    });
    expect([...(books?.sortable ?? [])].sort()).toEqual(["price", "title"]);
  });

  it("is that a new object may leave out what has a default, and a stored one may not", async () => {
    const n = { type: "integer", default: 0 } as const;
    const line = { type: "object", properties: { n }, required: ["n"] } as const;
    const { resources } = await described(
      project(
        "shop",
        withResource("orders", {
          schema: { type: "object", properties: { n, line }, required: ["n"] },
          defaults: "Apply",
        }),
      ),
    );
    const fields = (isRequired: boolean) => [
      { name: "n", isRequired },
      { name: "line", isRequired: false, control: { kind: "group", fields: [{ name: "n", isRequired }] } },
    ];
    expect(resources).toMatchObject([{ newFields: fields(false), fields: fields(true) }]);
  });

  it("is which filters a list takes", async () => {
    const { resources } = await described(project("shop", withResource("books", { schema, indexes: ["title"] })));
    const named = resources[0]?.filters.map(({ field, operator }) => `${field} ${operator}`.trim());
    expect(named).toEqual(
      expect.arrayContaining(["title", "title starts", "price", "price ge", "_metadata.created ge"]),
    );
    expect(named?.filter((name) => name.startsWith("_") && !name.startsWith("_metadata."))).toEqual([]);
  });

  it("is of each field the operators that the server takes for its types, with an index or without", async () => {
    const properties = {
      text: { type: "string" },
      count: { type: "integer" },
      price: { type: ["number", "null"] },
      tags: { type: "array", items: { type: "string" } },
      open: {},
    };
    const offered = async (indexes: readonly string[]) => {
      const books = withResource("books", { schema: { properties }, indexes });
      const { resources } = await described(project("shop", books));
      const byField = Map.groupBy(resources[0]?.filters ?? [], ({ field }) => field);
      return [...byField]
        .filter(([field]) => !field.startsWith("_"))
        .map(([field, own]) => [field, own.map(({ operator }) => operator)]);
    };
    const comparing = ["", "gt", "ge", "lt", "le", "ne", "in"];
    const expected = [
      ["text", [...comparing, "starts", "contains", "exists"]],
      ["count", [...comparing, "exists"]],
      ["price", [...comparing, "exists"]],
      ["open", [...comparing, "starts", "contains", "exists"]],
      ["tags", ["contains"]],
    ];
    expect(await offered([])).toEqual(expected);
    expect(await offered(["text", "count", "price"])).toEqual(expect.arrayContaining(expected));
  });

  it("is whether the project is read-only, and whose objects of a resource people change", async () => {
    const books = withResource("books", { scope: { read: "All", write: "Own" } });
    const { isReadOnly, resources } = await described(project("shop", withServing("ReadOnly"), books));
    expect([isReadOnly, resources[0]?.isOwnOnly]).toEqual([true, true]);
    const open = await described(project("shop", withResource("books", { scope: { read: "All", write: "All" } })));
    expect([open.isReadOnly, open.resources[0]?.isOwnOnly]).toEqual([false, false]);
  });

  it("offers nothing that nobody may do", async () => {
    const access = { create: "Nobody", read: "Authenticated", update: "Nobody", delete: "Nobody" } as const;
    const hidden = { create: "Nobody", read: "Nobody", update: "Nobody", delete: "Nobody" } as const;
    const { resources, rootKeys } = await described(
      project(
        "shop",
        withResource("books", { schema, access }),
        withResource("hidden", { access: hidden }),
        withRootKey("settings", { access }),
        withRootKey("secret", { access: hidden }),
      ),
    );
    expect(resources.map(({ name, may }) => [name, may])).toEqual([
      ["books", { list: true, listAnonymously: false, create: false, update: false, delete: false }],
    ]);
    expect(resources[0]?.fields.map(({ name }) => name)).toEqual(["price", "title", "cover", "author"]);
    expect(rootKeys).toEqual([{ name: "settings", may: { read: true, write: false, add: false, delete: false } }]);
  });
});
