import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { countForTier } from "../../../support/time/test-tier.ts";
import { compiled, draft07, draft2020, problemsOf } from "./compiled.ts";

const quiet = { strict: false, logger: false, ownProperties: true } as const;

const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  "",
  "a",
  "#",
  "https://example.com/",
  [],
  [1],
  ["a"],
  ["a", "a"],
  [true],
  [{}],
  [[]],
  {},
  { a: 1 },
  { a: true },
  { a: {} },
  { a: [] },
  { a: ["b"] },
  { a: ["b", "b"] },
  { a: [1] },
  { a: "b" },
  ["string"],
  "string",
];

/**
 * Told otherwise or not refused on purpose: values of annotations, and keywords that mean nothing
 * in the draft.
 */
const ignored = new Set(["default", "const", "examples", "contentSchema", "$vocabulary"]);

const shared = [
  "$ref",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "readOnly",
  "writeOnly",
  "examples",
  "multipleOf",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "items",
  "maxItems",
  "minItems",
  "uniqueItems",
  "contains",
  "maxProperties",
  "minProperties",
  "required",
  "properties",
  "patternProperties",
  "additionalProperties",
  "propertyNames",
  "enum",
  "type",
  "format",
  "contentMediaType",
  "contentEncoding",
  "if",
  "then",
  "else",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
];

const only2020 = [
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
  "dependentSchemas",
  "dependentRequired",
  "minContains",
  "maxContains",
  "deprecated",
];
const only07 = ["additionalItems", "dependencies"];
const anyKeywords = [...shared, ...only2020, ...only07, "$schema", "default", "a", "__proto__", "constructor"];

describe.each([
  ["2020-12", draft2020, new Ajv2020(quiet), only2020],
  ["draft-07", draft07, new Ajv(quiet), only07],
] as const)("what the meta-schema of %s refuses", (_name, $schema, ajv, own) => {
  it.each([...shared, ...own].filter((keyword) => !ignored.has(keyword)))("%s is refused here, too", (keyword) => {
    for (const value of values) {
      const schema = { $schema, properties: { a: { [keyword]: value } } };
      if (ajv.validateSchema(schema) === true) continue;
      // Equal values in an enum are needless and harmless; draft-07 alone refuses them.
      if (keyword === "enum" && ajv.validateSchema({ $schema, enum: [...new Set([value].flat())] }) === true) continue;
      expect.soft(problemsOf(schema), JSON.stringify(value)).not.toEqual([]);
    }
  });
});

// Not toString, valueOf or constructor: ajv's own comparison of objects throws or errs on such
// members.
const name = fc.constantFrom("a", "b", "isPrototypeOf", "x1");
const scalar = fc.constantFrom(0, 1, 2, 1.5, -1, "", "a", "ab", "abc", true, false, null);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const { schema } = fc.letrec<{ schema: unknown; parts: Record<string, unknown> }>((tie) => {
  const part = tie("schema");
  const list = fc.array(part, { minLength: 1, maxLength: 2 });
  const small = fc.nat({ max: 3 });
  const keywords = {
    type: fc.constantFrom("string", "integer", "array", "object", ["string", "number", "object"]),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    maximum: fc.constantFrom(0, 1),
    minLength: small,
    pattern: fc.constantFrom("^a", "b$", "^[ab]*$"),
    maxItems: small,
    items: part,
    prefixItems: list,
    contains: part,
    maxContains: small,
    minProperties: small,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    properties: fc.dictionary(name, part, { maxKeys: 3, noNullPrototype: true }),
    patternProperties: fc.dictionary(fc.constantFrom("^a", "[bt]"), part, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: part,
    propertyNames: part,
    dependentSchemas: fc.dictionary(name, part, { maxKeys: 2, noNullPrototype: true }),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: part,
    if: part,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: part,
    else: part,
    $ref: fc.constant("#/$defs/x"),
  };
  const entries = Object.entries(keywords).map(([keyword, arbitrary]) => fc.tuple(fc.constant(keyword), arbitrary));
  return {
    parts: fc.array(fc.oneof(...entries), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
    schema: fc.oneof({ depthSize: "xsmall" }, fc.boolean(), tie("parts")),
  };
});

describe("the answer for a value", () => {
  it("is the one that ajv gives by itself", () => {
    fc.assert(
      fc.property(schema, schema, fc.array(value, { minLength: 5, maxLength: 10 }), (v, x, candidates) => {
        const whole = { properties: { v }, $defs: { x } };
        // A reference that leads back to itself has no answer.
        fc.pre(problemsOf(whole).length === 0);
        // One that stops at the first error takes [] where prefixItems takes no element, whatever
        // `contains` says (ajv 8.20).
        const plain = new Ajv2020({ ...quiet, allErrors: true }).compile(whole);
        const { validate } = compiled(whole);
        for (const candidate of candidates) {
          const text = JSON.stringify({ v: candidate });
          const isValid = validate(JSON.parse(text), text).length === 0;
          expect(isValid, `${JSON.stringify(whole)} on ${text}`).toBe(plain(JSON.parse(text)));
        }
      }),
      { numRuns: countForTier(30) },
    );
  });
});

describe("whatever JSON it is given", () => {
  const keyword = fc.constantFrom(...anyKeywords);
  const { junk } = fc.letrec<{ junk: unknown }>((tie) => ({
    junk: fc.oneof(
      { depthSize: "medium" },
      fc.constantFrom(...values),
      fc.array(tie("junk"), { maxLength: 3 }),
      fc.dictionary(keyword, tie("junk"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));

  it("the compiler answers, and what it accepts can validate", () => {
    fc.assert(
      fc.property(fc.dictionary(keyword, junk, { noNullPrototype: true }), (candidate) => {
        const result = compileSchema(candidate as JsonObject);
        if (result.ok) expect(() => result.schema.validate({ a: [1] }, '{"a":[1]}')).not.toThrow();
        else expect(result.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: countForTier(300) },
    );
  });

  it.each<[string, unknown]>([
    ["12,000 names that one needs", { dependentRequired: { a: times(12_000, (index) => `r${index}`) } }],
    ["12,000 required names", { required: times(12_000, (index) => `r${index}`) }],
    [
      "a name of 100,000 characters",
      { properties: { ["n".repeat(100_000)]: { properties: { a: { type: "string" } } } } },
    ],
    ["490 alternatives", { properties: { a: { oneOf: times(490, (index) => ({ const: index })) } } }],
    ["25 levels of if", deep(25, (inner) => ({ if: inner, else: { minProperties: 1 } }))],
    ["25 levels of anyOf", deep(25, (inner) => ({ anyOf: [inner, { type: "object" }] }))],
  ])("%s compile", (_name, candidate) => {
    expect(problemsOf(candidate)).toEqual([]);
  });
});

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function deep(levels: number, around: (inner: unknown) => unknown): unknown {
  let made: unknown = { required: ["a"] };
  for (let level = 0; level < levels; level++) made = around(made);
  return made;
}
