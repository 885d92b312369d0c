import { describe, expect, it } from "vitest";
import { accepts, draft04, draft06, draft07, draft2020 } from "./compiled.ts";

interface Case {
  readonly schema: unknown;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const inBothDrafts: Readonly<Record<string, Case>> = {
  "true accepts everything": { schema: true, good: [null, 1, "a", {}, []], bad: [] },
  "false refuses everything": { schema: false, good: [], bad: [null, 1, "a", {}, []] },
  "an empty schema accepts everything": { schema: {}, good: [null, 1, "a", {}, []], bad: [] },
  "type names one type": { schema: { type: "string" }, good: ["", "a"], bad: [1, null, {}, [], true] },
  "type names several types": { schema: { type: ["string", "null"] }, good: ["a", null], bad: [1, {}] },
  "an integer may be written as a float": { schema: { type: "integer" }, good: [1, 1.0, -3, 1e3], bad: [1.5, "1"] },
  "number includes integers": { schema: { type: "number" }, good: [1, 1.5, -0], bad: ["1", null] },
  "an array is no object": { schema: { type: "object" }, good: [{}], bad: [[], null] },
  "null is no object": { schema: { type: "null" }, good: [null], bad: [0, "", false, {}] },
  "enum compares scalars by type": { schema: { enum: [1, "a", null] }, good: [1, "a", null], bad: ["1", true, {}] },
  "enum compares objects whatever their order": {
    schema: { enum: [{ a: 1, b: [2, { c: 3 }] }, [1]] },
    good: [{ b: [2, { c: 3 }], a: 1 }, [1]],
    bad: [{ a: 1 }, { a: 1, b: [2, { c: 3 }], d: 0 }, [1, 1], []],
  },
  "false and 0 are different": { schema: { enum: [0] }, good: [0, -0], bad: [false, "0", null] },
  "const may be an object": { schema: { const: { a: [] } }, good: [{ a: [] }], bad: [{ a: {} }, {}, { a: [], b: 1 }] },
  "const may be null": { schema: { const: null }, good: [null], bad: [0, false, ""] },
  "multipleOf counts in decimals": {
    schema: { multipleOf: 0.01 },
    good: [19.99, 0.07, 1.1, 0, 4.35, 1e300],
    bad: [0.001, 19.995],
  },
  "multipleOf ignores the sign": { schema: { multipleOf: 3 }, good: [9, 0, -6, 3e15], bad: [10, 0.3] },
  "maximum and minimum include the bound": { schema: { minimum: 1, maximum: 3 }, good: [1, 2, 3], bad: [0.9, 3.1] },
  "exclusive bounds exclude it": { schema: { exclusiveMinimum: 1, exclusiveMaximum: 3 }, good: [2], bad: [1, 3] },
  "numeric keywords ignore other types": { schema: { minimum: 5, multipleOf: 2 }, good: ["1", null, [1]], bad: [1] },
  "lengths count characters, not code units": {
    schema: { minLength: 2, maxLength: 2 },
    good: ["ab", "😀é", "日本"],
    bad: ["a", "abc", "😀"],
  },
  "pattern matches anywhere": { schema: { pattern: "b+" }, good: ["abbc", "b", 1], bad: ["ac", ""] },
  "items applies to every item": { schema: { items: { type: "integer" } }, good: [[], [1, 2], "x"], bad: [[1, "a"]] },
  "items false refuses items": { schema: { items: false }, good: [[]], bad: [[1]] },
  "minItems and maxItems count": { schema: { minItems: 1, maxItems: 2 }, good: [[1], [1, 2]], bad: [[], [1, 2, 3]] },
  "uniqueItems compares by value": {
    schema: { uniqueItems: true },
    good: [[1, 2], [1, true, "1", [1]], [{ a: 1 }, { a: 2 }], []],
    bad: [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[[1]], [[1]]],
      [null, null],
    ],
  },
  "references lead below unknown keywords": {
    schema: { definitions: { group: { full: { type: "string" } } }, items: { $ref: "#/definitions/group/full" } },
    good: [["a"]],
    bad: [[1]],
  },
  "an $id that is a pointer is ignored": {
    schema: {
      properties: { a: { $id: "#/properties/a", type: "string" }, b: { $ref: "#/properties/v/properties/a" } },
    },
    good: [{ a: "a", b: "b" }],
    bad: [{ a: 1 }, { b: 1 }],
  },
  "contains wants one item": { schema: { contains: { const: 1 } }, good: [[0, 1], [1]], bad: [[], [0, 2]] },
  "contains may be boolean": { schema: { contains: true }, good: [[0]], bad: [[]] },
  "properties apply to members that are there": {
    schema: { properties: { a: { type: "integer" }, b: false } },
    good: [{}, { a: 1 }, { c: 1 }],
    bad: [{ a: "1" }, { b: 1 }],
  },
  "patternProperties apply by name": {
    schema: { patternProperties: { "^n_": { type: "number" } } },
    good: [{ n_a: 1, b: "x" }],
    bad: [{ n_a: "x" }],
  },
  "additionalProperties apply to the rest": {
    schema: { properties: { a: true }, patternProperties: { "^b": true }, additionalProperties: { type: "null" } },
    good: [{ a: 1, b1: 2, c: null }],
    bad: [{ c: 1 }],
  },
  "more than eight properties still leave the rest": {
    schema: {
      properties: Object.fromEntries([..."abcdefghij"].map((name) => [name, true])),
      additionalProperties: false,
    },
    good: [{ a: 1, j: 2 }],
    bad: [{ k: 1 }, { toString: 1 }],
  },
  "propertyNames judge every name": {
    schema: { propertyNames: { maxLength: 2 } },
    good: [{}, { ab: 1 }],
    bad: [{ abc: 1 }],
  },
  "propertyNames may be false": { schema: { propertyNames: false }, good: [{}], bad: [{ a: 1 }] },
  "required wants the member, null included": {
    schema: { required: ["a"] },
    good: [{ a: null }, { a: 1, b: 2 }, []],
    bad: [{}, { b: 1 }],
  },
  "minProperties and maxProperties count": {
    schema: { minProperties: 1, maxProperties: 2 },
    good: [{ a: 1 }],
    bad: [{}, { a: 1, b: 2, c: 3 }],
  },
  "allOf wants all": { schema: { allOf: [{ minimum: 1 }, { maximum: 3 }] }, good: [2], bad: [0, 4] },
  "anyOf wants one": { schema: { anyOf: [{ type: "string" }, { minimum: 5 }] }, good: ["a", 6], bad: [4] },
  "anyOf of objects wants one": {
    schema: { anyOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { required: ["b"] }] },
    good: [{ a: "x" }, { b: 1 }, { a: 1, b: 1 }],
    bad: [{}, { a: 1 }],
  },
  "oneOf wants exactly one": { schema: { oneOf: [{ minimum: 2 }, { maximum: 3 }] }, good: [1, 4], bad: [2, 3] },
  "not wants none": { schema: { not: { type: "string" } }, good: [1], bad: ["a"] },
  "not of not is itself": { schema: { not: { not: { type: "string" } } }, good: ["a"], bad: [1] },
  "if chooses then or else": {
    schema: {
      if: { properties: { kind: { const: "a" } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ["a"] },
      else: { required: ["b"] },
    },
    good: [{ kind: "a", a: 1 }, { kind: "b", b: 1 }, { b: 1 }],
    bad: [
      { kind: "a", b: 1 },
      { kind: "b", a: 1 },
    ],
  },
  "if alone judges nothing": { schema: { if: false }, good: [1, "a"], bad: [] },
  "definitions are referred to by pointer": {
    schema: { definitions: { "a/b~c d": { type: "string" } }, items: { $ref: "#/definitions/a~1b~0c%20d" } },
    good: [["a"]],
    bad: [[1]],
  },
  "a tree refers to itself": {
    schema: {
      definitions: {
        node: { properties: { children: { items: { $ref: "#/definitions/node" } }, n: { type: "integer" } } },
      },
      $ref: "#/definitions/node",
    },
    good: [{ n: 1, children: [{ n: 2, children: [{ n: 3 }] }] }],
    bad: [{ children: [{ children: [{ n: "x" }] }] }],
  },
};

