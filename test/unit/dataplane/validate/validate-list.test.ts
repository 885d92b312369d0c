import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { validateList } from "../../../../dataplane/validate/validate-list.ts";
import { project } from "../../../support/projects.ts";

const declared: JsonObject = {
  type: "object",
  properties: {
    title: { type: "string" },
    price: { type: "number" },
    stock: { type: "integer" },
    sold: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    code: {},
    "a.b": { type: "string" },
    author: { type: "object", properties: { name: { type: "string" } } },
    extra: { type: "object" },
  },
};

function schemaOf(schema: JsonObject) {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.schema;
}

const open = schemaOf(declared);
const closed = schemaOf({ ...declared, additionalProperties: false });
const { project: config } = project("p");
const read = (query: string, schema = open) => validateList(query, schema, config);

describe("paging", () => {
  it("starts with ten objects from the first", () => {
    expect(read("")).toEqual({ limit: 10, offset: 0, sort: undefined, filters: [], suffix: "" });
  });

  it("takes the bounds themselves", () => {
    expect(read("_limit=1&_offset=0")).toMatchObject({ limit: 1, offset: 0 });
    expect(read("_limit=100&_offset=9007199254740991")).toMatchObject({ limit: 100, offset: Number.MAX_SAFE_INTEGER });
  });

  it.each(["0", "-1", "101", "x", "", "1.5", "1e2", "%20", "99999999999999999999", "0x10"])(
    "refuses _limit=%s and names the maximum",
    (value) => {
      expect(() => read(`_limit=${value}`)).toThrow(
        expect.objectContaining({ code: "invalid_parameter", message: expect.stringContaining("100") }),
      );
    },
  );

  it.each(["-1", "x", "", "1.5", "1e2"])("refuses _offset=%s", (value) => {
    expect(() => read(`_offset=${value}`)).toThrow(expect.objectContaining({ code: "invalid_parameter" }));
  });

  it("takes an _offset beyond all integers for one past the end", () => {
    for (const value of ["9007199254740993", "9".repeat(30), "9".repeat(400)]) {
      expect(read(`_offset=${value}`).offset).toBe(Number.MAX_SAFE_INTEGER);
    }
  });

  it.each(["_limit=1&_limit=2", "_offset=0&_offset=0", "_sort=title&_sort=title", "title=a&title=b"])(
    "refuses %s",
    (query) => {
      expect(() => read(query)).toThrow(/twice/);
    },
  );
});

describe("sorting", () => {
  it.each([
    ["title", { name: "title", path: ["title"], descending: false, byValue: true }],
    ["-title", { name: "title", path: ["title"], descending: true, byValue: true }],
    ["author.name", { name: "author.name", path: ["author", "name"], descending: false, byValue: true }],
    ["a.b", { name: "a.b", path: ["a.b"], descending: false, byValue: true }],
    ["anything.else", { name: "anything.else", path: ["anything", "else"], descending: false, byValue: true }],
    ["id", { name: "id", path: ["id"], descending: false, byValue: false }],
    [
      "-_metadata.created",
      { name: "_metadata.created", path: ["_metadata.created"], descending: true, byValue: false },
    ],
  ])("reads _sort=%s", (value, sort) => {
    expect(read(`_sort=${value}`).sort).toEqual(sort);
  });

  it.each(["", "-"])("refuses _sort=%s, which names no field", (value) => {
    expect(() => read(`_sort=${value}`)).toThrow(/must name a field/);
  });

  it("refuses an undeclared field of a closed schema and lists the declared ones", () => {
    expect(() => read("_sort=colour", closed)).toThrow(/no field `colour`; it has title, price/);
  });

  it("follows an open member of a closed schema", () => {
    expect(read("_sort=extra.colour", closed).sort?.path).toEqual(["extra", "colour"]);
  });
});

describe("filters", () => {
  it.each([
    ["title=12", ["title"], ['"12"']],
    ["title=a+b%26c", ["title"], ['"a b&c"']],
    ["price=12.50", ["price"], ["12.5"]],
    ["stock=9007199254740993", ["stock"], ["9007199254740993"]],
    ["sold=true", ["sold"], ["true"]],
    ["code=12", ["code"], ["12", '"12"']],
    ["code=abc", ["code"], ['"abc"']],
    ["code=[1]", ["code"], ['"[1]"']],
    ["author.name=Ann", ["author", "name"], ['"Ann"']],
  ])("reads %s by the property's type", (query, path, values) => {
    expect(read(query).filters).toEqual([{ name: query.split("=")[0], path, values }]);
  });

  it.each([
    ["price=x", /a number/],
    ["price=", /a number/],
    ["stock=1.5", /a whole number/],
    ["sold=yes", /`true` or `false`/],
    ["tags=a", /can't be filtered/],
    ["colour=red", /no parameter `colour`; allowed are _limit, _offset, _sort and title/],
    ["_fields=a", /no parameter `_fields`/],
    ["constructor=a", /no parameter `constructor`/],
    ["title=%zz", /not percent-encoded/],
  ])("refuses %s", (query, message) => {
    expect(() => read(query)).toThrow(
      expect.objectContaining({ code: "invalid_parameter", message: expect.stringMatching(message) }),
    );
  });

  it("ignores a bare underscore, which clients add to get past caches", () => {
    expect(read("_=1699999999&title=a").suffix).toBe("&title=a");
  });

  it("repeats sort before filters, percent-encoded, for links", () => {
    expect(read("title=a%20%26+b&_limit=5&_sort=-price").suffix).toBe("&_sort=-price&title=a%20%26%20b");
  });
});
