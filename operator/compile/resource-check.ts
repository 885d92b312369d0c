// Checks whether the schema and the indexes of an ApiResource can be used, once per spec object: a
// reconcile touches all of a project. Nothing but defaults that are applied is validated here, so
// that no other validator is compiled.

import { readMigration } from "../../core/config/migration.ts";
import type { ExpiryConfig, FieldPath, IndexField, JsonObject, UniqueRule } from "../../core/config/types.ts";
import { PatchRefusal } from "../../core/json/patch-refusal.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { type CheckedSchema, checkSchema, defaultIndexes, resolveField } from "../../core/schema/compile-schema.ts";
import { checkDefaults } from "../../core/schema/defaults/compile-defaults.ts";
import type { SchemaProblem } from "../../core/schema/read/report.ts";
import type { ApiResource } from "../model/objects.ts";
import { type Fault, type Notice, type Result, refuseAll } from "../model/verdict.ts";
import { compileExpiry } from "./expiry.ts";
import { meant } from "./meant-field.ts";
import { checkUnique } from "./unique-rules.ts";

type ResourceSpec = ApiResource["spec"];

export interface CheckedResource {
  readonly indexes: readonly IndexField[];
  readonly unique: readonly UniqueRule[];
  readonly expiry?: ExpiryConfig;
}

/** What of the resource names fields of its schema, with warnings about its schema as notices. */
export type CheckResource = (spec: ResourceSpec) => Result<CheckedResource>;

const maxShared = 1_000;

/**
 * Remembers answers by the spec's identity for as long as the object that holds it lives, and
 * nothing else of what was found in the schema.
 */
export function createResourceCheck(): CheckResource {
  const answers = new WeakMap<ResourceSpec, Result<CheckedResource>>();
  /**
   * Indexes of one top-level field, by its name: thousands of resources have a `title`, and each
   * index is kept once.
   */
  const topLevel = recentlyUsed<IndexField>(maxShared);
  const shared = (index: IndexField): IndexField => {
    if (index.parts !== undefined || index.path.length > 1) return index;
    const known = topLevel.get(index.name);
    if (known !== undefined) return known;
    topLevel.set(index.name, index);
    return index;
  };
  return (spec) => {
    const known = answers.get(spec);
    if (known !== undefined) return known;
    const checked = check(spec);
    const answer = checked.ok
      ? { ...checked, value: { ...checked.value, indexes: checked.value.indexes.map(shared) } }
      : checked;
    answers.set(spec, answer);
    return answer;
  };
}

function check(spec: ResourceSpec): Result<CheckedResource> {
  const checked = checkSchema(spec.schema);
  const problems = checked.ok ? unusableParts(checked.schema, spec) : checked.problems;
  if (!checked.ok || problems.length > 0) {
    const faults = problems.map(({ pointer, message }) => ({ pointer: `/spec/schema${pointer}`, message }));
    return refuseAll("InvalidSchema", faults);
  }
  const { schema } = checked;
  const indexes = checkIndexes(schema, spec.indexes);
  if (!indexes.ok) return indexes;
  const unique = checkUnique(schema, spec.unique ?? []);
  if (!unique.ok) return unique;
  const expiry = compileExpiry(schema, spec.expiry);
  if (!expiry.ok) return expiry;
  const migrationFaults = faultsOfMigration(spec.schemaChange?.migrate ?? []);
  if (migrationFaults.length > 0) return refuseAll("InvalidSpec", migrationFaults);
  const value = { indexes: indexes.value, unique: unique.value, ...expiry.value };
  return { ok: true, value, notices: schema.warnings.map(schemaNotice) };
}

function faultsOfMigration(patch: readonly JsonObject[]): readonly Fault[] {
  try {
    readMigration(patch);
    return [];
  } catch (error) {
    if (!(error instanceof PatchRefusal)) throw error;
    return [{ message: error.message, pointer: `/spec/schemaChange/migrate${error.pointer}` }];
  }
}

/** Why a schema that compiles is refused all the same. */
function unusableParts(
  { contradictions }: CheckedSchema,
  { schema, defaults }: ResourceSpec,
): readonly SchemaProblem[] {
  return contradictions.length > 0 || defaults !== "Apply" ? contradictions : checkDefaults(schema);
}

function schemaNotice(warning: { readonly pointer: string; readonly message: string }): Notice {
  return { reason: "SchemaWarning", message: warning.message, pointer: `/spec/schema${warning.pointer}` };
}

function checkIndexes(schema: CheckedSchema, names: readonly string[] | undefined): Result<readonly IndexField[]> {
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
    return schema.closed
      ? `The schema declares no "${top}" and allows no other fields${meant(schema, name)}`
      : undefined;
  }
  const mayHold = declared.types.length === 0 || declared.types.includes("object");
  return path.length > 1 && !mayHold
    ? `The schema declares "${top}" as ${declared.types.join(" or ")}, which has no fields`
    : undefined;
}
