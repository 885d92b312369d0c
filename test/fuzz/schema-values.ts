// Turns the JSON Schema of an ApiResource into values that it takes, for fast-check: what the
// examples' schemas use of the language. Free texts hold the place of a marker, which a request
// replaces by its tenant's own.

import fc from "fast-check";
import type { JsonObject } from "../../core/config/types.ts";

/** Stands in bodies where a secret of the writing tenant goes. */
export const markerPlace = "(marker)";
/** Characters that a marker may have. */
export const markerLength = 24;

type Value = fc.Arbitrary<unknown>;

const formats: Readonly<Record<string, Value>> = {
  date: fc
    .date({ min: new Date(0), noInvalidDate: true, max: new Date("2100-01-01") })
    .map((day) => day.toISOString().slice(0, 10)),
  uuid: fc.uuid(),
  uri: fc.webUrl(),
  email: fc.constantFrom("ann@example.org", "b.c+d@mail.example.com"),
};

export function valuesOf(schema: JsonObject, root: JsonObject = schema): Value {
  if (typeof schema.$ref === "string") return valuesOf(resolved(schema.$ref, root), root);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  switch (schema.type) {
    case "object":
      return objects(schema, root);
    case "array":
      return arrays(schema, root);
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer({ min: numberOr(schema.minimum, -1_000), max: numberOr(schema.maximum, 100_000) });
    case "number":
      return fc
        .integer({
          min: numberOr(schema.minimum, numberOr(schema.exclusiveMinimum, -10) + 1),
          max: numberOr(schema.maximum, 9_999),
        })
        .map((whole) => (whole > 1 ? whole - 0.25 : whole));
    case "boolean":
      return fc.boolean();
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objects(schema: JsonObject, root: JsonObject): Value {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonObject>>);
  const members = Object.fromEntries(properties.map(([name, inner]) => [name, valuesOf(inner, root)]));
  return fc.record(members, { requiredKeys: (schema.required ?? []) as string[] });
}

function arrays(schema: JsonObject, root: JsonObject): Value {
  const items = valuesOf((schema.items ?? {}) as JsonObject, root);
  const length = { minLength: numberOr(schema.minItems, 0), maxLength: Math.min(3, numberOr(schema.maxItems, 3)) };
  return schema.uniqueItems === true ? fc.uniqueArray(items, length) : fc.array(items, length);
}

function texts(schema: JsonObject): Value {
  if (typeof schema.pattern === "string") return fc.stringMatching(new RegExp(schema.pattern));
  const format = formats[String(schema.format)];
  if (format !== undefined) return format;
  const room = Math.min(40, numberOr(schema.maxLength, 40) - markerLength);
  return fc
    .string({ unit: "grapheme", maxLength: Math.max(0, Math.floor(room / 4)) })
    .map((text) => `${markerPlace}${text}`);
}

function resolved(reference: string, root: JsonObject): JsonObject {
  return reference
    .slice(2)
    .split("/")
    .reduce((at, name) => at[name] as JsonObject, root);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
