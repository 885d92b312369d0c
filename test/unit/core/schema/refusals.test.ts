import { describe, expect, it } from "vitest";
import { draft04, draft07, draft2020, problemsOf } from "./compiled.ts";

interface Refusal {
  readonly schema: unknown;
  readonly pointer: string;
  /** What the message says to do. */
  readonly says: RegExp;
}

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { properties: { a: schema } };
  return schema;
}

/** A schema of `count` definitions, each of which refers to the one before it twice. */
function doubling(count: number): unknown {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let index = 1; index <= count; index++) {
    const $ref = `#/$defs/d${index - 1}`;
    $defs[`d${index}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return { $defs, properties: { a: { $ref: `#/$defs/d${count}` } } };
}

function many(count: number, make: (index: number) => unknown): unknown {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, make(index)]));
}

const property = (schema: unknown): unknown => ({ properties: { a: schema } });
const tooDeep = nested(40);

const refusals: Readonly<Record<string, Refusal>> = {
  "another draft": {
    schema: { $schema: "http://json-schema.org/draft-03/schema#" },
    pointer: "/$schema",
    says: /2020-12.*draft-07.*draft-04.*leave it out/,
  },
  "a $schema that is no text": { schema: { $schema: 7 }, pointer: "/$schema", says: /draft\/2020-12/ },
  "half a character in a name": {
    schema: { patternProperties: { "\ud83d": {} } },
    pointer: "/patternProperties",
    says: /"\\ud83d" has one half of a character; write the whole/,
  },
  "a $schema inside": {
    schema: property({ $schema: draft07 }),
    pointer: "/properties/a/$schema",
    says: /at the root only/,
  },
  "a remote $ref": {
    schema: property({ $ref: "https://example.com/a.json" }),
    pointer: "/properties/a/$ref",
    says: /copy what it refers to under \$defs/,
  },
  "a relative $ref": {
    schema: property({ $ref: "a.json#/x" }),
    pointer: "/properties/a/$ref",
    says: /inside the schema/,
  },
  "a remote $dynamicRef": {
    schema: property({ $dynamicRef: "https://example.com/a#x" }),
    pointer: "/properties/a/$dynamicRef",
    says: /inside the schema/,
  },
  "a $ref to the meta-schema": {
    schema: property({ $ref: "https://json-schema.org/draft/2020-12/schema" }),
    pointer: "/properties/a/$ref",
    says: /inside the schema/,
  },
  "a $ref to nothing": { schema: property({ $ref: "#/$defs/b" }), pointer: "/properties/a/$ref", says: /under \$defs/ },
  "a $ref to what is no schema": {
    schema: { properties: { a: { $ref: "#/properties" } } },
    pointer: "/properties/a/$ref",
    says: /under \$defs/,
  },
  "a $ref with broken encoding": { schema: property({ $ref: "#/%zz" }), pointer: "/properties/a/$ref", says: /leads/ },
  "a $ref to an unknown anchor": { schema: property({ $ref: "#b" }), pointer: "/properties/a/$ref", says: /leads/ },
  "a $ref that is no text": { schema: property({ $ref: {} }), pointer: "/properties/a/$ref", says: /a string/ },
  $recursiveRef: { schema: property({ $recursiveRef: "#" }), pointer: "/properties/a/$recursiveRef", says: /\$ref/ },
  "an $id inside": {
    schema: property({ $id: "https://example.com/a" }),
    pointer: "/properties/a/$id",
    says: /remove it.*\$anchor/,
  },
  "one anchor twice": {
    schema: { properties: { a: { $anchor: "x" }, b: { $anchor: "x" } } },
    pointer: "/properties/b/$anchor",
    says: /another name/,
  },
  "an anchor that is no name": {
    schema: property({ $anchor: "#x" }),
    pointer: "/properties/a/$anchor",
    says: /letters/,
  },
  "a root that refers to itself": { schema: { $ref: "#" }, pointer: "/$ref", says: /leads back to itself/ },
  "a root that holds itself in allOf": {
    schema: { allOf: [{ $ref: "#" }] },
    pointer: "/allOf/0/$ref",
    says: /below properties or items/,
  },
  "two schemas that refer to each other": {
    schema: { $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } },
    pointer: "/$defs/b/not/$ref",
    says: /leads back to itself/,
  },
  "a loop through if": {
    schema: property({ if: { $ref: "#/properties/a" } }),
    pointer: "/properties/a/if/$ref",
    says: /itself/,
  },
  "references that double": {
    schema: doubling(20),
    pointer: "/$defs/d11",
    says: /More than 5000 schemas.*refer less often/,
  },
  "more than 500 schemas": {
    schema: { properties: many(500, () => ({ type: "string" })) },
    pointer: "/properties/m499",
    says: /at most 500 schemas/,
  },
  "nesting of 80 levels": { schema: tooDeep, pointer: `${"/properties/a".repeat(32)}/properties`, says: /64 levels/ },
  "more than 128 KiB": { schema: { description: "x".repeat(140_000) }, pointer: "", says: /128 KiB/ },
  "more than 128 KiB of names": { schema: { enum: [many(16_000, () => 0)] }, pointer: "", says: /128 KiB/ },
  "a schema that is a list": { schema: property([]), pointer: "/properties/a", says: /true or false/ },
  "a schema that is a text": { schema: property("string"), pointer: "/properties/a", says: /a schema here/ },
  "properties that are a list": { schema: { properties: [] }, pointer: "/properties", says: /an object/ },
  "an unknown type": {
    schema: property({ type: "float" }),
    pointer: "/properties/a/type",
    says: /^There is no type "float": write type: number$/,
  },
  "an unknown type in a list": {
    schema: property({ type: ["string", "date"] }),
    pointer: "/properties/a/type/1",
    says: /write type: string and format: date$/,
  },
  "a type that is a format under another name": {
    schema: property({ type: "DateTime" }),
    pointer: "/properties/a/type",
    says: /write type: string and format: date-time$/,
  },
  "a misspelt type": {
    schema: property({ type: "String" }),
    pointer: "/properties/a/type",
    says: /write type: string$/,
  },
  "a type for any value": { schema: property({ type: "any" }), pointer: "/properties/a/type", says: /leave type out/ },
  "a type that is like none": {
    schema: property({ type: "photo" }),
    pointer: "/properties/a/type",
    says: /the types are string, number, integer, boolean, null, array, object$/,
  },
  "no type at all": { schema: property({ type: [] }), pointer: "/properties/a/type", says: /at least one/ },
  "one type twice": { schema: property({ type: ["null", "null"] }), pointer: "/properties/a/type", says: /once/ },
  "an empty enum": { schema: property({ enum: [] }), pointer: "/properties/a/enum", says: /at least one value/ },
  "an empty anyOf": { schema: property({ anyOf: [] }), pointer: "/properties/a/anyOf", says: /at least one schema/ },
  "an allOf that is no list": { schema: property({ allOf: {} }), pointer: "/properties/a/allOf", says: /a list/ },
  "items as a list in 2020-12": {
    schema: property({ items: [{}] }),
    pointer: "/properties/a/items",
    says: /prefixItems/,
  },
  "a bound in quotes": { schema: property({ minimum: "1" }), pointer: "/properties/a/minimum", says: /without quotes/ },
  "exclusiveMinimum of draft-04": {
    schema: property({ minimum: 1, exclusiveMinimum: true }),
    pointer: "/properties/a/exclusiveMinimum",
    says: /the bound itself/,
  },
  "a negative length": { schema: property({ minLength: -1 }), pointer: "/properties/a/minLength", says: /0 or more/ },
  "a broken length": { schema: property({ maxLength: 1.5 }), pointer: "/properties/a/maxLength", says: /whole number/ },
  "multipleOf 0": { schema: property({ multipleOf: 0 }), pointer: "/properties/a/multipleOf", says: /greater than 0/ },
  "required of draft-03": {
    schema: property({ required: true }),
    pointer: "/properties/a/required",
    says: /"required": \["title"\]/,
  },
  "a required n that YAML took for false": {
    schema: { required: [false, "title"] },
    pointer: "/required",
    says: /without quotes, YAML reads n, y/,
  },
  "a name required twice": { schema: { required: ["a", "a"] }, pointer: "/required", says: /once/ },
  "dependentRequired without lists": {
    schema: { dependentRequired: { "a/b": "c" } },
    pointer: "/dependentRequired/a~1b",
    says: /list of member names/,
  },
  "a title that is no text": { schema: { title: 1 }, pointer: "/title", says: /a string/ },
  "a pattern that is no text": { schema: property({ pattern: 1 }), pointer: "/properties/a/pattern", says: /a string/ },
  "a number beside the bound in draft-04": {
    schema: { $schema: draft04, minimum: 1, exclusiveMinimum: 2 },
    pointer: "/exclusiveMinimum",
    says: /In draft-04, write true or false/,
  },
  "a const beyond 2^53-1": {
    schema: property({ const: { x: [1e300] } }),
    pointer: "/properties/a/const/x/0",
    says: /2\^53-1.*use minimum and maximum, or a text/,
  },
  "an enum number beyond 2^53-1": {
    schema: property({ enum: [1, 2 ** 64] }),
    pointer: "/properties/a/enum/1",
    says: /2\^53-1/,
  },
  "a root that admits no object": { schema: { type: "array" }, pointer: "/type", says: /write object/ },
  "a root that admits no object, by reference": {
    schema: { $ref: "#/$defs/a", $defs: { a: { type: ["string", "null"] } } },
    pointer: "/$defs/a/type",
    says: /write object/,
  },
  "a root of scalars": { schema: { enum: [1, 2] }, pointer: "/enum", says: /allow an object/ },
  "a root of one scalar": { schema: { const: null }, pointer: "/const", says: /allow an object/ },
  "a root that refuses everything": { schema: { allOf: [false] }, pointer: "", says: /type: object/ },
  "a number that JSON has not": { schema: { minimum: Number.NaN }, pointer: "/minimum", says: /not a JSON number/ },
  "a value that JSON has not": {
    schema: { default: new Date(0).valueOf },
    pointer: "/default",
    says: /not a JSON value/,
  },
};

