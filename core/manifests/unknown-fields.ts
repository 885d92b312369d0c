// Finds fields that a CRD's schema does not know. A cluster would drop them, or refuse them as kubectl asks it to: a misspelt setting must not
// pass for one that is made.

import type { Json } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { type Enclosing, unknownFieldAdvice } from "./advice.ts";
import { type FieldError, fieldText, type ManifestPath } from "./field-errors.ts";
import { nodeOf, type SchemaNode } from "./schema-node.ts";

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
