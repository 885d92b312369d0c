import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { cursorText } from "../../../../../dataplane/objects/list/cursor.ts";
import { validateList } from "../../../../../dataplane/objects/list/query.ts";
import { project } from "../../../../support/http/projects.ts";

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
    "c,d": { type: "string" },
    "e:gt": { type: "string" },
    e: { type: "string" },
    choice: { type: ["string", "null"] },
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

const creation = { keys: [], descending: false };

describe("paging", () => {
  it("starts with ten objects from the first", () => {
    expect(read("")).toEqual({
      limit: 10,
      offset: 0,
      order: creation,
      filters: [],
      counted: true,
      tagged: false,
      suffix: "",
    });
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
  const key = (name: string, path: readonly string[], descending = false) => ({ name, path, descending });

  it.each([
    ["title", { keys: [key("title", ["title"])], descending: false }],
    ["-title", { keys: [key("title", ["title"], true)], descending: true }],
    ["author.name", { keys: [key("author.name", ["author", "name"])], descending: false }],
    ["a.b", { keys: [key("a.b", ["a.b"])], descending: false }],
    ["anything.else", { keys: [key("anything.else", ["anything", "else"])], descending: false }],
    ["id", creation],
    ["-_metadata.created", { keys: [], descending: true }],
    ["title,-price", { keys: [key("title", ["title"]), key("price", ["price"], true)], descending: true }],
    ["-title,id", { keys: [key("title", ["title"], true)], descending: false }],
    ["title,-id,price", { keys: [key("title", ["title"])], descending: true }],
    ["c,d", { keys: [key("c,d", ["c,d"])], descending: false }],
    ["-c,d", { keys: [key("c,d", ["c,d"], true)], descending: true }],
  ])("reads _sort=%s", (value, order) => {
    expect(read(`_sort=${value}`).order).toEqual(order);
  });

  it.each([
    ["title,", /must name a field/],
    [",title", /must name a field/],
    ["title,-title", /names `title` twice/],
    ["title,price,stock,sold,code", /at most 4 fields/],
  ])("refuses _sort=%s", (value, message) => {
    expect(() => read(`_sort=${value}`)).toThrow(
      expect.objectContaining({ code: "invalid_parameter", message: expect.stringMatching(message) }),
    );
  });

  it.each(["", "-"])("refuses _sort=%s, which names no field", (value) => {
    expect(() => read(`_sort=${value}`)).toThrow(/must name a field/);
  });

  it("refuses an undeclared field of a closed schema and lists the declared ones", () => {
    expect(() => read("_sort=colour", closed)).toThrow(/no field `colour`; it has title, price/);
  });

  it("follows an open member of a closed schema", () => {
    expect(read("_sort=extra.colour", closed).order.keys[0]?.path).toEqual(["extra", "colour"]);
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
    expect(read(query).filters).toMatchObject([{ name: query.split("=")[0], path, operator: "eq", values }]);
  });

  it.each<[string, string, string, readonly string[]]>([
    ["price:gt=12.50", "price", "gt", ["12.5"]],
    ["price%3Age=1e2", "price", "ge", ["100.0"]],
    ["stock:lt=1.5", "stock", "lt", ["1.5"]],
    ["title:le=12", "title", "le", ['"12"']],
    ["sold:ne=true", "sold", "ne", ["true"]],
    ["stock:in=1,2,3", "stock", "in", ["1", "2", "3"]],
    ["title:in=a\\,b,c\\\\,", "title", "in", ['"a,b"', '"c\\\\"', '""']],
    ["code:in=1,x", "code", "in", ["1", '"1"', '"x"']],
    ["title:contains=a,b", "title", "contains", ['"a,b"']],
    ["tags:contains=1", "tags", "contains", ["1", '"1"']],
    ["title:starts=D%C3%BC", "title", "starts", ['"Dü"']],
    ["choice:starts=null", "choice", "starts", ['"null"']],
    ["tags:exists=true", "tags", "exists", ["true"]],
    ["extra:exists=false", "extra", "exists", ["false"]],
    ["author.name:gt=A", "author.name", "gt", ['"A"']],
    ["e:gt=x", "e:gt", "eq", ['"x"']],
    ["e:gt:lt=x", "e:gt", "lt", ['"x"']],
    ["e:lt=x", "e", "lt", ['"x"']],
  ])("reads %s", (query, name, operator, values) => {
    expect(read(query).filters).toMatchObject([{ name, operator, values }]);
  });

  it("takes several operators on one field", () => {
    expect(read("price:ge=1&price:lt=5").filters).toMatchObject([{ operator: "ge" }, { operator: "lt" }]);
  });

  it.each([
    ["price:foo=1", /allowed are :gt :ge :lt :le :ne :in :exists/],
    ["price:=1", /allowed are/],
    ["price:starts=1", /holds numbers, can't be filtered by `:starts`/],
    ["price:contains=1", /allowed are :gt/],
    ["tags:gt=1", /holds arrays.*allowed are :contains :exists/],
    ["extra:contains=1", /holds objects.*allowed are :exists/],
    ["title:foo=1", /:gt :ge :lt :le :ne :in :starts :contains :exists/],
    ["price:gt=ten", /must be a number, as in `12.5`$/],
    ["price=null", /must be a number.*; `price:exists=false` finds objects without it$/],
    ["stock:in=1,null", /`stock:exists=false`/],
    ["price:in=1,,2", /must be a number/],
    ["stock:in=1,1.5", /must be a whole number/],
    ["title:exists=yes", /`true` or `false`/],
    ["title:exists=", /`true` or `false`/],
    ["title:in=a\\b", /for a backslash/],
    ["title:in=a\\", /for a backslash/],
    [`title:in=${"a,".repeat(100)}`, /at most 100 values/],
    ["price:gt=1&price:gt=2", /twice/],
    ["colour:gt=1", /Unknown parameter `colour:gt`.*field:gt/],
    ["id:gt=1", /Unknown parameter `id:gt`/],
    ["_metadata.creator:gte=1", /write `:ge`/],
    ["_metadata.other:gt=1", /Unknown parameter/],
  ])("refuses %s and says what is allowed", (query, message) => {
    expect(() => read(query)).toThrow(
      expect.objectContaining({ code: "invalid_parameter", message: expect.stringMatching(message) }),
    );
  });

  it("refuses to choose fields by more parts than objects nest levels", () => {
    const deep = ["x", ...Array.from({ length: 12_000 }, () => "y")].join(".");
    expect(() => read(`_fields=${deep}`)).toThrow(/at most 64 parts/);
  });

  it("refuses more work than twenty filters", () => {
    const names = ["title", "price", "stock", "code"];
    const all = names.flatMap((name) =>
      ["gt", "ge", "lt", "le", "ne", "in"].map((operator) => `${name}:${operator}=1`),
    );
    expect(read(all.slice(0, 20).join("&")).filters).toHaveLength(20);
    expect(() => read(all.slice(0, 21).join("&"))).toThrow(/at most 20 filters/);
    const texts = ["title", "a.b", "c,d", "e", "choice"].map((name) => `${name}:contains=x`);
    expect(read(texts.slice(1).join("&")).filters).toHaveLength(4);
    expect(() => read(texts.join("&"))).toThrow(/at most 4 filters with `:contains`/);
  });

  it.each([
    ["price=x", /a number/],
    ["price=", /a number/],
    ["stock=1.5", /a whole number/],
    ["sold=yes", /`true` or `false`/],
    ["tags=a", /can't be filtered/],
    [
      "colour=red",
      /Unknown parameter `colour`; allowed are _limit, _offset, _cursor, _sort, _fields, _count, _etags, _valid, _any, _count_by, _position, _metadata.created, _metadata.creator, _metadata.creator_type and title/,
    ],
    ["_filter=a", /Unknown parameter `_filter`/],
    ["constructor=a", /Unknown parameter `constructor`/],
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

describe("what is shown", () => {
  it("keeps the chosen fields and the id", () => {
    const { fields } = read("_fields=title,author.name,a.b,_metadata.created");
    expect([...(fields?.keys() ?? [])].sort()).toEqual(["_metadata", "a.b", "author", "id", "title"]);
    expect(fields?.get("author")).toEqual(new Map([["name", "whole"]]));
  });

  it.each([
    ["", /must name fields/],
    ["title,", /must name fields/],
    ["title,colour", /no field `colour`; it has id, _metadata and title/],
    [`title${",title".repeat(100)}`, /at most 100/],
  ])("refuses _fields=%s", (value, message) => {
    expect(() => read(`_fields=${value}`, closed)).toThrow(
      expect.objectContaining({ code: "invalid_parameter", message: expect.stringMatching(message) }),
    );
  });

  it("leaves the count out when it is told to", () => {
    expect([read("_count=false").counted, read("_count=true").counted]).toEqual([false, true]);
    for (const value of ["", "0", "no", "False"]) expect(() => read(`_count=${value}`)).toThrow(/`true` or `false`/);
  });

  it("repeats it in links, behind the sort", () => {
    expect(read("title=a&_count=false&_fields=title,price&_sort=price").suffix).toBe(
      "&_sort=price&_fields=title%2Cprice&_count=false&title=a",
    );
  });
});

describe("cursors", () => {
  const { order } = read("_sort=title,price");
  const id = "0199b1c0-0000-7000-8000-000000000001";
  const cursor = { values: ["4D\u0001\u0001une", "3c"], id };
  const text = cursorText(order, cursor);

  it("begin at the start when they are empty", () => {
    expect(read("_cursor=").cursor).toEqual({ text: "" });
  });

  it("come back as they were given", () => {
    expect(read(`_cursor=${text}&_sort=title,price`).cursor).toEqual({ text, after: cursor });
  });

  it("never stand beside an offset", () => {
    expect(() => read("_cursor=&_offset=0")).toThrow(/send only one of them/);
  });

  const forged = (plain: string) => Buffer.from(plain).toString("base64url");
  const plain = Buffer.from(text, "base64url").toString();
  it.each([
    ["is cut", text.slice(0, -1)],
    ["is longer", `${text}A`],
    ["is no base64url", "a b"],
    ["is padded", `${text}=`],
    ["is of no version", forged(plain.replace("1", "2"))],
    ["has no id", forged(plain.replace(id, "x"))],
    ["has a value that is none", forged(plain.replace("3c", "9"))],
    ["has a value too few", forged(plain.slice(0, -3))],
    ["has a value too many", forged(`${plain}\u00003`)],
    ["is no UTF-8", Buffer.from([0xff, 0xfe]).toString("base64url")],
    ["is too long", "A".repeat(12_004)],
  ])("are refused when one %s", (_what, damaged) => {
    expect(() => read(`_cursor=${damaged}&_sort=title,price`)).toThrow(
      expect.objectContaining({ code: "invalid_parameter", message: expect.stringContaining("`_cursor`") }),
    );
  });

  it.each(["", "&_sort=title", "&_sort=price,title", "&_sort=title,-price"])(
    "are refused with another order: %s",
    (sort) => {
      expect(() => read(`_cursor=${text}${sort}`)).toThrow(/another order/);
    },
  );
});

it("a query of more than 100 parameters is refused for their number, before any of them is looked at", () => {
  expect(read(Array(100).fill("_=1").join("&"))).toMatchObject({ filters: [] });
  expect(() => read(`%zz&${"_=1&".repeat(100)}`)).toThrow("A query may have at most 100 parameters");
});
