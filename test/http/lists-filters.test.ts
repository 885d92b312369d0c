// Which objects a filtered list holds, and which parameters are refused.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");

const schema = {
  $defs: { priced: { type: "object", properties: { price: { type: "number" } } } },
  type: "object",
  $ref: "#/$defs/priced",
  allOf: [{ properties: { stock: { type: "integer" } } }],
  properties: {
    title: { type: "string" },
    sold: { type: "boolean" },
    nothing: { type: "null" },
    code: { type: ["string", "integer"] },
    any: true,
    tags: { type: "array" },
    author: { type: "object", properties: { name: { type: "string" } } },
    "a.b": { type: "string" },
    _private: { type: "string" },
    constructor: { type: "string" },
    "näme &=+": { type: "string" },
  },
} as const;

const indexes = [
  "title",
  "price",
  "stock",
  "sold",
  "code",
  "any",
  "a.b",
  { name: "author.name", path: ["author", "name"] },
];

const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("indexed", { schema, indexes }),
  withResource("scanned", { schema }),
);

const rows: readonly string[] = [
  '{"n":0,"title":"Dune","price":12.5,"stock":9007199254740993,"sold":true,"code":12,"any":"true","_private":"x"}',
  '{"n":1,"title":"Emma","price":10,"stock":9007199254740992,"sold":false,"code":"12","any":true,"constructor":"c"}',
  '{"n":2,"title":"Dune","price":10.0,"stock":0,"nothing":null,"code":"abc","any":"abc","author":{"name":"Ann"}}',
  '{"n":3,"title":"","price":1e2,"stock":-0,"sold":true,"any":null,"a.b":"literal","a":{"b":"nested"}}',
  '{"n":4,"title":"null","price":0,"stock":18446744073709551615,"any":{"a":1},"tags":["a"],"näme &=+":"ö &=+"}',
  '{"n":5,"title":"a, b;c","any":[1],"author":{"name":"Bob"}}',
];

