// Checks a manifest against the structural part of its CRD's schema: types, enumerations, bounds,
// required fields, formats, and sets. Each mistake becomes one error in the API server's words.
// Finds fields that the schema does not have.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { type Enclosing, replacementOf, unknownFieldAdvice } from "./advice.ts";
import {
  duplicate,
  type FieldError,
  fieldText,
  type ManifestPath,
  outOfBounds,
  required,
  tooLong,
  tooMany,
  typeName,
  unsupported,
  wrongFormat,
  wrongType,
} from "./field-errors.ts";
import { ruleErrors } from "./rules.ts";
import { expectedTypes, hasType, nodeOf, type SchemaNode } from "./schema-node.ts";

export function structuralErrors(schema: SchemaNode, value: Json, path: ManifestPath = []): readonly FieldError[] {
  const mistyped = typeError(schema, value, path);
  if (mistyped !== undefined) return [mistyped];
  if (value === null) return [];
  return [...enumErrors(schema, value, path), ...contentErrors(schema, value, path)];
}

function contentErrors(schema: SchemaNode, value: Json, path: ManifestPath): readonly FieldError[] {
  if (typeof value === "string") return stringErrors(schema, value, path);
  if (typeof value === "number") return numberErrors(schema, value, path);
  if (isArray(value)) return arrayErrors(schema, value, path);
  return isObject(value) ? objectErrors(schema, value, path) : [];
}

function typeError(schema: SchemaNode, value: Json, path: ManifestPath): FieldError | undefined {
  if (value === null && schema.nullable === true) return undefined;
  if (hasType(schema, value)) return undefined;
  const error = wrongType(path, expectedTypes(schema).join(","), typeName(value));
  return { ...error, advice: typeAdvice(schema, value, path) || textAdvice(schema, value, path) };
}

/** Of what the schema wants around the value, unless that is refused as well. */
function typeAdvice(schema: SchemaNode, value: Json, path: ManifestPath): string {
  const replacement = replacementOf(schema, value, path);
  if (replacement === undefined) return "";
  const [first] = replacement.value === undefined ? [] : refusalsOf(schema, replacement.value, path);
  const { text } = replacement;
  return first === undefined
    ? `: write ${text}`
    : `, and ${text} is refused, too: ${first.detail}${first.advice ?? ""}`;
}

/** For a number in place of a text: what else is wrong with it. "" where quotes are enough. */
function textAdvice(schema: SchemaNode, value: Json, path: ManifestPath): string {
  if (schema.type !== "string" || typeof value !== "number") return "";
  const [first] = refusalsOf(schema, String(value), path);
  return first === undefined ? "" : first.advice || `, and in quotes it is refused, too: ${first.detail}`;
}

function refusalsOf(schema: SchemaNode, value: Json, path: ManifestPath): readonly FieldError[] {
  const errors = structuralErrors(schema, value, path);
  return errors.length > 0 ? errors : ruleErrors(schema, { value, old: undefined }, path);
}

function enumErrors(schema: SchemaNode, value: Json, path: ManifestPath): readonly FieldError[] {
  if (schema.enum === undefined || schema.enum.some((each) => each === value)) return [];
  return [unsupported(path, value, schema.enum)];
}

function stringErrors(schema: SchemaNode, value: string, path: ManifestPath): readonly FieldError[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const length = Array.from(value).length;
  const errors: FieldError[] = [];
  if (length > maxLength) errors.push(tooLong(path, maxLength));
  if (length < minLength) errors.push(outOfBounds(path, value, `be at least ${minLength} chars long`));
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    errors.push(outOfBounds(path, value, `match '${schema.pattern}'`));
  }
  if (schema.format === "date-time" && !isDateTime(value)) errors.push(wrongFormat(path, "date-time", value));
  return errors;
}

function numberErrors(schema: SchemaNode, value: number, path: ManifestPath): readonly FieldError[] {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (value < minimum) return [outOfBounds(path, value, `be greater than or equal to ${minimum}`)];
  if (value > maximum) return [outOfBounds(path, value, `be less than or equal to ${maximum}`)];
  return [];
}

function arrayErrors(schema: SchemaNode, items: readonly Json[], path: ManifestPath): readonly FieldError[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items: node = {} } = schema;
  const errors: FieldError[] = [];
  if (items.length > maxItems) errors.push(tooMany(path, items.length, maxItems));
  if (items.length < minItems) errors.push(outOfBounds(path, items.length, `have at least ${minItems} items`));
  errors.push(...items.flatMap((item, index) => structuralErrors(node, item, [...path, index])));
  if (schema["x-kubernetes-list-type"] === "set") errors.push(...repeatedItems(items, path));
  const keys = schema["x-kubernetes-list-map-keys"];
  if (keys !== undefined)
    errors.push(
      ...repeatedItems(
        items.map((item) => keysIn(item, keys)),
        path,
      ),
    );
  return errors;
}

/** The members that identify items of a list. */
function keysIn(item: Json, keys: readonly string[]): Json {
  const members = isObject(item) ? item : {};
  return Object.fromEntries(keys.toSorted().flatMap((key) => (key in members ? [[key, members[key] ?? null]] : [])));
}

/** One error for each item that is there twice, at its second place. */
function repeatedItems(items: readonly Json[], path: ManifestPath): readonly FieldError[] {
  const seen = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = JSON.stringify(item);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times === 2 ? [duplicate([...path, index], item)] : [];
  });
}

function objectErrors(schema: SchemaNode, value: JsonObject, path: ManifestPath): readonly FieldError[] {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const names = Object.keys(value);
  const errors: FieldError[] = [];
  if (names.length > maxProperties) errors.push(tooMany(path, names.length, maxProperties));
  if (names.length < minProperties) {
    errors.push(outOfBounds(path, names.length, `have at least ${minProperties} properties`));
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required([...path, name]));
  }
  for (const [name, member] of Object.entries(value)) {
    const node = nodeOf(schema, name);
    if (node !== undefined) errors.push(...structuralErrors(node, member, [...path, name]));
  }
  return errors;
}

const dateTime = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-](\d{2}):(\d{2}))$/;

/** RFC 3339 with a date that exists, capital T and Z, and no leap second. */
function isDateTime(text: string): boolean {
  const match = dateTime.exec(text);
  if (match === null) return false;
  const [, day = "", hour = "", minute = "", second = ""] = match;
  if (hour > "23" || minute > "59" || second > "59") return false;
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

export function unknownFields(
  schema: SchemaNode,
  value: Json,
  path: ManifestPath = [],
  above: readonly Enclosing[] = [],
): readonly FieldError[] {
  if (isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => unknownFields(items, item, [...path, index], above));
  }
  if (!isObject(value)) return [];
  const parent: Enclosing = { schema, value, path };
  return Object.entries(value).flatMap(([name, member]) => {
    const node = nodeOf(schema, name);
    if (node !== undefined) return unknownFields(node, member, [...path, name], [parent, ...above]);
    return schema["x-kubernetes-preserve-unknown-fields"] === true ? [] : [unknownField(name, parent, above)];
  });
}

function unknownField(name: string, parent: Enclosing, above: readonly Enclosing[]): FieldError {
  const path = [...parent.path, name];
  const detail = `unknown field ${JSON.stringify(fieldText(path))}`;
  return { path, detail, advice: unknownFieldAdvice(name, parent, above), blocking: false, whole: true };
}
