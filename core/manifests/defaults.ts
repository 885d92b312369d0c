// Fills in the defaults of a CRD's schema as the API server does: a null where none is allowed counts as absent.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray } from "../json/json-value.ts";
import type { SchemaNode } from "./schema-node.ts";

/** `value` with its defaults; `value` itself stays as it is. */
export function withDefaults(schema: SchemaNode, value: Json): Json {
  if (isArray(value)) return value.map((item) => withDefaults(schema.items ?? {}, withoutNull(schema.items, item)));
  if (value === null || typeof value !== "object") return value;
  return objectWithDefaults(schema, value);
}

function objectWithDefaults(schema: SchemaNode, value: JsonObject): JsonObject {
  const properties = schema.properties ?? {};
  const members = new Map(Object.entries(value).filter(([name, member]) => !isStrayNull(nodeOf(schema, name), member)));
  for (const [name, property] of Object.entries(properties)) {
    if (!members.has(name) && property.default !== undefined) members.set(name, property.default);
  }
  return Object.fromEntries(
    Array.from(members, ([name, member]) => [name, withDefaults(nodeOf(schema, name) ?? {}, member)]),
  );
}

/** A null for a field that can't be null is dropped, and its default takes the place. */
function isStrayNull(node: SchemaNode | undefined, member: Json): boolean {
  return member === null && node !== undefined && node.nullable !== true;
}

function withoutNull(node: SchemaNode | undefined, item: Json): Json {
  return isStrayNull(node, item) ? (node?.default ?? null) : item;
}

/** The schema of one member of an object; undefined = the schema says nothing about it. */
export function nodeOf(schema: SchemaNode, name: string): SchemaNode | undefined {
  return ownProperty(schema.properties, name) ?? schema.additionalProperties;
}

/** `properties` has prototype members such as `constructor`, which are no properties of the schema. */
function ownProperty(properties: SchemaNode["properties"], name: string): SchemaNode | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