const in2020: Readonly<Record<string, Case>> = {
  "keywords beside $ref apply": {
    schema: { $defs: { s: { type: "string" } }, $ref: "#/$defs/s", maxLength: 2 },
    good: ["ab"],
    bad: ["abc", 1],
  },
  "prefixItems and items share an array": {
    schema: { prefixItems: [{ type: "string" }, { type: "integer" }], items: { type: "null" } },
    good: [["a"], ["a", 1, null], []],
    bad: [[1], ["a", 1, 2]],
  },
  "minContains and maxContains count": {
    schema: { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    good: [
      [1, 1],
      [1, 0, 1, 1],
    ],
    bad: [[1], [1, 1, 1, 1]],
  },
  "minContains 0 asks for nothing": { schema: { contains: { const: 1 }, minContains: 0 }, good: [[], [2]], bad: [] },
  "dependentRequired wants names together": {
    schema: { dependentRequired: { card: ["name", "zip"] } },
    good: [{}, { name: 1 }, { card: 1, name: 1, zip: 1 }],
    bad: [{ card: 1, name: 1 }],
  },
  "dependentSchemas apply beside a member": {
    schema: { dependentSchemas: { card: { properties: { zip: { type: "string" } }, required: ["zip"] } } },
    good: [{ zip: 1 }, { card: 1, zip: "a" }],
    bad: [{ card: 1 }, { card: 1, zip: 1 }],
  },
  "unevaluatedProperties see through allOf and $ref": {
    schema: {
      $defs: { base: { properties: { a: true } } },
      allOf: [{ $ref: "#/$defs/base" }],
      properties: { b: true },
      unevaluatedProperties: false,
    },
    good: [{ a: 1, b: 2 }, {}],
    bad: [{ a: 1, c: 3 }, { constructor: 1 }],
  },
  "unevaluatedProperties count alternatives that hold": {
    schema: {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ["a"] },
        { properties: { b: true }, required: ["b"] },
      ],
      unevaluatedProperties: false,
    },
    good: [{ a: 1 }, { b: 1 }, { a: 1, b: 2 }],
    bad: [
      { a: 2, b: 1 },
      { a: 1, toString: 1 },
    ],
  },
  "unevaluatedProperties count patterns and dependents": {
    schema: {
      patternProperties: { "^x": true },
      dependentSchemas: { x1: { properties: { y: true } } },
      unevaluatedProperties: { type: "null" },
    },
    good: [{ x1: 1, y: 2 }, { z: null }],
    bad: [{ y: 2 }, { z: 1 }],
  },
  "unevaluatedProperties count if, then and else": {
    schema: {
      if: { properties: { k: { const: 1 } }, required: ["k"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { a: true } },
      else: { properties: { b: true } },
      unevaluatedProperties: false,
    },
    good: [{ k: 1, a: 1 }, { b: 1 }],
    bad: [{ k: 1, b: 1 }, { a: 1 }, { k: 2, b: 1 }],
  },
  "unevaluatedItems follow prefixItems and contains": {
    schema: { prefixItems: [{ type: "string" }], contains: { type: "integer" }, unevaluatedItems: { type: "null" } },
    good: [
      ["a", 1],
      ["a", 1, null, 2],
    ],
    bad: [["a", 1, "b"], ["a"]],
  },
  "unevaluatedItems false ends the array": {
    schema: { allOf: [{ prefixItems: [true, true] }], unevaluatedItems: false },
    good: [[1, 2], []],
    bad: [[1, 2, 3]],
  },
  "$anchor and $dynamicRef lead inside": {
    schema: { $defs: { s: { $dynamicAnchor: "str", type: "string" } }, items: { $dynamicRef: "#str" } },
    good: [["a"]],
    bad: [[1]],
  },
  "dependencies of draft-07 are ignored": { schema: { dependencies: { a: ["b"] } }, good: [{ a: 1 }], bad: [] },
};

