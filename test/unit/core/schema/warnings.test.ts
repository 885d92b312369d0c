import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { draft04, draft07 } from "./compiled.ts";

const property = (schema: unknown): unknown => ({ properties: { a: schema } });

describe("what is ignored is warned of", () => {
  const warningsOf = (schema: unknown) => {
    const result = compileSchema(schema as JsonObject);
    return result.ok ? result.schema.warnings : result.problems;
  };

  it.each<[string, unknown, string, RegExp]>([
    [
      "an unknown keyword",
      property({ maxLenght: 3 }),
      "/properties/a/maxLenght",
      /maxLenght is not a keyword of 2020-12 and is ignored; did you mean maxLength\?/,
    ],
    [
      "a keyword that is like no other",
      property({ colour: 1 }),
      "/properties/a/colour",
      /remove it, or write x-colour/,
    ],
    ["a misspelt reference", property({ $reff: "#" }), "/properties/a/$reff", /did you mean \$ref\?/],
    ["a misspelt format", property({ format: "date-tiem" }), "/properties/a/format", /did you mean "date-time"\?/],
    ["a keyword of OpenAPI", property({ nullable: true }), "/properties/a/nullable", /"type": \["string", "null"\]/],
    [
      "dependencies in 2020-12",
      { dependencies: { a: ["b"] } },
      "/dependencies",
      /dependentRequired or dependentSchemas/,
    ],
    [
      "additionalItems in 2020-12",
      property({ additionalItems: false }),
      "/properties/a/additionalItems",
      /prefixItems/,
    ],
    ["prefixItems in draft-07", { $schema: draft07, prefixItems: [] }, "/prefixItems", /leave \$schema out/],
    [
      "a keyword beside $ref in draft-07",
      { $schema: draft07, definitions: { s: {} }, properties: { a: { $ref: "#/definitions/s", maxLength: 1 } } },
      "/properties/a/maxLength",
      /allOf/,
    ],
    ["const in draft-04", { $schema: draft04, const: {} }, "/const", /name draft-06 or a later draft in \$schema/],
    ["an $id that a generator wrote", property({ $id: "#/properties/a" }), "/properties/a/$id", /remove it/],
    ["an unknown format", property({ format: "isbn" }), "/properties/a/format", /"isbn" is unknown.*write a pattern/],
    [
      "a keyword named like a method",
      property({ constructor: 1, toString: {} }),
      "/properties/a/constructor",
      /ignored/,
    ],
  ])("%s", (_name, schema, pointer, says) => {
    expect(warningsOf(schema)).toContainEqual({ pointer, message: expect.stringMatching(says) });
  });

  it("a keyword of another draft is not what was meant", () => {
    const [warning] = warningsOf({ $schema: draft07, prefixItem: [] });
    expect(warning?.message).not.toContain("prefixItems");
  });

  it("eight thousand unknown keywords are fifty warnings, and no more of them are guessed", () => {
    const many = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`kw${index}`, 1]));
    expect(warningsOf(many)).toHaveLength(50);
  });

  it("keywords of other programs, x-…, are not", () => {
    expect(warningsOf(property({ "x-order": 1, "x-minLength": 2 }))).toEqual([]);
  });

  it("annotations and checked formats are not", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "A",
      description: "B",
      $comment: "C",
      properties: {
        a: { default: 1, examples: [1], readOnly: true, writeOnly: false, deprecated: true, format: "date-time" },
        b: { contentEncoding: "base64", contentMediaType: "text/plain", contentSchema: { type: "string" } },
      },
    };
    expect(warningsOf(schema)).toEqual([]);
  });
});

