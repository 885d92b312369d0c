import { describe, expect, it } from "vitest";
import type { ProblemItem } from "../../../../core/errors/problem.ts";
import { failuresOf } from "./compiled.ts";

interface FailureCase {
  readonly schema: unknown;
  readonly object: unknown;
  readonly items: readonly ProblemItem[];
}

const property = (schema: unknown): unknown => ({ properties: { a: schema } });

const cases: Readonly<Record<string, FailureCase>> = {
  "a missing member points to where it would be": {
    schema: { properties: { a: { required: ["x", "y/z"] } }, required: ["b"] },
    object: { a: { x: 1 } },
    items: [
      { pointer: "/b", keyword: "required", message: 'The member "b" is missing' },
      { pointer: "/a/y~1z", keyword: "required", message: 'The member "y/z" is missing' },
    ],
  },
  "an undeclared member points to itself": {
    schema: { additionalProperties: false },
    object: { "a/b~c": 1 },
    items: [{ pointer: "/a~1b~0c", keyword: "additionalProperties", message: 'The member "a/b~c" is not allowed' }],
  },
  "an unevaluated member points to itself": {
    schema: { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    object: { a: 1, b: 2 },
    items: [{ pointer: "/b", keyword: "unevaluatedProperties", message: 'The member "b" is not allowed' }],
  },
  "a forbidden member points to itself": {
    schema: property(false),
    object: { a: 1 },
    items: [{ pointer: "/a", keyword: "properties", message: 'The member "a" is not allowed' }],
  },
  "a type is named": {
    schema: property({ type: ["integer", "null"] }),
    object: { a: "1" },
    items: [{ pointer: "/a", keyword: "type", message: "Must be an integer or null" }],
  },
  "bounds are named": {
    schema: { properties: { a: { minimum: 1 }, b: { exclusiveMaximum: 5 }, c: { maxLength: 1 }, d: { minItems: 2 } } },
    object: { a: 0, b: 5, c: "ab", d: [] },
    items: [
      { pointer: "/a", keyword: "minimum", message: "Must be at least 1" },
      { pointer: "/b", keyword: "exclusiveMaximum", message: "Must be less than 5" },
      { pointer: "/c", keyword: "maxLength", message: "Must have at most 1 character" },
      { pointer: "/d", keyword: "minItems", message: "Must have at least 2 items" },
    ],
  },
  "allowed values are named": {
    schema: { properties: { a: { enum: ["x", 1, null] }, b: { const: { c: 1 } } } },
    object: { a: 2, b: 0 },
    items: [
      { pointer: "/a", keyword: "enum", message: 'Must be one of "x", 1, null' },
      { pointer: "/b", keyword: "const", message: 'Must be {"c":1}' },
    ],
  },
  "many allowed values are cut": {
    schema: property({ enum: Array.from({ length: 25 }, (_, index) => index) }),
    object: { a: -1 },
    items: [{ pointer: "/a", keyword: "enum", message: expect.stringMatching(/18, 19 or one of 5 more$/) as never }],
  },
  "patterns and formats are named": {
    schema: { properties: { a: { pattern: "^[a-z]+$" }, b: { format: "email" } } },
    object: { a: "A", b: "x" },
    items: [
      { pointer: "/a", keyword: "pattern", message: 'Must match the pattern "^[a-z]+$"' },
      { pointer: "/b", keyword: "format", message: "Must be an email address" },
    ],
  },
  "a multiple is named": {
    schema: property({ multipleOf: 0.05 }),
    object: { a: 0.07 },
    items: [{ pointer: "/a", keyword: "multipleOf", message: "Must be a multiple of 0.05" }],
  },
  "equal items are named": {
    schema: property({ uniqueItems: true, maxItems: 5 }),
    object: { a: [1, 2, 1] },
    items: [{ pointer: "/a", keyword: "uniqueItems", message: "Items 0 and 2 are equal; every item must be unique" }],
  },
  "contains counts": {
    schema: { properties: { a: { contains: { const: 1 } }, b: { contains: { const: 1 }, maxContains: 1 } } },
    object: { a: [2], b: [1, 1] },
    items: [
      { pointer: "/a", keyword: "contains", message: "At least 1 item must match the schema under contains" },
      { pointer: "/b", keyword: "contains", message: "At most 1 item may match the schema under contains" },
    ],
  },
  "a bad member name is named": {
    schema: { propertyNames: { pattern: "^[a-z]+$" } },
    object: { a: 1, B: 2 },
    items: [{ pointer: "/B", keyword: "propertyNames", message: 'The member name "B" is not allowed' }],
  },
  "a dependent member is named": {
    schema: { dependentRequired: { card: ["zip"] } },
    object: { card: 1 },
    items: [{ pointer: "/zip", keyword: "dependentRequired", message: 'The member "zip" is missing; "card" needs it' }],
  },
  "alternatives fail once": {
    schema: property({ anyOf: [{ type: "string" }, { type: "object", required: ["x"], properties: { y: {} } }] }),
    object: { a: {} },
    items: [{ pointer: "/a", keyword: "anyOf", message: "Matches none of the alternatives under anyOf" }],
  },
  "too many alternatives are named": {
    schema: property({ oneOf: [{ type: "string" }, { type: "number" }, { minimum: 1 }] }),
    object: { a: 5 },
    items: [
      {
        pointer: "/a",
        keyword: "oneOf",
        message: "Must match exactly one alternative under oneOf, and matches those at 1 and 2",
      },
    ],
  },
  "what stands under then fails for itself": {
    schema: {
      if: { required: ["card"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["zip"] },
    },
    object: { card: 1 },
    items: [{ pointer: "/zip", keyword: "required", message: 'The member "zip" is missing' }],
  },
  "not says that it matched": {
    schema: property({ not: { type: "string" } }),
    object: { a: "x" },
    items: [{ pointer: "/a", keyword: "not", message: "Must not match the schema under not" }],
  },
  "an item too many points to itself": {
    schema: property({ prefixItems: [{}], items: false }),
    object: { a: [1, 2] },
    items: [{ pointer: "/a/1", keyword: "items", message: "No item is allowed at this index" }],
  },
  "members below references and arrays have whole pointers": {
    schema: {
      $defs: { t: { items: { $ref: "#/$defs/t" }, type: ["array", "null"] } },
      properties: { a: { $ref: "#/$defs/t" } },
    },
    object: { a: [[], [null, [7]]] },
    items: [{ pointer: "/a/1/1/0", keyword: "type", message: "Must be an array or null" }],
  },
  "a long name is cut in the message": {
    schema: { additionalProperties: false },
    object: { ["n".repeat(100)]: 1 },
    items: [
      {
        pointer: `/${"n".repeat(100)}`,
        keyword: "additionalProperties",
        message: `The member "${"n".repeat(64)}…" is not allowed`,
      },
    ],
  },
  "a pointer beyond 1,024 characters is cut to what holds the value": {
    schema: property({ additionalProperties: { type: "string" } }),
    object: { a: { ["n".repeat(2000)]: 1 } },
    items: [{ pointer: "/a", keyword: "type", message: "Must be a string" }],
  },
  "of a name beyond that, the message has its beginning": {
    schema: property({ additionalProperties: false }),
    object: { a: { ["n".repeat(2000)]: 1 } },
    items: [
      { pointer: "/a", keyword: "additionalProperties", message: `The member "${"n".repeat(64)}…" is not allowed` },
    ],
  },
};

describe("a failure says where, what and how to mend it", () => {
  it.each(Object.entries(cases))("%s", (_sentence, { schema, object, items }) => {
    expect(failuresOf(schema, object)).toEqual(items);
  });
});

describe("defaults and coercion", () => {
  it("a default never fills in", () => {
    const object = {};
    expect(failuresOf({ properties: { a: { default: 1 } }, required: ["a"] }, object)).toHaveLength(1);
    expect(object).toEqual({});
  });

  it("a value is never turned into another type", () => {
    expect(failuresOf(property({ type: "integer" }), { a: "1" })).toHaveLength(1);
    expect(failuresOf(property({ type: "string" }), { a: 1 })).toHaveLength(1);
  });

  it("contentMediaType and contentEncoding judge nothing", () => {
    const schema = property({ contentMediaType: "application/json", contentEncoding: "base64" });
    expect(failuresOf(schema, { a: "{not json" })).toEqual([]);
  });
});
