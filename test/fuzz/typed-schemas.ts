// JSON Schemas for fast-check as people write them for objects, each with values that it takes.

import fc from "fast-check";
import type { Json, JsonObject } from "../../core/config/types.ts";

export interface TypedSchema {
  readonly schema: JsonObject;
  readonly values: fc.Arbitrary<Json>;
}

const scalars: readonly TypedSchema[] = [
  { schema: { type: "string" }, values: fc.string({ maxLength: 3 }) },
  { schema: { type: "integer" }, values: fc.integer() },
  { schema: { type: "boolean" }, values: fc.boolean() },
  { schema: { type: ["number", "null"] }, values: fc.constantFrom(0.5, -1, null) },
  { schema: { enum: ["new", 2, null] }, values: fc.constantFrom("new", 2, null) },
  { schema: { enum: [{ a: [1] }, { a: [] }] }, values: fc.constantFrom({ a: [1] }, { a: [] }) },
  { schema: { anyOf: [{ type: "string" }, { type: "null" }] }, values: fc.constantFrom("a", null) },
  { schema: { allOf: [{ type: "string" }, { enum: ["a", 1] }] }, values: fc.constant("a") },
  { schema: {}, values: fc.constantFrom<Json>(1, "a", null, [], {}) },
];

const names = fc.constantFrom("title", "price", "author", "a.b", "10", "toString", "x y");

const { object } = fc.letrec<{ any: TypedSchema; object: TypedSchema }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthIdentifier: "typed" },
    { weight: 3, arbitrary: fc.constantFrom(...scalars) },
    { weight: 1, arbitrary: tie("any").map(arrayOf) },
    { weight: 1, arbitrary: fc.tuple(tie("any"), tie("any")).map(tupleOf) },
    { weight: 2, arbitrary: tie("object") },
  ),
  object: fc.oneof(
    { maxDepth: 4, depthIdentifier: "typed" },
    { weight: 3, arbitrary: fc.tuple(fc.dictionary(names, tie("any"), { maxKeys: 4 }), fc.boolean()).map(objectOf) },
    { weight: 1, arbitrary: tie("any").map(mapOf) },
    { weight: 1, arbitrary: fc.tuple(tie("object"), tie("object")).map(choiceOf) },
  ),
}));

/** Of a whole object. */
export const typedObjects: fc.Arbitrary<TypedSchema> = object;

function arrayOf({ schema, values }: TypedSchema): TypedSchema {
  return { schema: { type: "array", items: schema }, values: fc.array(values, { maxLength: 3 }) };
}

function tupleOf([first, second]: readonly [TypedSchema, TypedSchema]): TypedSchema {
  const schema = { type: "array", prefixItems: [first.schema, second.schema], items: false, minItems: 1 };
  return { schema, values: fc.oneof(fc.tuple(first.values, second.values), fc.tuple(first.values)) };
}

/** Every other member is required. */
function objectOf([members, isClosed]: readonly [Readonly<Record<string, TypedSchema>>, boolean]): TypedSchema {
  const parts = Object.entries(members);
  const required = parts.filter((_, at) => at % 2 === 0).map(([name]) => name);
  const properties = Object.fromEntries(parts.map(([name, { schema }]) => [name, schema]));
  const values = fc.record(Object.fromEntries(parts.map(([name, each]) => [name, each.values])), {
    requiredKeys: required,
  });
  return { schema: { type: "object", properties, required, ...(isClosed && { additionalProperties: false }) }, values };
}

function mapOf({ schema, values }: TypedSchema): TypedSchema {
  return {
    schema: { type: "object", additionalProperties: schema },
    values: fc.dictionary(names, values, { maxKeys: 3 }),
  };
}

function choiceOf([one, other]: readonly [TypedSchema, TypedSchema]): TypedSchema {
  return { schema: { type: "object", anyOf: [one.schema, other.schema] }, values: fc.oneof(one.values, other.values) };
}