const in07: Readonly<Record<string, Case>> = {
  "keywords beside $ref are ignored": {
    schema: { definitions: { s: { type: "string" } }, $ref: "#/definitions/s", maxLength: 2 },
    good: ["abc"],
    bad: [1],
  },
  "items may be a list, additionalItems the rest": {
    schema: { additionalItems: { type: "null" }, items: [{ type: "string" }] },
    good: [["a", null], []],
    bad: [[1], ["a", 1]],
  },
  "additionalItems beside one schema mean nothing": {
    schema: { items: { type: "string" }, additionalItems: false },
    good: [["a", "b"]],
    bad: [[1]],
  },
  "dependencies name members or schemas": {
    schema: { dependencies: { a: ["b"], c: { required: ["d"] } } },
    good: [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    bad: [{ a: 1 }, { c: 1 }],
  },
  "an $id of a fragment is an anchor": {
    schema: { definitions: { s: { $id: "#str", type: "string" } }, items: { $ref: "#str" } },
    good: [["a"]],
    bad: [[1]],
  },
  "keywords of 2020-12 are ignored": {
    schema: { prefixItems: [{ type: "string" }], dependentRequired: { a: ["b"] }, unevaluatedProperties: false },
    good: [[1], { a: 1 }],
    bad: [],
  },
};

const in06: Readonly<Record<string, Case>> = {
  "if and else are ignored": { schema: { if: false, else: false }, good: [1], bad: [] },
};

const in04: Readonly<Record<string, Case>> = {
  "true beside a bound excludes it": {
    schema: { exclusiveMinimum: true, minimum: 1, maximum: 3, exclusiveMaximum: true },
    good: [2],
    bad: [1, 3, 4],
  },
  "false beside a bound, and true without one, exclude nothing": {
    schema: { minimum: 1, exclusiveMinimum: false, exclusiveMaximum: true },
    good: [1, 9],
    bad: [0],
  },
  "an id of a fragment is an anchor": {
    schema: { definitions: { s: { id: "#str", type: "string" } }, items: { $ref: "#str" } },
    good: [["a"]],
    bad: [[1]],
  },
  "keywords of later drafts are ignored": {
    schema: { const: 1, contains: false, propertyNames: false, if: {}, else: false, $id: "https://example.com/x" },
    good: [2, [2], { a: 1 }],
    bad: [],
  },
};

const { "an $id of a fragment is an anchor": _anchor, ...inOlder } = in07;

describe.each([
  ["draft-04", draft04, { ...inOlder, ...in04 }],
  ["draft-06", draft06, { ...in07, ...in06 }],
  ["2020-12", draft2020, { ...inBothDrafts, ...in2020 }],
  ["draft-07", draft07, { ...inBothDrafts, ...in07 }],
])("keywords of %s", (_name, uri, cases) => {
  it.each(Object.entries(cases))("%s", (_sentence, { schema, good, bad }) => {
    for (const value of good) expect.soft(accepts(schema, value, uri), `accepts ${JSON.stringify(value)}`).toBe(true);
    for (const value of bad) expect.soft(accepts(schema, value, uri), `refuses ${JSON.stringify(value)}`).toBe(false);
  });
});
