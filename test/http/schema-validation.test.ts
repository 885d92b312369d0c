// How a resource's schema checks objects, and that neither schemas nor objects made to hurt can
// hold up the service.

import { beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/config/types.ts";
import { make, outcome } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withLimits, withResource, withUser } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");

interface Failure {
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

const book: JsonObject = {
  $defs: { isbn: { type: "string", pattern: "^97[89][0-9]{10}$" } },
  type: "object",
  properties: {
    title: { type: "string", minLength: 1, maxLength: 10 },
    isbn: { $ref: "#/$defs/isbn" },
    price: { type: "number", exclusiveMinimum: 0, maximum: 9007199254740991 },
    pages: { type: "integer" },
    published: { type: "string", format: "date" },
    contact: { type: "string", format: "email" },
    tags: { type: "array", items: { type: "string" }, maxItems: 3, uniqueItems: true },
    author: { type: "object", properties: { "a/b~c": { type: "string" } }, required: ["name"] },
    state: { enum: ["new", "used", null] },
    constructor: { type: "string" },
  },
  required: ["title"],
};

const shop = project(
  "shop",
  withKey("writer"),
  withUser("alice"),
  withLimits({ maxBodyBytes: 4 << 20 }),
  withResource("books", { schema: book }),
  withResource("closed", { schema: { ...book, additionalProperties: false } }),
  withResource("texts", { schema: { type: "object", additionalProperties: { type: "string" } } }),
  withResource("draft7", {
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { pair: { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: false } },
      dependencies: { a: ["b"] },
    },
  }),
  withResource("tuples", {
    schema: {
      type: "object",
      properties: { pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false } },
      dependentRequired: { a: ["b"] },
      unevaluatedProperties: { type: ["array", "boolean"] },
    },
  }),
  withResource("lists", {
    schema: { type: "object", properties: { all: { type: "array", items: { type: "string" } } } },
  }),
  withResource("unique", {
    schema: { type: "object", properties: { all: { type: "array", maxItems: 1000, uniqueItems: true } } },
  }),
  withResource("evil", {
    schema: {
      type: "object",
      properties: {
        nested: { type: "string", pattern: "^(a+)+$" },
        alternatives: { type: "string", pattern: "^(a|a)*$" },
        backtracking: { type: "string", pattern: "^([a-zA-Z0-9]+\\s?)*$" },
        mail: { type: "string", format: "email" },
        link: { type: "string", format: "uri" },
      },
      patternProperties: { "^(x+x+)+y$": { type: "null" } },
    },
  }),
  withResource("trees", {
    schema: {
      $defs: {
        tree: {
          type: "object",
          properties: { left: { $ref: "#/$defs/tree" }, right: { $ref: "#/$defs/tree" } },
          additionalProperties: false,
        },
      },
      type: "object",
      properties: { root: { $ref: "#/$defs/tree" } },
    },
  }),
  withResource("big", { schema: { type: "object", properties: { n: { type: "integer", minimum: 0 } } } }),
);