describe("a name that was reserved later", () => {
  const namesOf = (schema: unknown) => {
    const result = compileSchema(schema as JsonObject);
    if (!result.ok) throw new Error("It is refused");
    return result.schema.warnings.map(({ pointer }) => pointer);
  };
  const later = { _etags: {}, _valid: {}, _position: {}, _any: {}, _count_by: {}, _other: {} };

  it("is warned of at the top level and in all that applies there, and declared all the same", () => {
    const pointers = ["_etags", "_valid", "_position", "_any", "_count_by"].map((name) => `/properties/${name}`);
    expect(namesOf({ properties: later })).toEqual(pointers);
    expect(namesOf({ allOf: [{ properties: { _valid: {} } }] })).toEqual(["/allOf/0/properties/_valid"]);
    const result = compileSchema({ properties: later });
    expect(result.ok && [...result.schema.properties.keys()]).toEqual(Object.keys(later));
  });

  it("is free below the top level", () => {
    expect(namesOf({ properties: { a: { properties: later } } })).toEqual([]);
  });
});

describe("a member that is required and forbidden is a contradiction, and warned of under a condition", () => {
  const closed = { additionalProperties: false, properties: { a: {} } };
  const unevaluated = { unevaluatedProperties: false, properties: { a: {} } };
  const pointersOf = (schema: unknown, which: "warnings" | "contradictions") => {
    const result = compileSchema(schema as JsonObject);
    return (result.ok ? result.schema[which] : result.problems).map(({ pointer }) => pointer);
  };

  it("says which, and what to do", () => {
    const result = compileSchema({ ...closed, required: ["a", "titel"] } as JsonObject);
    expect(result).toMatchObject({
      ok: true,
      schema: {
        warnings: [],
        contradictions: [
          {
            pointer: "/required/1",
            message:
              'No object can match: "titel" is required, and additionalProperties: false forbids it; declare it under properties, or remove it here',
          },
        ],
      },
    });
  });

  it.each<[string, unknown, readonly string[]]>([
    ["in a part that applies as well", { ...closed, allOf: [{ required: ["b"] }] }, ["/allOf/0/required/0"]],
    ["around the part that is closed", { required: ["b"], allOf: [closed] }, ["/required/0"]],
    [
      "in what the root refers to",
      { $ref: "#/$defs/c", $defs: { c: { ...closed, required: ["b"] } } },
      ["/$defs/c/required/0"],
    ],
    ["in a nested schema", property({ ...closed, required: ["b"] }), ["/properties/a/required/0"]],
    ["in the items of a list", property({ items: { ...closed, required: ["b"] } }), ["/properties/a/items/required/0"]],
    [
      "once, however often it is referred to,",
      {
        $defs: { c: { ...closed, required: ["b"] } },
        properties: { x: { $ref: "#/$defs/c" }, y: { $ref: "#/$defs/c" } },
      },
      ["/$defs/c/required/0"],
    ],
    ["where unevaluatedProperties forbids it", { ...unevaluated, required: ["b"] }, ["/required/0"]],
    [
      "around a part whose unevaluatedProperties does not see it",
      { properties: { b: {} }, required: ["b"], allOf: [unevaluated] },
      ["/required/0"],
    ],
  ])("%s it is a contradiction", (_name, schema, pointers) => {
    expect(pointersOf(schema, "contradictions")).toEqual(pointers);
    expect(pointersOf(schema, "warnings")).toEqual([]);
  });

  it("in one of several alternatives it is warned of", () => {
    const schema = { anyOf: [{ ...closed, required: ["b"] }, {}] };
    expect(pointersOf(schema, "warnings")).toEqual(["/anyOf/0/required/0"]);
    expect(pointersOf(schema, "contradictions")).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["a declared member", { ...closed, required: ["a"] }],
    ["an open schema", { properties: { a: {} }, required: ["b"] }],
    ["a name that a pattern may admit", { ...closed, patternProperties: { "^b": {} }, required: ["b"] }],
    [
      "a member that an alternative declares",
      { ...unevaluated, required: ["b"], anyOf: [{ properties: { b: {} } }, {}] },
    ],
    ["what a part admits", { ...unevaluated, required: ["b"], allOf: [{ additionalProperties: true }] }],
    ["what the schema itself admits", { ...unevaluated, additionalProperties: {}, required: ["b"] }],
    ["one of several alternatives that is closed", { required: ["b"], anyOf: [closed, {}] }],
  ])("not %s", (_name, schema) => {
    expect([...pointersOf(schema, "warnings"), ...pointersOf(schema, "contradictions")]).toEqual([]);
  });
});
