// Turns the JSON Schema of a value into one of the merge patches (RFC 7396) that may change it: any
// members, at any depth, and null where a member may be missing. Arrays are replaced as a whole.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";

/** What says of a whole object more than a part of it has to meet. */
const ofWhole = new Set([
  ...["required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"],
  ...["not", "if", "then", "else", "unevaluatedProperties"],
]);

interface Patching {
  /** What stands for a patch of what a reference leads to. */
  readonly patchRef: (reference: string) => string;
  /** Within a choice: a patch may lead to another one, where other members are required. */
  readonly isChoice: boolean;
}

export function mergePatchSchema(schema: Json, patching: Patching): Json {
  if (!isObject(schema)) return schema;
  const required = new Set(isArray(schema.required) && !patching.isChoice ? schema.required : []);
  const patched = (each: Json): Json => mergePatchSchema(each, patching);
  const inside: Readonly<Record<string, (value: Json) => readonly [string, Json]>> = {
    $ref: (value) => ["$ref", patching.patchRef(String(value))],
    properties: (value) => [
      "properties",
      mapped(value, (member, name) => (required.has(name) ? withoutNull(patched(member)) : orNull(patched(member)))),
    ],
    patternProperties: (value) => ["patternProperties", mapped(value, (member) => orNull(patched(member)))],
    additionalProperties: (value) => ["additionalProperties", isObject(value) ? orNull(patched(value)) : value],
    allOf: (value) => ["allOf", isArray(value) ? value.map(patched) : value],
    // A part may fit several choices.
    anyOf: (value) => ["anyOf", choices(value, patching)],
    oneOf: (value) => ["anyOf", choices(value, patching)],
  };
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !ofWhole.has(keyword) && !hasObjects(keyword, value),
  );
  return Object.fromEntries(kept.map(([keyword, value]) => inside[keyword]?.(value) ?? [keyword, value]));
}

/** A patch that leads from one choice to another removes members of the former. */
function choices(schemas: Json, patching: Patching): Json {
  if (!isArray(schemas)) return schemas;
  const names = schemas.flatMap((schema) => Object.keys(propertiesOf(schema)));
  const removed = Object.fromEntries(names.map((name): [string, Json] => [name, { type: "null" }]));
  return schemas.map((schema) => {
    const patched = mergePatchSchema(schema, { ...patching, isChoice: true });
    if (!isObject(patched) || !isObject(patched.properties)) return patched;
    return { ...patched, properties: { ...removed, ...patched.properties } };
  });
}

function propertiesOf(schema: Json): JsonObject {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {};
}

/** A part of an object in `enum` is none of its values. */
function hasObjects(keyword: string, value: Json): boolean {
  return keyword === "const" ? isObject(value) : keyword === "enum" && isArray(value) && value.some(isObject);
}

function mapped(schemas: Json, map: (schema: Json, name: string) => Json): Json {
  if (!isObject(schemas)) return schemas;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema, name)]));
}

function orNull(schema: Json): Json {
  if (!isObject(schema)) return schema === false ? { type: "null" } : schema;
  const { type, description, title, deprecated, ...others } = schema;
  const isOfType =
    type !== undefined &&
    !Object.keys(others).some((each) => ["enum", "const", "$ref", "allOf", "anyOf"].includes(each));
  if (isOfType) return { ...schema, type: [...new Set([type as Json, "null"].flat())] };
  const said = Object.entries({ description, title, deprecated }).filter(([, value]) => value !== undefined);
  const rest = type === undefined ? others : { type, ...others };
  return { ...(Object.fromEntries(said) as JsonObject), anyOf: [rest, { type: "null" }] };
}

/** To null would be to remove. */
function withoutNull(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const parts = Object.entries(schema).map(([keyword, value]): [string, Json] => {
    if (!isArray(value) || !["type", "enum", "anyOf"].includes(keyword)) return [keyword, value];
    const left = value.filter((each) => each !== null && !(keyword === "type" ? each === "null" : isNull(each)));
    return [keyword, left.length > 0 ? left : value];
  });
  return Object.fromEntries(parts);
}

function isNull(schema: Json): boolean {
  return isObject(schema) && schema.type === "null";
}
