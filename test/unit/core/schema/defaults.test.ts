// What the defaults of a schema fill into new objects, and which defaults are refused.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { checkDefaults, compileDefaults } from "../../../../core/schema/defaults/compile-defaults.ts";
import { insertionsOf, withInsertions } from "../../../../core/schema/defaults/filling.ts";

function fillerOf(schema: unknown): (text: string, maxLength?: number) => string | undefined {
  expect(checkDefaults(schema as JsonObject)).toEqual([]);
  const result = compileDefaults(schema as JsonObject);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const { filling } = result.defaults;
  return (text, maxLength = 10_000) => {
    if (filling === undefined) return text;
    const insertions = insertionsOf(filling, text, maxLength);
    return insertions && withInsertions(text, insertions);
  };
}

const filled = (schema: unknown, text: string) => fillerOf(schema)(text);

const properties = (members: object) => ({ type: "object", properties: members });
const numbered = { type: "integer", default: 1 };
const address = properties({ country: { type: "string", default: "AT" }, street: { type: "string" } });

describe("a default is filled in", () => {
  for (const [what, schema, text, result] of [
    [
      "where the member is missing, behind the others",
      properties({ a: numbered, b: {} }),
      '{"b":2.0}',
      '{"b":2.0,"a":1}',
    ],
    ["in the order of the schema", properties({ b: numbered, a: { default: null } }), "{}", '{"b":1,"a":null}'],
    ["and not where the member is there, whatever its value", properties({ a: numbered }), '{"a":null}', '{"a":null}'],
    [
      "as canonical text",
      properties({ a: { default: 1e-7 }, b: { default: "é\u0001" } }),
      "{}",
      '{"a":1e-7,"b":"é\\u0001"}',
    ],
    [
      "inside an object that is there",
      properties({ at: address }),
      '{"at":{"street":"x"}}',
      '{"at":{"street":"x","country":"AT"}}',
    ],
    ["and not inside one that is missing", properties({ at: address }), '{"z":1}', '{"z":1}'],
    [
      "inside an object that is a default",
      properties({ at: { ...address, default: {} } }),
      "{}",
      '{"at":{"country":"AT"}}',
    ],
    ["and not inside what is no object", properties({ at: address }), '{"at":["x"]}', '{"at":["x"]}'],
    [
      "in each item",
      properties({ l: { items: properties({ n: numbered }) } }),
      '{"l":[{},{"n":2},3,[]]}',
      '{"l":[{"n":1},{"n":2},3,[]]}',
    ],
    [
      "in first items and the rest, each by its own schema",
      properties({ l: { prefixItems: [properties({ a: numbered }), true], items: properties({ c: numbered }) } }),
      '{"l":[{},{},{},{}]}',
      '{"l":[{"a":1},{},{"c":1},{"c":1}]}',
    ],
    [
      "in members without a declared name",
      { ...properties({ known: true }), additionalProperties: properties({ n: numbered }) },
      '{"known":{},"other":{}}',
      '{"known":{},"other":{"n":1}}',
    ],
    [
      "by way of a reference",
      { $ref: "#/$defs/a", $defs: { a: properties({ n: { $ref: "#/$defs/n" } }), n: numbered } },
      "{}",
      '{"n":1}',
    ],
    [
      "next to a reference, before the one that it refers to",
      { ...properties({ n: { $ref: "#/$defs/n", default: 2 } }), $defs: { n: numbered } },
      "{}",
      '{"n":2}',
    ],
    [
      "next to a reference in an older draft",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        ...properties({ n: { $ref: "#/definitions/n", default: 2 } }),
        definitions: { n: { type: "integer" } },
      },
      "{}",
      '{"n":2}',
    ],
    [
      "where allOf declares parts of one object",
      { allOf: [properties({ at: address }), properties({ at: properties({ zip: { default: "1010" } }) })] },
      '{"at":{}}',
      '{"at":{"country":"AT","zip":"1010"}}',
    ],
    [
      "at every depth of a tree",
      { ...properties({ n: numbered, children: { items: { $ref: "#" } } }) },
      '{"children":[{"children":[{}]}]}',
      '{"children":[{"children":[{"n":1}],"n":1}],"n":1}',
    ],
    [
      "into a default that ends a tree itself",
      { ...properties({ next: { $ref: "#", default: { next: null } } }), type: ["object", "null"] },
      "{}",
      '{"next":{"next":null}}',
    ],
    [
      "under odd names",
      properties({ 'a"\\': numbered, __proto__: 1, constructor: numbered }),
      "{}",
      '{"a\\"\\\\":1,"constructor":1}',
    ],
    ["by a schema without any: nothing", properties({ a: true }), "{}", "{}"],
    [
      "beside anyOf, whose alternatives have none",
      { ...properties({ a: numbered }), anyOf: [{ required: ["b"] }, { required: ["a"] }] },
      "{}",
      '{"a":1}',
    ],
  ] as const) {
    it(what, () => expect(filled(schema, text)).toBe(result));
  }

  it("as long as the object does not become too long", () => {
    const fill = fillerOf(properties({ l: { items: properties({ n: numbered }) } }));
    const text = `{"l":[${Array(10).fill("{}").join(",")}]}`;
    expect(fill(text, text.length + 50)).toHaveLength(text.length + 50);
    expect(fill(text, text.length + 49)).toBeUndefined();
  });

  it("once: filling again changes nothing, and what was sent stays as it was", () => {
    const fill = fillerOf({
      ...properties({ n: numbered, at: address, l: { items: { $ref: "#" } } }),
      additionalProperties: { $ref: "#" },
    });
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        tie("object"),
        tie("list"),
      ),
      object: fc.dictionary(fc.constantFrom("n", "at", "l", "country", "x", '"'), tie("value"), { maxKeys: 4 }),
      list: fc.array(tie("value"), { maxLength: 3 }),
    }));
    fc.assert(
      fc.property(values.object, (value) => {
        const sent = canonicalJson(JSON.stringify(value), 64);
        if (!sent.ok) throw new Error(sent.error.detail);
        const once = fill(sent.json.text) ?? "";
        expect(fill(once)).toBe(once);
        expect(JSON.parse(once)).toMatchObject(JSON.parse(sent.json.text));
      }),
      { numRuns: 300 },
    );
  });
});

