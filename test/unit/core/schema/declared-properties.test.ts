import { describe, expect, it } from "vitest";
import { defaultIndexes, resolveField } from "../../../../core/schema/compile-schema.ts";
import { compiled } from "./compiled.ts";

/** Names and types, in order. */
function declared(schema: unknown): readonly (readonly [string, string])[] {
  return [...compiled(schema).properties.values()].map(({ name, types }) => [name, types.join("|")]);
}

describe("what a schema declares", () => {
  it("is listed in order, the top level first", () => {
    const schema = {
      properties: {
        b: { type: "object", properties: { z: { type: "string" }, y: true } },
        a: { type: ["integer", "null"] },
        c: { type: "array", items: { properties: { no: true } } },
        d: {},
      },
    };
    expect(declared(schema)).toEqual([
      ["b", "object"],
      ["a", "integer|null"],
      ["c", "array"],
      ["d", ""],
      ["b.z", "string"],
      ["b.y", ""],
    ]);
  });

  it("follows $ref and allOf, and no alternative", () => {
    const schema = {
      $ref: "#/$defs/base",
      allOf: [{ properties: { b: { $ref: "#/$defs/text" } } }],
      anyOf: [{ properties: { no: true } }],
      $defs: { base: { properties: { a: { type: "number" } } }, text: { type: "string" } },
    };
    expect(declared(schema)).toEqual([
      ["a", "number"],
      ["b", "string"],
    ]);
  });

  it("narrows the types of a property that is declared several times", () => {
    const schema = {
      properties: { a: { type: ["string", "number", "null"] } },
      allOf: [{ properties: { a: { type: ["integer", "string"], allOf: [{ type: ["integer", "null", "string"] }] } } }],
    };
    expect(declared(schema)).toEqual([["a", "string|integer"]]);
  });

  it("knows types from values and alternatives", () => {
    const schema = {
      properties: {
        a: { enum: ["x", "y"] },
        b: { const: 1 },
        c: { anyOf: [{ type: "string" }, { type: "null" }] },
        d: { anyOf: [{ type: "string" }, { minLength: 1 }] },
        e: { enum: [1, 1.5, null] },
      },
    };
    expect(declared(schema)).toEqual([
      ["a", "string"],
      ["b", "integer"],
      ["c", "string|null"],
      ["d", ""],
      ["e", "number|null"],
    ]);
  });

  it("leaves out what no object may hold", () => {
    expect(declared({ properties: { a: false, b: { allOf: [false] }, c: true } })).toEqual([["c", ""]]);
  });

  it("lets a literal name win over a path", () => {
    const schema = {
      properties: { a: { properties: { b: { type: "string" } } }, "a.b": { type: "integer" } },
    };
    expect(resolveField(compiled(schema), "a.b")).toEqual({ name: "a.b", path: ["a.b"], types: ["integer"] });
    expect(resolveField(compiled({ properties: { a: { properties: { b: true } } } }), "a.b")?.path).toEqual(["a", "b"]);
    expect(resolveField(compiled(schema), "toString")).toBeUndefined();
  });

  it("enters a schema that contains itself once", () => {
    const schema = { properties: { title: { type: "string" }, next: { $ref: "#" } } };
    expect(declared(schema)).toEqual([
      ["title", "string"],
      ["next", ""],
    ]);
  });

  it("is listed up to 1,000 names", () => {
    const leaves = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`l${index}`, { type: "string" }]));
    const middle = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`m${index}`, { $ref: "#/$defs/leaves" }]),
    );
    const schema = { properties: middle, $defs: { leaves: { properties: leaves } } };
    expect(compiled(schema).properties.size).toBe(1000);
  });
});

describe("whether undeclared members are refused", () => {
  it.each<[string, unknown, boolean]>([
    ["not by default", { properties: { a: true } }, false],
    ["by additionalProperties false", { additionalProperties: false }, true],
    [
      "by additionalProperties false in a part that always applies",
      { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { additionalProperties: false } } },
      true,
    ],
    ["not in an alternative", { anyOf: [{ additionalProperties: false }, {}] }, false],
    ["not where patterns allow some", { patternProperties: { "^x": true }, additionalProperties: false }, false],
    ["by unevaluatedProperties false", { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, true],
    [
      "not where alternatives may allow some",
      { anyOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      false,
    ],
    ["not by a schema for the rest", { additionalProperties: { type: "string" } }, false],
  ])("%s", (_sentence, schema, closed) => {
    expect(compiled(schema).closed).toBe(closed);
  });
});

describe("default indexes", () => {
  it("are the declared top-level scalars", () => {
    const schema = {
      properties: {
        title: { type: "string" },
        tags: { type: "array" },
        author: { type: "object", properties: { name: { type: "string" } } },
        price: { type: ["number", "null"] },
        any: {},
        mixed: { type: ["string", "object"] },
        kind: { enum: ["a", "b"] },
      },
    };
    expect(defaultIndexes(compiled(schema))).toEqual([
      { name: "title", path: ["title"] },
      { name: "price", path: ["price"] },
      { name: "kind", path: ["kind"] },
    ]);
  });

  it("are 16 at most, in order of declaration", () => {
    const names = Array.from({ length: 20 }, (_, index) => `f${20 - index}`);
    const schema = { properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])) };
    expect(defaultIndexes(compiled(schema)).map(({ name }) => name)).toEqual(names.slice(0, 16));
  });
});
