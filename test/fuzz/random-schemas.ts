// JSON Schemas for fast-check as somebody might put them into an ApiResource: mostly good ones,
// some that no service can use.

import fc from "fast-check";
import type { Json } from "../../core/config/types.ts";

type Schema = fc.Arbitrary<Json>;

const names = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom("title", "price", "stock", "tags", "author", "a.b", "a/b", "Ünï", "10") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("__proto__", "constructor", "id", "_metadata", "_sort", "", "n".repeat(300)),
  },
);

/** Numbers that keywords take, and some that they don't. */
const bounds = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 1_000 }) },
  { weight: 1, arbitrary: fc.constantFrom<Json>(-1, 0.5, 1e300, "3", null, true, 2 ** 53) },
);

const patterns = fc.constantFrom("^[a-z]+$", "\\d{1,3}", "(a|b)*", "(.*)*$", "(?=x)y", "(a)\\1", "[", "\\p{L}+", "");
const formats = fc.constantFrom("date", "date-time", "email", "uri", "uuid", "ipv4", "no-such-format");
const references = fc.constantFrom(
  "#/$defs/part",
  "#",
  "#/properties/title",
  "#/$defs/none",
  "https://elsewhere.test/s",
);

const { anything } = fc.letrec<{ readonly anything: Json }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 3, depthIdentifier: "schema" },
    { weight: 6, arbitrary: scalars() },
    { weight: 3, arbitrary: arrays(tie("anything")) },
    { weight: 3, arbitrary: objects(tie("anything")) },
    { weight: 2, arbitrary: combined(tie("anything")) },
    { weight: 1, arbitrary: fc.record({ $ref: references }) },
    { weight: 1, arbitrary: fc.constantFrom<Json>(true, false, {}) },
    { weight: 1, arbitrary: junk() },
  ),
}));

const draft07 = "http://json-schema.org/draft-07/schema#";
const draft04 = "http://json-schema.org/draft-04/schema#";

/** Of a whole ApiResource: its root is an object, but for some. */
export function randomSchemas(): Schema {
  const root = objects(anything).map((schema) => ({ ...(schema as object), type: "object" }) as Json);
  const defined = fc
    .tuple(root, anything, fc.constantFrom<Json[]>([], [draft07], [draft04], ["no dialect"]))
    .map(([schema, part, [dialect]]) => {
      const more = dialect === undefined ? {} : { $schema: dialect };
      return { ...more, ...(schema as object), $defs: { part } } as Json;
    });
  const large = fc.constant<Json>({ type: "object", description: "d".repeat(140_000) });
  return fc.oneof(
    { weight: 20, arbitrary: root },
    { weight: 6, arbitrary: defined },
    { weight: 3, arbitrary: anything },
    { weight: 1, arbitrary: junk() },
    { weight: 1, arbitrary: large },
  );
}

function scalars(): Schema {
  const text = fc.record(
    { type: fc.constant("string"), minLength: bounds, maxLength: bounds, pattern: patterns, format: formats },
    { requiredKeys: ["type"] },
  );
  const number = fc.record(
    {
      type: fc.constantFrom("number", "integer"),
      minimum: bounds,
      maximum: bounds,
      exclusiveMinimum: bounds,
      multipleOf: bounds,
    },
    { requiredKeys: ["type"] },
  );
  const fixed = fc.constantFrom<Json>(
    { type: "boolean" },
    { enum: ["a", 1, null] },
    { const: { a: [1] } },
    { type: "null" },
  );
  const union = fc.constantFrom<Json>({ type: ["string", "null"] }, { type: ["integer", "boolean"] });
  return fc.oneof(text as Schema, number as Schema, fixed, union);
}

function arrays(inner: Schema): Schema {
  const members = {
    type: fc.constant("array"),
    items: inner,
    prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
    maxItems: bounds,
    uniqueItems: fc.boolean(),
    contains: inner,
  };
  return fc.record(members, { requiredKeys: ["type"] }) as Schema;
}

function objects(inner: Schema): Schema {
  const byName = fc
    .array(fc.tuple(names, inner), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as Json);
  const members = {
    type: fc.constant("object"),
    properties: byName,
    required: fc.uniqueArray(names, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean() as Schema, inner),
    patternProperties: fc.tuple(patterns, inner).map(([pattern, schema]) => ({ [pattern]: schema })),
    maxProperties: bounds,
  };
  return fc.record(members, { requiredKeys: ["type", "properties"] }) as Schema;
}

function combined(inner: Schema): Schema {
  const several = fc.array(inner, { maxLength: 2 });
  const parts = [
    fc.record({ allOf: several }),
    fc.record({ anyOf: several }),
    fc.record({ oneOf: several }),
    fc.record({ not: inner }),
    fc.record({ if: inner, else: inner }),
    fc.record({ dependentRequired: fc.constant({ title: ["price"] }), type: fc.constant("object") }),
  ];
  return fc.oneof(...(parts as Schema[]));
}

/** No schema, or one that means nothing. */
function junk(): Schema {
  const wrong = fc.constantFrom<Json>(
    { type: "strin" },
    { type: [] },
    { enum: [] },
    { properties: [] },
    { required: "title" },
    { items: 3 },
    { minimum: "1" },
    { $ref: 1 },
    { unknownKeyword: true },
    { default: { a: 1 }, examples: [1] },
    { properties: { title: null } },
  );
  return fc.oneof(wrong, fc.jsonValue({ maxDepth: 3 }) as Schema);
}
