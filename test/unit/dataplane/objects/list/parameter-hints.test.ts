import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { validateList } from "../../../../../dataplane/objects/list/query.ts";
import { project } from "../../../../support/http/projects.ts";

const result = compileSchema({
  properties: {
    qty: { type: "integer" },
    title: { type: "string" },
    in_stock: { type: "boolean" },
    author: { type: "object", properties: { name: { type: "string" } } },
  },
} as JsonObject);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { schema } = result;
const { project: config } = project("p");
const messageOf = (query: string): string => {
  try {
    validateList(query, schema, config);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("It was taken");
};

describe("an unknown parameter", () => {
  it.each([
    ["qty_gte=1", "write `qty:ge`. Allowed are"],
    ["qty_lte=1", "write `qty:le`."],
    ["qty_gt=1", "write `qty:gt`."],
    ["qty_lt=1", "write `qty:lt`."],
    ["qty_ne=1", "write `qty:ne`."],
    ["title_like=a", "write `title:contains`."],
    ["author.name_like=a", "write `author.name:contains`."],
    ["in_stock_ne=true", "write `in_stock:ne`."],
    ["qty__gte=1", "write `qty:ge`."],
    ["qty%5Bgte%5D=1", "write `qty:ge`."],
    ["qty%5B$lte%5D=1", "write `qty:le`."],
    ["qty_eq=1", "write `qty`."],
    ["qty:gte=1", "can't be filtered by `:gte`; write `:ge`. Allowed are"],
    ["title:like=1", "write `:contains`."],
    ["_page=2", "write `_limit` and `_offset`."],
    ["_order=desc", "write `_sort=-field` for descending order."],
    ["limit=5", "did you mean `_limit`? Allowed are"],
    ["titel=Emma", "did you mean `title`?"],
  ])("%s gets what to write instead", (query, hint) => {
    expect(messageOf(query)).toContain(hint);
  });

  it.each([
    // No number contains a text.
    ["qty_like=1"],
    ["colour_gte=1"],
    ["qty_between=1"],
    [`${"x".repeat(8000)}_gte=1`],
  ])("%s gets the allowed ones only", (query) => {
    expect(messageOf(query)).toContain("; allowed are _limit,");
  });
});