describeServedOnBothStores("a list under a filter", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    for (const resource of ["indexed", "scanned"]) {
      for (const row of rows) {
        await make(served, resource, row, apikey("other"));
        await make(served, resource, row, key);
      }
    }
  });

  describe.each(["indexed", "scanned"])("on fields that are %s", (resource) => {
    const matches = async (query: string) => {
      const { count, items } = await list(served, `${resource}?${query}`, key);
      expect(count).toBe(items.length);
      return items.map((item) => item.n);
    };

    it.each<[string, string, readonly number[]]>([
      ["a string", "title=Dune", [0, 2]],
      ["the empty string", "title=", [3]],
      ["a string's whole value only", "title=Dun", []],
      ["a string in its own case only", "title=dune", []],
      ["the string null, on a string", "title=null", [4]],
      ["a string with commas and blanks, however encoded", "title=a%2C+b%3bc", [5]],
      ["a number, whatever its notation", "price=10", [1, 2]],
      ["a number with a fraction", "price=12.50", [0]],
      ["a number with an exponent", "price=1e2", [3]],
      ["a number through $ref", "price=0", [4]],
      ["an integer of more than 53 bits", "stock=9007199254740993", [0]],
      ["its neighbour", "stock=9007199254740992", [1]],
      ["the largest integer", "stock=18446744073709551615", [4]],
      ["zero of either sign", "stock=-0", [2, 3]],
      ["an integer written as 0.0, through allOf", "stock=0.0", [2, 3]],
      ["a boolean", "sold=true", [0, 3]],
      ["null and with it objects without the field", "nothing=null", [0, 1, 2, 3, 4, 5]],
      ["an untyped field, as text and as JSON literal", "any=true", [0, 1]],
      ["an untyped field that is no literal", "any=abc", [2]],
      ["null on an untyped field", "any=null", [3]],
      ["a union, as text and as literal", "code=12", [0, 1]],
      ["a union's text", "code=abc", [2]],
      ["a nested field", "author.name=Ann", [2]],
      ["a property with a dot in its name before a path", "a.b=literal", [3]],
      ["not the path of that name", "a.b=nested", []],
      ["a declared name with an underscore", "_private=x", [0]],
      ["a declared name that objects inherit", "constructor=c", [1]],
      ["a name and value with every special character", "n%C3%A4me%20%26%3D%2B=%C3%B6+%26%3D%2B", [4]],
      ["two fields", "title=Dune&price=10", [2]],
      ["two fields that never meet", "title=Emma&price=0", []],
      ["a field and a sort on another", "title=Dune&_sort=price", [2, 0]],
      ["a field and a descending sort on another", "title=Dune&_sort=-price", [0, 2]],
      ["a field and a sort on itself", "sold=true&_sort=-sold", [3, 0]],
      ["a field and the order of creation", "sold=true&_sort=-id", [3, 0]],
    ])("matches %s", async (_what, query, expected) => {
      expect(await matches(query)).toEqual(expected);
    });

    it("pages and counts the matches", async () => {
      const first = await list(served, `${resource}?title=Dune&_limit=1`, key);
      expect([first.count, first.items.map((item) => item.n)]).toEqual([2, [0]]);
      expect(first.links.next).toMatch(/\?_limit=1&_offset=1&title=Dune$/);
      const second = await list(served, `${resource}?title=Dune&_limit=1&_offset=1`, key);
      expect([second.count, second.items.map((item) => item.n), second.links.next]).toEqual([2, [2], undefined]);
    });

    it.each([
      ["no number, on a number", "price=ten"],
      ["nothing, on a number", "price="],
      ["an infinite number", "price=1e400"],
      ["a fraction, on an integer", "stock=1.5"],
      ["an integer of more than 64 bits", "stock=99999999999999999999999999"],
      ["yes, on a boolean", "sold=yes"],
      ["something, on a field that is always null", "nothing=1"],
      ["a list's elements", "tags=a"],
      ["an object's members", "author=Ann"],
      ["an undeclared field", "colour=red"],
      ["an undeclared inherited name", "toString=x"],
      ["__proto__", "__proto__=x"],
      ["the id, which get finds", "id=1"],
      ["_metadata", "_metadata=other"],
      ["a cursor that is none", "_cursor=x"],
      ["a count that is neither wanted nor unwanted", "_count=maybe"],
      ["a parameter of somebody else", "limit=5"],
      ["an empty name", "=5"],
      ["one field twice", "title=Dune&title=Emma"],
      ["a credential in the query", "apikey=secret"],
    ])("refuses %s", async (_what, query) => {
      expect(outcome(await served.send(`/api/${resource}?${query}`, { as: key }))).toEqual([400, "invalid_parameter"]);
      expect(await matches("title=Emma")).toEqual([1]);
    });
  });

  it("never shows what the caller could not see without one", async () => {
    const { items } = await list(served, "indexed?title=Dune", key);
    expect(items.map((item) => item._metadata.creator)).toEqual(["writer", "writer"]);
  });

  it("names the allowed parameters to whoever sends another", async () => {
    const { detail } = (await served.send("/api/indexed?colour=red", { as: key })).json<{ detail: string }>();
    for (const name of ["colour", "_limit", "_offset", "_sort", "title", "author.name"]) expect(detail).toContain(name);
  });

  it("says what to write for another service's operator", async () => {
    const reply = await served.send("/api/indexed?stock_gte=1", { as: key });
    expect([reply.status, reply.code]).toEqual([400, "invalid_parameter"]);
    expect(reply.json<{ detail: string }>().detail).toContain("write `stock:ge`.");
  });

  it("ignores a bare underscore, which clients add to get past caches", async () => {
    const { count } = await list(served, "indexed?_=1760000000000&title=Emma&_=2", key);
    expect(count).toBe(1);
  });

  it("takes strings that differ only beyond what an index holds for different", async () => {
    const long = "x".repeat(2000);
    for (const resource of ["indexed", "scanned"]) {
      await make(served, resource, { title: `${long}a` }, key);
      const made = await make(served, resource, { title: `${long}b` }, key);
      const { count, items } = await list(served, `${resource}?title=${long}b`, key);
      expect([count, items]).toEqual([1, [made]]);
    }
  });

  it("follows updates and deletions", async () => {
    const made = await make(served, "indexed", { title: "Ubik" }, key);
    const path = `/api/indexed/${made.id}`;
    await served.send(path, { method: "PUT", body: { title: "Valis" }, as: key });
    expect((await list(served, "indexed?title=Ubik", key)).count).toBe(0);
    expect((await list(served, "indexed?title=Valis", key)).count).toBe(1);
    await served.send(path, { method: "DELETE", as: key });
    expect((await list(served, "indexed?title=Valis", key)).count).toBe(0);
  });
});