describe("a default is refused", () => {
  const problemsOf = (schema: unknown) => {
    expect(compileSchema(schema as JsonObject)).toMatchObject({ ok: true });
    return checkDefaults(schema as JsonObject);
  };
  const inner = properties({ n: numbered });

  for (const [where, schema, pointer] of [
    ["below anyOf", { anyOf: [inner, true] }, "/anyOf/0/properties/n/default"],
    [
      "below oneOf, deeper down",
      properties({ a: { oneOf: [{ items: inner }] } }),
      "/properties/a/oneOf/0/items/properties/n/default",
    ],
    ["below if", { if: inner }, "/if/properties/n/default"],
    ["below else", { if: true, else: inner }, "/else/properties/n/default"],
    ["below not", { not: { allOf: [inner, false] } }, "/not/allOf/0/properties/n/default"],
    ["below dependentSchemas", { dependentSchemas: { a: inner } }, "/dependentSchemas/a/properties/n/default"],
    ["below patternProperties", { patternProperties: { "^x": inner } }, "/patternProperties/^x/properties/n/default"],
    ["below contains", properties({ l: { contains: inner } }), "/properties/l/contains/properties/n/default"],
    ["below unevaluatedProperties", { unevaluatedProperties: inner }, "/unevaluatedProperties/properties/n/default"],
    [
      "below additionalProperties where names may follow a pattern",
      { patternProperties: { "^x": true }, additionalProperties: inner },
      "/additionalProperties/properties/n/default",
    ],
    [
      "behind a reference from there",
      { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }, {}], $defs: { a: inner } },
      "/$defs/a/properties/n/default",
    ],
    ["of the object itself", { ...inner, default: {} }, "/default"],
    ["of items", properties({ l: { items: numbered } }), "/properties/l/items/default"],
    ["of additionalProperties", { additionalProperties: numbered }, "/additionalProperties/default"],
    [
      "that differs from another one",
      { allOf: [inner, properties({ n: { default: 2 } })] },
      "/allOf/1/properties/n/default",
    ],
    ["that would contain itself", properties({ child: { $ref: "#", default: {} } }), "/properties/child/default"],
    [
      "that the schema refuses",
      properties({ n: { type: "integer", minimum: 2, default: 1 } }),
      "/properties/n/default",
    ],
    [
      "that the schema refuses once it is filled in",
      properties({ a: { ...inner, maxProperties: 0, default: {} } }),
      "/properties/a/default",
    ],
    [
      "of a member that another part of the schema forbids",
      { allOf: [inner], properties: { s: {} }, additionalProperties: false },
      "/allOf/0/properties/n/default",
    ],
    ["with an integer that has lost digits", properties({ n: { default: 2 ** 53 } }), "/properties/n/default"],
  ] as const) {
    it(where, () => expect(problemsOf(schema).map((problem) => problem.pointer)).toEqual([pointer]));
  }

  it("when it grows without bound, which ends the check", () => {
    const level = (n: number) =>
      properties({ a: { $ref: `#/$defs/${n + 1}`, default: {} }, b: { $ref: `#/$defs/${n + 1}`, default: {} } });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, level(n)]));
    const problems = problemsOf({ $ref: "#/$defs/0", $defs: { ...$defs, 40: {} } });
    expect(problems[0]?.message).toContain("1 MiB");
  });

  it("when many members have one that is large, and only their sum is too much", () => {
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, { $ref: "#/$defs/large" }]));
    const schema = (count: number) => ({
      ...properties(members(count)),
      $defs: { large: { default: "x".repeat(100_000) } },
    });
    expect([problemsOf(schema(10)), problemsOf(schema(400)).map(({ pointer }) => pointer)]).toEqual([
      [],
      ["/$defs/large/default"],
    ]);
  });

  it("in objects that have too many members, counted for every combination of schemas", () => {
    const cycle = (name: string, length: number) =>
      Array.from({ length }, (_, n) => [
        `${name}${n}`,
        properties({ x: { $ref: `#/$defs/${name}${(n + 1) % length}` }, [name]: numbered }),
      ]);
    const lengths = [7, 11, 13, 17];
    const problems = problemsOf({
      allOf: lengths.map((length) => ({ $ref: `#/$defs/c${length}x0` })),
      $defs: Object.fromEntries(lengths.flatMap((length) => cycle(`c${length}x`, length))),
    });
    expect(problems).toMatchObject([{ pointer: "", message: expect.stringContaining("combination of schemas") }]);
  });
});

it("says which members may be left out, where they are required", () => {
  const schema = { allOf: [{ required: ["n", "s"] }, properties({ n: numbered, s: {} })] };
  const result = compileDefaults(schema as JsonObject);
  const optional = result.ok ? result.defaults.optional : new Map();
  expect(optional.get("/allOf/0")).toEqual(new Set(["n"]));
});
