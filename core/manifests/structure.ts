// Checks a manifest against the structural part of its CRD's schema: types, enumerations, bounds, required fields, formats
// and sets. Each mistake becomes one fault in the API server's words.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { nodeOf } from "./defaults.ts";
import {
  duplicate,
  type FieldFault,
  outOfBounds,
  required,
  tooLong,
  tooMany,
  typeName,
  unsupported,
  wrongFormat,
  wrongType,
} from "./faults.ts";
import type { FieldPath } from "./field-path.ts";
import type { SchemaNode } from "./schema-node.ts";

export function structuralFaults(schema: SchemaNode, value: Json, path: FieldPath = []): readonly FieldFault[] {
  const mistyped = typeFault(schema, value, path);
  if (mistyped !== undefined) return [mistyped];
  if (value === null) return [];
  return [...enumFaults(schema, value, path), ...contentFaults(schema, value, path)];
}

function contentFaults(schema: SchemaNode, value: Json, path: FieldPath): readonly FieldFault[] {
  if (typeof value === "string") return stringFaults(schema, value, path);
  if (typeof value === "number") return numberFaults(schema, value, path);
  if (isArray(value)) return arrayFaults(schema, value, path);
  return isObject(value) ? objectFaults(schema, value, path) : [];
}

function typeFault(schema: SchemaNode, value: Json, path: FieldPath): FieldFault | undefined {
  if (value === null && schema.nullable === true) return undefined;
  const expected = schema["x-kubernetes-int-or-string"] === true ? ["integer", "string"] : expectedTypes(schema);
  if (expected.length === 0) return undefined;
  const actual = typeName(value);
  const fits = expected.some((type) => type === actual || (type === "number" && actual === "integer"));
  return fits ? undefined : wrongType(path, expected.join(","), actual);
}

function expectedTypes({ type }: SchemaNode): readonly string[] {
  return type === undefined ? [] : [type];
}

function enumFaults(schema: SchemaNode, value: Json, path: FieldPath): readonly FieldFault[] {
  if (schema.enum === undefined || schema.enum.some((each) => each === value)) return [];
  return [unsupported(path, value, schema.enum)];
}

function stringFaults(schema: SchemaNode, value: string, path: FieldPath): readonly FieldFault[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const length = Array.from(value).length;
  const faults: FieldFault[] = [];
  if (length > maxLength) faults.push(tooLong(path, maxLength));
  if (length < minLength) faults.push(outOfBounds(path, value, `be at least ${minLength} chars long`));
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    faults.push(outOfBounds(path, value, `match '${schema.pattern}'`));
  }
  if (schema.format === "date-time" && !isDateTime(value)) faults.push(wrongFormat(path, "date-time", value));
  return faults;
}

function numberFaults(schema: SchemaNode, value: number, path: FieldPath): readonly FieldFault[] {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (value < minimum) return [outOfBounds(path, value, `be greater than or equal to ${minimum}`)];
  if (value > maximum) return [outOfBounds(path, value, `be less than or equal to ${maximum}`)];
  return [];
}

function arrayFaults(schema: SchemaNode, items: readonly Json[], path: FieldPath): readonly FieldFault[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items: node = {} } = schema;
  const faults: FieldFault[] = [];
  if (items.length > maxItems) faults.push(tooMany(path, items.length, maxItems));
  if (items.length < minItems) faults.push(outOfBounds(path, items.length, `have at least ${minItems} items`));
  faults.push(...items.flatMap((item, index) => structuralFaults(node, item, [...path, index])));
  if (schema["x-kubernetes-list-type"] === "set") faults.push(...repeatedItems(items, path));
  return faults;
}

/** One fault for each item that is there twice, at its second place. */
function repeatedItems(items: readonly Json[], path: FieldPath): readonly FieldFault[] {
  const seen = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = JSON.stringify(item);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times === 2 ? [duplicate([...path, index], item)] : [];
  });
}

function objectFaults(schema: SchemaNode, value: JsonObject, path: FieldPath): readonly FieldFault[] {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const names = Object.keys(value);
  const faults: FieldFault[] = [];
  if (names.length > maxProperties) faults.push(tooMany(path, names.length, maxProperties));
  if (names.length < minProperties) {
    faults.push(outOfBounds(path, names.length, `have at least ${minProperties} properties`));
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) faults.push(required([...path, name]));
  }
  for (const [name, member] of Object.entries(value)) {
    const node = nodeOf(schema, name);
    if (node !== undefined) faults.push(...structuralFaults(node, member, [...path, name]));
  }
  return faults;
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
