import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import type { OperationAccess } from "../../../../../core/config/types.ts";
import { createMemoryDirectory } from "../../../../../dataplane/config/memory-directory.ts";
import { describedText } from "../../../../support/http/described.ts";
import { project, withResource } from "../../../../support/http/projects.ts";

interface Described {
  readonly parameters?: readonly { readonly name?: string; readonly schema?: object }[];
  readonly responses: object;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

async function pathsOf(access: Partial<OperationAccess>): Promise<Paths> {
  const properties = {
    isbn: { type: "string", maxLength: 20 },
    a: { type: "integer" },
    b: { type: ["string", "null"], maxLength: 9 },
  };
  const field = (name: string) => ({ name, path: [name] });
  const unique = [{ fields: [field("isbn")] }, { fields: [field("a"), field("b")] }];
  const parts = project("shop", withResource("books", { schema: { type: "object", properties }, unique, access }));
  const live = createMemoryDirectory(systemClock);
  expect(live.put(parts)).toEqual([]);
  const found = live.directory.project(parts.project);
  if (found instanceof Promise || found.outcome !== "found") throw new Error("it is live at once");
  const document = JSON.parse(await describedText(found.value, "https://api.example.org/default/shop"));
  expect((await new Validator().validate(document)).errors).toBeUndefined();
  return document.paths as Paths;
}

it("a PUT of the collection takes the fields of the rules, and every write may be refused by them", async () => {
  const { "/api/books": books = {}, "/api/books/{id}": book = {} } = await pathsOf({});
  const named = books.put?.parameters?.flatMap(({ name, schema }) => (name === undefined ? [] : [[name, schema]]));
  expect(named).toEqual([
    ["isbn", { type: "string" }],
    ["a", { type: "integer" }],
    ["b", { type: "string" }],
  ]);
  expect(Object.keys(books.put?.responses ?? {})).toEqual(expect.arrayContaining(["200", "201", "409", "412"]));
  for (const operation of [books.post, book.put, book.patch]) expect(operation?.responses).toHaveProperty("409");
  expect(book.delete?.responses).not.toHaveProperty("409");
});

it("a PUT of the collection is left out where nobody may create", async () => {
  expect(Object.keys((await pathsOf({ create: "Nobody" }))["/api/books"] ?? {})).toEqual(["get"]);
});
