// Makes a small value for a schema: its own example, const, first enum or default, else a plain
// value of its type with the required members. Whether the schema accepts it is not checked here.

import type { Json, JsonObject } from "../config/types.ts";
import { valueAtPointer } from "../json/json-pointer.ts";
import { isObject } from "../json/json-value.ts";

const maxDepth = 6;

const byFormat: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  email: "ada@example.org",
  uri: "https://example.org/",
  "uri-reference": "/",
  uuid: "0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a",
  hostname: "example.org",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
};

export interface SampleContext {
  /** What the schema's references lead into. */
  readonly root: JsonObject;
  /** Name of the member, to make a text from. */
  readonly name: string;
  /** Of nesting, from 0. */
  readonly depth: number;
}

export function sampleValue(schema: Json | undefined, context: SampleContext): Json {
  if (!isObject(schema) || context.depth > maxDepth) return context.name;
  const { $ref } = schema;
  if (typeof $ref === "string") return sampleValue(resolve($ref, context.root), below(context));
  const value = given(schema);
  if (value !== undefined) return value;
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, context);
    case "array":
      return arrayOf(schema, context);
    case "integer":
      return Math.ceil(numberOf(schema));
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textOf(schema, context);
  }
}

function below(context: SampleContext): SampleContext {
  return { ...context, depth: context.depth + 1 };
}

function given(schema: JsonObject): Json | undefined {
  const [example] = examplesOf(schema);
  if (example !== undefined) return example;
  if (schema.const !== undefined) return schema.const;
  return list(schema.enum)[0] ?? schema.default;
}

export function examplesOf(schema: JsonObject): readonly Json[] {
  return list(schema.examples);
}

function objectOf(schema: JsonObject, context: SampleContext): Json {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = list(schema.required).filter((name) => typeof name === "string");
  const inside = (name: string): SampleContext => ({ ...below(context), name });
  // Without required members the first declared one makes the object worth showing.
  const shown = names.length > 0 ? names : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(shown.map((name) => [name, sampleValue(properties[name], inside(name))]));
}

function arrayOf(schema: JsonObject, context: SampleContext): Json {
  const count = Math.min(Number(schema.minItems ?? 0), 3);
  return Array.from({ length: count }, () => sampleValue(schema.items, below(context)));
}

function numberOf(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  // Draft-04 excludes a bound by `true` next to it.
  if (typeof minimum === "number") return exclusiveMinimum === true ? minimum + 1 : minimum;
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
  if (typeof maximum === "number") return Math.min(maximum, 1);
  return typeof exclusiveMaximum === "number" ? Math.min(exclusiveMaximum - 1, 1) : 1;
}

function textOf(schema: JsonObject, { name }: SampleContext): string {
  const { format, minLength, maxLength } = schema;
  if (typeof format === "string" && byFormat[format] !== undefined) return byFormat[format];
  const text = `An example ${name}`.padEnd(Math.min(Number(minLength ?? 0), 200), ".");
  return typeof maxLength === "number" ? text.slice(0, maxLength) : text;
}

function typeOf(schema: JsonObject): Json | undefined {
  const type = Array.isArray(schema.type) ? (schema.type as readonly Json[])[0] : schema.type;
  return type ?? (schema.properties === undefined ? undefined : "object");
}

/** Only pointers into the same schema. */
function resolve(reference: string, root: JsonObject): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  return valueAtPointer(root, decodeURIComponent(reference.slice(1)));
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