describeServed("a schema", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const post = (resource: string, body: unknown) => served.send(`/api/${resource}`, { method: "POST", body, as: key });
  const failures = (reply: Reply): readonly Failure[] => {
    expect(outcome(reply)).toEqual([400, "validation_failed"]);
    const { errors } = reply.json<{ errors: Failure[] }>();
    for (const { message } of errors) expect(message).toMatch(/\S/);
    return errors;
  };
  const failuresOf = async (resource: string, body: unknown) =>
    failures(await post(resource, body)).map(({ pointer, keyword }) => `${pointer} ${keyword}`);

  it("takes what fits it", async () => {
    const fitting = {
      title: "Dune",
      isbn: "9780441013593",
      price: 9.5,
      pages: 412,
      published: "1965-08-01",
      contact: "a@b.example",
      tags: ["a", "b"],
      author: { name: "F. H." },
      state: null,
      constructor: "text",
      undeclared: [1],
    };
    expect(await make(served, "books", fitting, key)).toMatchObject(fitting);
  });

  it.each<[string, object, string]>([
    ["a missing field", {}, "/title required"],
    ["a wrong type", { title: 7 }, "/title type"],
    ["an empty text", { title: "" }, "/title minLength"],
    ["a text too long", { title: "x".repeat(11) }, "/title maxLength"],
    ["a pattern behind a reference", { title: "x", isbn: "123" }, "/isbn pattern"],
    ["a limit", { title: "x", price: 0 }, "/price exclusiveMinimum"],
    ["a fraction for an integer", { title: "x", pages: 1.5 }, "/pages type"],
    ["a date that is none", { title: "x", published: "1965-13-01" }, "/published format"],
    ["an address that is none", { title: "x", contact: "nobody" }, "/contact format"],
    ["an element", { title: "x", tags: ["a", 1] }, "/tags/1 type"],
    ["too many elements", { title: "x", tags: ["a", "b", "c", "d"] }, "/tags maxItems"],
    ["equal elements", { title: "x", tags: ["a", "a"] }, "/tags uniqueItems"],
    ["a nested field", { title: "x", author: { name: "n", "a/b~c": 1 } }, "/author/a~1b~0c type"],
    ["a value that is not listed", { title: "x", state: "old" }, "/state enum"],
    ["an own member of an inherited name", { title: "x", constructor: 1 }, "/constructor type"],
  ])("refuses %s by pointer and keyword", async (_what, body, expected) => {
    expect(await failuresOf("books", body)).toEqual([expected]);
  });

  it("counts code points of texts, and 1.0 for an integer", async () => {
    expect((await post("books", { title: "😀".repeat(10) })).status).toBe(201);
    expect((await post("books", '{"title":"x","pages":412.0}')).status).toBe(201);
    expect(await failuresOf("books", { title: "😀".repeat(11) })).toEqual(["/title maxLength"]);
  });

  it("judges integers beyond 53 bits by their exact value", async () => {
    expect(await failuresOf("books", '{"title":"x","price":9007199254740993}')).toEqual(["/price maximum"]);
    expect((await post("big", '{"n":18446744073709551615}')).status).toBe(201);
    expect(await failuresOf("big", '{"n":-9223372036854775808}')).toEqual(["/n minimum"]);
    expect((await post("unique", '{"all":[9007199254740992,9007199254740993]}')).status).toBe(201);
    expect(await failuresOf("unique", '{"all":[1,1.0]}')).toEqual(["/all uniqueItems"]);
  });

  it("says all that is wrong at once", async () => {
    expect((await failuresOf("books", { pages: "x", price: -1, tags: [1, 2] })).toSorted()).toEqual([
      "/pages type",
      "/price exclusiveMinimum",
      "/tags/0 type",
      "/tags/1 type",
      "/title required",
    ]);
  });

  it("decides itself about undeclared fields", async () => {
    expect((await post("books", { title: "x", colour: "red" })).status).toBe(201);
    expect(await failuresOf("closed", { title: "x", colour: "red" })).toEqual(["/colour additionalProperties"]);
    expect(await failuresOf("texts", { a: "x", b: 1 })).toEqual(["/b type"]);
  });

  it.each(["__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "that is closed refuses %s, and one that is open takes it",
    async (name) => {
      const member = `"${name}":"x"`;
      expect(await failuresOf("closed", `{"title":"x",${member}}`)).toEqual([`/${name} additionalProperties`]);
      expect((await post("books", `{"title":"x",${member}}`)).text).toContain(member);
      expect(await failuresOf("texts", `{"${name}":{"a":1}}`)).toEqual([`/${name} type`]);
    },
  );

  it("sees own members only: constructor is not there unless it is sent", async () => {
    expect((await post("closed", { title: "x" })).status).toBe(201);
  });

  it("never sees id and _metadata: a closed one is no obstacle to updates", async () => {
    const { id } = await make(served, "closed", { title: "x" }, key);
    const reply = await served.send(`/api/closed/${id}`, { method: "PUT", body: { pages: 1 }, as: key });
    expect(reply.json()).toMatchObject({ id, title: "x", pages: 1 });
  });

  it("is read as draft-07 when it says so, and else as 2020-12", async () => {
    expect((await post("draft7", { pair: ["a", 1] })).status).toBe(201);
    expect(await failuresOf("draft7", { pair: ["a", "b"] })).toEqual(["/pair/1 type"]);
    expect((await failuresOf("draft7", { pair: ["a", 1, 2] })).length).toBe(1);
    expect((await failuresOf("draft7", { a: 1 })).length).toBe(1);
    expect((await post("tuples", { pair: ["a", 1] })).status).toBe(201);
    expect(await failuresOf("tuples", { pair: ["a", "b"] })).toEqual(["/pair/1 type"]);
    expect((await failuresOf("tuples", { pair: ["a", 1, 2] })).length).toBe(1);
    expect(await failuresOf("tuples", { a: true })).toEqual([expect.stringContaining("dependentRequired")]);
    expect(await failuresOf("tuples", { other: 1 })).toEqual(["/other type"]);
  });

  describe("can't be made to hold up the service", () => {
    const stillServes = async () => expect((await post("books", { title: "good" })).status).toBe(201);

    it("by 200,000 failures: at most 100 are said", async () => {
      const many = await post("lists", { all: Array(200_000).fill(1) });
      expect(failures(many).length).toBe(100);
      expect(many.text.length).toBeLessThan(50_000);
      const members = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, 1]));
      expect(failures(await post("texts", members)).length).toBe(100);
      await stillServes();
    });

    it("by elements that are hard to compare", async () => {
      const all = Array.from({ length: 1000 }, (_, n) => ({ same: "x".repeat(1000), tail: [n] }));
      expect((await post("unique", { all })).status).toBe(201);
      expect(await failuresOf("unique", { all: [...all.slice(1), all[1]] })).toEqual(["/all uniqueItems"]);
      expect(await failuresOf("unique", { all: Array.from({ length: 200_000 }, (_, n) => n) })).toEqual([
        "/all maxItems",
      ]);
      await stillServes();
    });

    it.each(["nested", "alternatives", "backtracking", "mail", "link"])(
      "by a text against a pattern that backtracks: %s",
      async (field) => {
        for (const text of [
          `${"a".repeat(100_000)}!`,
          `${"a".repeat(50_000)}@${"a".repeat(50_000)}`,
          `http://${"a".repeat(100_000)}\n`,
        ]) {
          const reply = await post("evil", { [field]: text });
          expect([201, 400]).toContain(reply.status);
        }
        await stillServes();
      },
    );

    it("by a name against a pattern that backtracks", async () => {
      expect((await post("evil", { ["x".repeat(100_000)]: 1 })).status).toBe(201);
      expect(await failuresOf("evil", { [`${"x".repeat(100)}y`]: 1 })).toEqual([`/${"x".repeat(100)}y type`]);
    });

    it("by values nested through a schema that refers to itself", async () => {
      const deep = `${'{"left":'.repeat(60)}{}${"}".repeat(60)}`;
      expect((await post("trees", `{"root":${deep}}`)).status).toBe(201);
      const wide = (levels: number): string =>
        levels === 0 ? "{}" : `{"left":${wide(levels - 1)},"right":${wide(levels - 1)}}`;
      expect((await post("trees", `{"root":${wide(14)}}`)).status).toBe(201);
      expect(await failuresOf("trees", `{"root":${deep.replace("{}", '{"up":1}')}}`)).toEqual([
        expect.stringMatching(/\/left\/up additionalProperties$/),
      ]);
    });
  });
});
