// Turns a JSON Schema of 2020-12 into the narrowest TypeScript type that has every value which the
// schema accepts. What a type can't say (`not`, `if`, patterns, bounds) is left out. Members that a
// schema does not name are in a type only where `additionalProperties` or `patternProperties` says
// so.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { intersection, type Member, never, plain, type Type, undefinedType, union, unknown } from "./type.ts";

/** What a reference leads to. */
export interface Definitions {
  schemaOf(reference: string): Json | undefined;
  /** The type's name, or a type in its place. */
  typeOf(reference: string): Type;
}

type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";
const allKinds: ReadonlySet<Kind> = new Set(["null", "boolean", "number", "string", "array", "object"]);
export const onlyObjects: ReadonlySet<Kind> = new Set(["object"]);

/** `within` = the kinds that what stands around the schema leaves. */
export function typeOfSchema(
  schema: Json | undefined,
  definitions: Definitions,
  within: ReadonlySet<Kind> = allKinds,
): Type {
  if (schema === false) return never;
  if (!isObject(schema)) return unknown;
  const kinds = kindsOf(schema, definitions, within);
  const inPlace = (each: Json): Type => typeOfSchema(each, definitions, kinds);
  const parts = [
    ...(typeof schema.$ref === "string" ? [definitions.typeOf(schema.$ref)] : []),
    ...listOf(schema.allOf).map(inPlace),
    ...choicesOf(schema).map((choices) => union(choices.map(inPlace))),
  ];
  return intersection([ownType(schema, definitions, kinds), ...parts]);
}

/** What `anyOf` and `oneOf` offer. */
function choicesOf({ anyOf, oneOf }: JsonObject): readonly (readonly Json[])[] {
  return [listOf(anyOf), listOf(oneOf)].filter(({ length }) => length > 0);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function kindOf(value: Json): Kind {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : (typeof value as Kind);
}

/** The kinds that a value may have. */
function kindsOf(
  schema: Json | undefined,
  definitions: Definitions,
  within: ReadonlySet<Kind>,
  seen: ReadonlySet<string> = new Set(),
): ReadonlySet<Kind> {
  if (schema === false) return new Set();
  if (!isObject(schema)) return within;
  const { type, $ref } = schema;
  let kinds = within;
  if (type !== undefined) kinds = kinds.intersection(new Set([type].flat().map((each) => kindNamed(each))));
  const values = valuesOf(schema);
  if (values !== undefined) kinds = kinds.intersection(new Set(values.map(kindOf)));
  if (typeof $ref === "string" && !seen.has($ref)) {
    kinds = kindsOf(definitions.schemaOf($ref), definitions, kinds, new Set([...seen, $ref]));
  }
  for (const part of listOf(schema.allOf)) kinds = kindsOf(part, definitions, kinds, seen);
  for (const choices of choicesOf(schema)) {
    const left = kinds;
    kinds = new Set(choices.flatMap((choice) => [...kindsOf(choice, definitions, left, seen)]));
  }
  return kinds;
}

function kindNamed(type: Json): Kind {
  return type === "integer" ? "number" : (type as Kind);
}

function valuesOf(schema: JsonObject): readonly Json[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema.const as Json];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

const ofArrays = ["items", "prefixItems"];
const ofObjects = ["properties", "required", "additionalProperties", "patternProperties"];

/** What the schema says itself: `unknown` if nothing. */
function ownType(schema: JsonObject, definitions: Definitions, kinds: ReadonlySet<Kind>): Type {
  const values = valuesOf(schema);
  if (values !== undefined) return union(values.filter((value) => kinds.has(kindOf(value))).map(literal));
  const says = ["type", ...ofArrays, ...ofObjects].some((keyword) => Object.hasOwn(schema, keyword));
  if (!says && kinds.size > 0) return unknown;
  const types = [...kinds].map((kind) => {
    if (kind === "array") return arrayType(schema, definitions);
    return kind === "object" ? objectType(schema, definitions) : plain(kind);
  });
  const saysOfContainers = [...ofArrays, ...ofObjects].some((keyword) => Object.hasOwn(schema, keyword));
  return kinds.size === allKinds.size && !saysOfContainers ? unknown : union(types);
}

function literal(value: Json): Type {
  if (Array.isArray(value)) return { kind: "tuple", items: value.map(literal), required: value.length };
  if (!isObject(value)) return plain(JSON.stringify(value));
  const members = Object.entries(value).map(([name, each]) => ({ name, type: literal(each), isOptional: false }));
  return { kind: "object", members };
}

function arrayType(schema: JsonObject, definitions: Definitions): Type {
  const { items, minItems, maxItems } = schema;
  const rest = typeOfSchema(items, definitions);
  const most = typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY;
  const first = listOf(schema.prefixItems)
    .slice(0, most)
    .map((item) => typeOfSchema(item, definitions));
  if (first.length === 0) return { kind: "array", of: most === 0 ? never : rest };
  const required = Math.min(typeof minItems === "number" ? Math.ceil(minItems) : 0, first.length);
  const isClosed = items === false || first.length >= most;
  return { kind: "tuple", items: first, required, ...(!isClosed && { rest }) };
}

function objectType(schema: JsonObject, definitions: Definitions): Type {
  const { additionalProperties: others } = schema;
  const properties = namedOf(schema.properties);
  const patterns = Object.values(namedOf(schema.patternProperties)).map((each) => typeOfSchema(each, definitions));
  const required = new Set(listOf(schema.required).filter((name) => typeof name === "string"));
  const index = indexType(others, patterns, definitions);
  const members = Object.entries(properties).map(([name, each]) =>
    memberOf(name, each, { definitions, isOptional: !required.has(name) }),
  );
  const unnamed = [...required].filter((name) => !Object.hasOwn(properties, name));
  const all = [...members, ...unnamed.map((name) => ({ name, type: index ?? unknown, isOptional: false }))];
  if (all.length === 0) return { kind: "object", members: [], index: index ?? (others === false ? never : unknown) };
  if (index === undefined) return { kind: "object", members: all };
  // TypeScript wants every member to have the type of the index signature, too.
  const missing = all.some(({ isOptional }) => isOptional) ? [undefinedType] : [];
  return { kind: "object", members: all, index: union([index, ...all.map(({ type }) => type), ...missing]) };
}

/** Of the members that have no name; undefined where nothing is said of them. */
function indexType(others: Json | undefined, patterns: readonly Type[], definitions: Definitions): Type | undefined {
  if (others === undefined) return patterns.length > 0 ? unknown : undefined;
  if (others !== false) return union([typeOfSchema(others, definitions), ...patterns]);
  return patterns.length > 0 ? union(patterns) : undefined;
}

function namedOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function memberOf(
  name: string,
  schema: Json,
  { definitions, isOptional }: { readonly definitions: Definitions; readonly isOptional: boolean },
): Member {
  // Every value has some of these names, such as `toString`, with a type of their own.
  const type = name in Object.prototype ? unknown : typeOfSchema(schema, definitions);
  return { name, type, isOptional, ...describedBy(schema) };
}

/** What a schema says for people. */
export function describedBy(schema: Json): Pick<Member, "description" | "isDeprecated"> {
  if (!isObject(schema)) return {};
  const { description, title, deprecated } = schema;
  // One word is a name.
  const text = [description, title].find(
    (each) => typeof each === "string" && (each === description || /\s/.test(each)),
  );
  return { ...(typeof text === "string" && { description: text }), ...(deprecated === true && { isDeprecated: true }) };
}