describe("a schema is refused with a pointer and what to write instead", () => {
  it.each(Object.entries(refusals))("%s", (_name, { schema, pointer, says }) => {
    const problems = problemsOf(schema);
    expect(problems).toContainEqual({ pointer, message: expect.stringMatching(says) });
  });

  it("every problem is told at once, up to 50", () => {
    const schema = { properties: many(60, () => ({ type: "float" })) };
    expect(problemsOf(schema)).toHaveLength(50);
  });

  it("an object that contains itself is refused and not followed", () => {
    const schema: Record<string, unknown> = {};
    schema.properties = { a: schema };
    expect(problemsOf(schema)[0]?.message).toMatch(/64 levels/);
  });

  it("shared parts that stand for endless ones are refused and not followed", () => {
    let part: unknown = "x".repeat(20);
    for (let level = 0; level < 30; level++) part = [part, part, part, part];
    expect(problemsOf({ default: part })[0]?.message).toMatch(/128 KiB/);
  });
});

const reserved = ["id", "_metadata", "_sort", "_limit", "_offset", "_fields", "_count", "_cursor"];

describe("the service's own top-level names are refused", () => {
  it.each(reserved)("%s as a property", (name) => {
    const [problem] = problemsOf({ properties: { [name]: { type: "string" } } });
    expect(problem).toEqual({ pointer: `/properties/${name}`, message: expect.stringContaining(name) });
  });

  it("a name is told once, wherever else it stands", () => {
    const schema = { properties: { id: {} }, required: ["id"], oneOf: [{ required: ["id"] }] };
    expect(problemsOf(schema)).toEqual([
      { pointer: "/properties/id", message: expect.stringContaining("remove it, also from required") },
    ]);
  });

  it.each([
    ["in allOf", { allOf: [{ properties: { id: {} } }] }, "/allOf/0/properties/id"],
    ["by reference", { $ref: "#/$defs/a", $defs: { a: { properties: { id: {} } } } }, "/$defs/a/properties/id"],
    ["in anyOf", { anyOf: [{ properties: { _sort: {} } }] }, "/anyOf/0/properties/_sort"],
    ["in required", { required: ["title", "id"] }, "/required/1"],
    ["in required of a part", { if: {}, else: { required: ["_limit"] } }, "/else/required/0"],
    ["in dependentRequired", { dependentRequired: { a: ["id"] } }, "/dependentRequired/a/0"],
    ["as what others depend on", { dependentRequired: { id: ["a"] } }, "/dependentRequired/id"],
  ])("%s", (_where, schema, pointer) => {
    expect(problemsOf(schema).map((problem) => problem.pointer)).toContain(pointer);
  });

  it("below the top level they are names like any other", () => {
    expect(problemsOf({ properties: { a: { properties: { id: {}, _sort: {} }, required: ["id"] } } })).toEqual([]);
  });

  it("other names with an underscore are data", () => {
    expect(problemsOf({ properties: { _id: {}, _: {}, _meta: {} } })).toEqual([]);
  });
});

