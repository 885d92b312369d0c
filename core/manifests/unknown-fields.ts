// Finds the fields of a manifest that its schema does not know, which a cluster would drop (or refuse, as kubectl asks it
// to); a misspelt setting must not pass for one that is made.

import type { Json } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { nodeOf } from "./defaults.ts";
import type { FieldFault } from "./faults.ts";
import { type FieldPath, fieldText } from "./field-path.ts";
import { nearest } from "./nearest.ts";
import type { SchemaNode } from "./schema-node.ts";

export function unknownFields(schema: SchemaNode, value: Json, path: FieldPath = []): readonly FieldFault[] {
  if (isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, index) => unknownFields(items, item, [...path, index]));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const node = nodeOf(schema, name);
    if (node !== undefined) return unknownFields(node, member, [...path, name]);
    return schema["x-kubernetes-preserve-unknown-fields"] === true ? [] : [unknownField(schema, path, name)];
  });
}

export function unknownField(schema: SchemaNode, parent: FieldPath, name: string): FieldFault {
  const path = [...parent, name];
  const meant = nearest(name, Object.keys(schema.properties ?? {}));
  const hint = meant === undefined ? "" : `, did you mean ${JSON.stringify(meant)}?`;
  return { path, detail: `unknown field ${JSON.stringify(fieldText(path))}${hint}`, blocking: false, whole: true };
}
