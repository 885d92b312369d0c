// Turns an ApiResource into its configuration; refuses a schema that can't be used and an index of which the schema says
// that it can't exist, with the place of each.

import type { FieldPath, IndexField, ResourceConfig } from "../../core/config/types.ts";
import { type CheckedSchema, defaultIndexes, resolveField } from "../../core/schema/compile-schema.ts";
import { resourceNameOf } from "../model/claimed-name.ts";
import type { ApiResource } from "../model/objects.ts";
import { type Fault, type Notice, type Result, refuseAll } from "../model/verdict.ts";
import type { CheckSchema } from "./schema-check.ts";

export function compileResource(resource: ApiResource, checkSchema: CheckSchema): Result<ResourceConfig> {
  const { spec, metadata } = resource;
  const checked = checkSchema(spec.schema);
  if (!checked.ok) {
    const faults = checked.problems.map(({ pointer, message }) => ({ pointer: `/spec/schema${pointer}`, message }));
    return refuseAll("InvalidSchema", faults);
  }
  const indexes = compileIndexes(checked.schema, spec.indexes);
  if (!indexes.ok) return indexes;
  const { scope, create, read, update, delete: remove } = spec.access;
  const value: ResourceConfig = {
    name: resourceNameOf(resource),
    uid: metadata.uid,
    schema: spec.schema,
    indexes: indexes.value,
    access: { create, read, update, delete: remove },
    scope: { read: scope.read, write: scope.write },
    maxObjects: spec.limits.maxObjects,
  };
  return { ok: true, value, notices: checked.schema.warnings.map(schemaNotice) };
}

function schemaNotice(warning: { readonly pointer: string; readonly message: string }): Notice {
  return { reason: "SchemaWarning", message: warning.message, pointer: `/spec/schema${warning.pointer}` };
}

function compileIndexes(schema: CheckedSchema, names: readonly string[] | undefined): Result<readonly IndexField[]> {
  if (names === undefined) return { ok: true, value: defaultIndexes(schema) };
  const faults: Fault[] = [];
  for (const [position, name] of names.entries()) {
    const message = indexFault(schema, name);
    if (message !== undefined) faults.push({ message, pointer: `/spec/indexes/${position}` });
  }
  if (faults.length > 0) return refuseAll("InvalidSpec", faults);
  return { ok: true, value: names.map((name) => indexOf(schema, name)) };
}

function indexOf(schema: CheckedSchema, name: string): IndexField {
  const [first, second] = fieldsOf(schema, name).map((field) => placeOf(schema, field));
  if (first === undefined || second === undefined) return placeOf(schema, name);
  return { name, path: first.path, parts: [first, second] };
}

function placeOf(schema: CheckedSchema, name: string): FieldPath {
  return { name, path: resolveField(schema, name)?.path ?? name.split(".") };
}

/** A field with commas in its name is itself before it is several. */
function fieldsOf(schema: CheckedSchema, name: string): readonly string[] {
  return resolveField(schema, name) === undefined ? name.split(",") : [name];
}

/** Why there can be no such index, or undefined when there can. */
function indexFault(schema: CheckedSchema, name: string): string | undefined {
  const fields = fieldsOf(schema, name);
  const [first, second, ...others] = fields;
  if (others.length > 0)
    return `"${name}" names ${fields.length} fields: an index has one, or two with a comma between them`;
  if (first === second) return `"${name}" names one field twice`;
  if (second !== undefined && fields.some((field) => field === "id" || field.startsWith("_metadata"))) {
    return `"${name}": objects of one value are in order of creation already, so leave id and _metadata out of indexes`;
  }
  return fields.map((field) => fieldFault(schema, field)).find((fault) => fault !== undefined);
}

/** Why no object could have the field, or undefined when one could. */
function fieldFault(schema: CheckedSchema, name: string): string | undefined {
  if (resolveField(schema, name) !== undefined) return undefined;
  const path = name.split(".");
  if (path.includes(""))
    return `"${name}" is not a valid path: write the names of nested fields with one dot between them`;
  const [top = ""] = path;
  const declared = resolveField(schema, top);
  if (declared === undefined) {
    return schema.closed ? `The schema declares no "${top}" and allows no other fields` : undefined;
  }
  const mayHold = declared.types.length === 0 || declared.types.includes("object");
  return path.length > 1 && !mayHold
    ? `The schema declares "${top}" as ${declared.types.join(" or ")}, which has no fields`
    : undefined;
}