describe("what is allowed", () => {
  it.each<[string, unknown]>([
    ["an empty schema", {}],
    [
      "the root's own $id, and references by it",
      { $id: "https://example.com/a", properties: { a: { $ref: "https://example.com/a#/$defs/s" } }, $defs: { s: {} } },
    ],
    ["draft-07 by https", { $schema: "https://json-schema.org/draft-07/schema" }],
    ["bounds of 64 bits", property({ minimum: -(2 ** 63), maximum: 2 ** 63, exclusiveMaximum: 2 ** 64 })],
    [
      "a reference by a relative form of the root's own $id",
      { $id: "https://example.com/b/a.json", properties: { a: { $ref: "a.json#/$defs/s" } }, $defs: { s: {} } },
    ],
    [
      "a reference by an $id that is relative itself",
      { $id: "a.json", properties: { a: { $ref: "a.json" }, b: { $ref: "#/properties/a" } } },
    ],
    [
      "a reference by an $id that is a URN",
      { $id: "urn:example:a", properties: { a: { $ref: "urn:example:a#/$defs/s" } }, $defs: { s: {} } },
    ],
    ["a $schema inside that names the same draft", property({ $schema: draft2020 })],
    ["499 properties", { properties: many(499, () => ({ type: "string" })) }],
    ["a recursive tree", property({ properties: { children: { items: { $ref: "#/properties/a" } } } })],
    [
      "a root that refers to itself below a member",
      { properties: { next: { $ref: "#" } }, propertyNames: { $ref: "#" } },
    ],
    ["references that multiply a little", doubling(8)],
    ["a root with a condition", { if: { required: ["a"] }, else: { required: ["b"] } }],
  ])("%s", (_name, schema) => {
    expect(problemsOf(schema)).toEqual([]);
  });
});
