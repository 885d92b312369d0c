import { describe, expect, it } from "vitest";
import { compiled, failuresOf } from "./compiled.ts";

const megabyte = 1024 * 1024;

/** An object of some `bytes` whose member `v` is an array of one item over and over. */
function arrayOf(item: string, bytes = megabyte): string {
  return `{"v":[${Array(Math.floor((bytes - 8) / (item.length + 1)))
    .fill(item)
    .join()}]}`;
}

/** An object of many members. */
function members(count: number, value: string): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join()}}`;
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const property = (schema: unknown): unknown => ({ properties: { v: schema } });
const stringByReference = { $defs: { s: { type: "string" } } };

const allBad: Readonly<Record<string, readonly [unknown, string]>> = {
  "items of a wrong type": [property({ items: { type: "string" } }), arrayOf("1")],
  "items of a wrong type, by reference": [
    { ...stringByReference, properties: { v: { items: { $ref: "#/$defs/s" } } } },
    arrayOf("1"),
  ],
  "items of a schema that others refer to": [
    { properties: { v: { items: { type: "string" } }, w: { $ref: "#/properties/v/items" } } },
    arrayOf("1"),
  ],
  "members of a wrong type, by reference": [
    { ...stringByReference, additionalProperties: { $ref: "#/$defs/s" } },
    members(60_000, "1"),
  ],
  "members by pattern": [{ patternProperties: { "^k": { type: "string" } } }, members(60_000, "1")],
  "undeclared members": [{ additionalProperties: false }, members(60_000, "1")],
  "unevaluated members": [{ anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, members(60_000, "1")],
  "unevaluated items": [property({ prefixItems: [{}], unevaluatedItems: { type: "null" } }), arrayOf("1")],
  "member names": [{ propertyNames: { maxLength: 1 } }, members(60_000, "1")],
  "alternatives for each item": [
    property({ items: { anyOf: times(50, (index) => ({ const: `${index}` })) } }),
    arrayOf("1"),
  ],
  "many missing members of many objects": [
    property({ items: { required: times(2_000, (index) => `r${index}`) } }),
    arrayOf("{}"),
  ],
};

describe("however much is wrong, at most 100 failures are told", () => {
  it.each(Object.entries(allBad))("%s", (_name, [schema, text]) => {
    const failures = failuresOf(schema, text);
    expect(failures).toHaveLength(100);
    expect(new Set(failures.map(({ pointer, message }) => `${pointer} ${message}`)).size).toBe(100);
  });
});

const tree = { $defs: { n: { items: { $ref: "#/$defs/n" }, not: { enum: [times(1_000, (index) => index)] } } } };

const tooMuch: Readonly<Record<string, readonly [unknown, string]>> = {
  "a tree that tries every branch twice": [
    {
      $defs: { n: { properties: { c: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] } }, required: ["x"] } },
      properties: { v: { $ref: "#/$defs/n" } },
    },
    `{"v":${'{"x":1,"c":'.repeat(60)}{}${"}".repeat(61)}`,
  ],
  "many objects against many properties": [
    property({ items: { properties: Object.fromEntries(times(100, (index) => [`p${index}`, { type: "null" }])) } }),
    arrayOf("{}"),
  ],
  "a long text measured many times": [
    property({ anyOf: times(100, (index) => ({ maxLength: index })) }),
    `{"v":"${"é".repeat(megabyte)}"}`,
  ],
  "a large array compared at every level": [
    { ...tree, properties: { v: { $ref: "#/$defs/n" } } },
    `{"v":${"[".repeat(60)}${times(300_000, () => "1").join()}${"]".repeat(60)}}`,
  ],
  "a large array compared many times": [
    property({ allOf: times(10, () => ({ uniqueItems: true })) }),
    `{"v":[${times(150_000, String).join()}]}`,
  ],
  "contains asked many times": [
    property({ allOf: times(50, (index) => ({ contains: { const: index + 2 } })) }),
    arrayOf("1"),
  ],
  "unevaluated members at every level": [
    {
      $defs: {
        n: {
          anyOf: [{ properties: { c: { $ref: "#/$defs/n" } } }, { properties: { x: { type: "string" } } }],
          unevaluatedProperties: false,
        },
      },
      properties: { v: { $ref: "#/$defs/n" } },
    },
    `{"v":${'{"x":"a","c":'.repeat(60)}{}${"}".repeat(61)}`,
  ],
  "hostile patterns over a long text": [
    property({ allOf: times(10, (index) => ({ pattern: `[ab]*a[ab]{${900 + index}}c$` })) }),
    `{"v":"${times(megabyte / 2, (index) => ((index * 7919) % 13 < 6 ? "a" : "b")).join("")}c"}`,
  ],
  "a long name carried to many alternatives": [
    { additionalProperties: { anyOf: times(100, (index) => ({ properties: { a: { const: index } } })) } },
    `{"${"~".repeat(megabyte)}":{"a":-1}}`,
  ],
  "multiples of magnitudes far apart": [property({ items: { multipleOf: 1e-300 } }), arrayOf("1e300")],
};

describe("a validation that would take too much work ends, and says so", () => {
  it.each(Object.entries(tooMuch))("%s", (_name, [schema, text]) => {
    const validate = compiled(schema).validate;
    const expected = [
      { pointer: "", keyword: "$schema", message: expect.stringMatching(/more work than one request/) },
    ];
    expect(validate(JSON.parse(text), text)).toEqual(expected);
    // The budget is each validation's own.
    expect(validate({}, "{}")).toEqual([]);
  });
});

const book = {
  type: "object",
  properties: {
    isbn: { type: "string", pattern: "^[0-9]{9}[0-9X]$" },
    title: { type: "string", minLength: 1, maxLength: 200 },
    price: { type: "number", minimum: 0, multipleOf: 0.01 },
    slug: { type: "string", pattern: "^[a-z0-9-]{1,63}$" },
    mail: { type: "string", format: "email" },
    published: { type: "string", format: "date-time" },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 20 },
  },
  required: ["isbn", "title"],
  additionalProperties: false,
};

const bookText = JSON.stringify({
  isbn: "123456789X",
  title: "A book about things",
  price: 19.99,
  slug: "a-book-about-things",
  mail: "a@example.com",
  published: "2024-05-06T07:08:09Z",
  tags: ["a", "b"],
});

describe("what people send stays far within the budget", () => {
  it.each<readonly [string, unknown, string]>([
    ["a megabyte of books", property({ items: book }), arrayOf(bookText)],
    ["four megabytes of digits", property({ items: { type: "integer" } }), arrayOf("7", 4 * megabyte)],
    ["a megabyte of digits", property({ items: { type: "integer", minimum: 0 } }), arrayOf("7")],
    [
      "an image of a megabyte",
      property({ pattern: "^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+=*$" }),
      `{"v":"data:image/png;base64,${"aB3+".repeat(megabyte / 4)}"}`,
    ],
    ["a megabyte of slugs", property({ items: { pattern: "^[a-z0-9-]{1,63}$" } }), arrayOf('"a-book-about-things"')],
    [
      "a megabyte of different numbers, unique",
      property({ uniqueItems: true }),
      `{"v":[${times(150_000, String).join()}]}`,
    ],
    ["60,000 members", { additionalProperties: { type: "integer" } }, members(60_000, "1")],
    [
      "a thousand large unique items",
      property({ maxItems: 1000, uniqueItems: true }),
      `{"v":[${times(1000, (index) => `["${"x".repeat(900)}",${index}]`).join()}]}`,
    ],
  ])("%s", (_name, schema, text) => {
    expect(failuresOf(schema, text)).toEqual([]);
  });
});
