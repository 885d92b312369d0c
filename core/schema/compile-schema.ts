// Turns the JSON Schema of an ApiResource into a validator with bounded work and the list of its
// declared properties. Refuses, with a pointer and what to write instead, every schema that can't
// be checked safely.

import type { IndexField, JsonObject } from "../config/types.ts";
import type { ProblemItem } from "../errors/problem.ts";
import { childPointer } from "../json/json-pointer.ts";
import { type DeclaredProperty, declaredProperties, isClosed, type JsonType } from "./declared-properties.ts";
import { schemaLimits } from "./limits.ts";
import { checkTree } from "./read/check-tree.ts";
import { readSchema, type SchemaRead } from "./read/read-schema.ts";
import { type SchemaProblem, SchemaReport } from "./read/report.ts";
import { compileValidator, type Validate } from "./validate/compile-validator.ts";

interface PendingValue {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
}

/** Reports at most one problem; true when there is none. */
function checkJson(schema: unknown, report: SchemaReport): boolean {
  const waiting: PendingValue[] = [{ value: schema, pointer: "", depth: 0 }];
  let size = 0;
  for (let pending = waiting.pop(); pending !== undefined; pending = waiting.pop()) {
    const reason = refusalOf(pending.value, pending.depth);
    size += ownSize(pending.value);
    if (reason !== undefined || size > schemaLimits.bytes) {
      report.problem(reason === undefined ? "" : pending.pointer, reason ?? tooLarge);
      return false;
    }
    waiting.push(...childrenOf(pending));
  }
  return true;
}

function childrenOf({ value, pointer, depth }: PendingValue): readonly PendingValue[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, child]) => ({
    value: child,
    pointer: childPointer(pointer, name),
    depth: depth + 1,
  }));
}

const tooLarge = `The schema is larger than ${schemaLimits.bytes / 1024} KiB; split the resource, or drop descriptions and examples`;

function refusalOf(value: unknown, depth: number): string | undefined {
  if (depth > schemaLimits.depth)
    return `The schema nests more than ${schemaLimits.depth} levels; move parts to $defs and refer to them`;
  if (typeof value === "number" && !Number.isFinite(value)) return "Is not a JSON number";
  if (value === null || ["string", "number", "boolean"].includes(typeof value)) return undefined;
  if (typeof value !== "object") return "Is not a JSON value";
  const broken = Object.keys(value).find((name) => !name.isWellFormed());
  return broken && `The name ${JSON.stringify(broken)} has one half of a character; write the whole character`;
}

/** Bytes of a value's JSON text, the values inside it aside. */
function ownSize(value: unknown): number {
  if (typeof value === "string") return byteLength(value);
  if (typeof value !== "object" || value === null) return String(value).length;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  const separators = Math.max(2, Object.keys(value).length + 1);
  return names.reduce((sum, name) => sum + byteLength(name) + 1, separators);
}

function byteLength(text: string): number {
  // A text of more characters than the bound has more bytes, too: no need to encode it.
  return text.length > schemaLimits.bytes ? text.length : Buffer.byteLength(JSON.stringify(text));
}

/** What is known of a schema that can be used, without a validator. */
export interface CheckedSchema {
  /** Root properties, local `$ref` and `allOf` followed; nested objects with dotted names. */
  readonly properties: ReadonlyMap<string, DeclaredProperty>;
  /** True when the schema refuses undeclared top-level members. */
  readonly closed: boolean;
  /** Unknown keywords and the like, for the status. */
  readonly warnings: readonly SchemaProblem[];
  /**
   * Why no object, or none of a nested schema, can match. The schema still compiles: old objects
   * can be read.
   */
  readonly contradictions: readonly SchemaProblem[];
}

export interface CompiledSchema extends CheckedSchema {
  /** At most 100 failures; none = valid. `value` is parseJson of `canonicalText`. */
  validate(value: unknown, canonicalText: string): readonly ProblemItem[];
  /** The same, and whether these are all. */
  validateFully: Validate;
}

export type SchemaResult<S extends CheckedSchema = CompiledSchema> =
  | { readonly ok: true; readonly schema: S }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Compiles a schema, or says everything that is wrong with it. Never throws on bad input. */
export function compileSchema(schema: JsonObject): SchemaResult {
  const result = readAndCheck(schema);
  if (!result.ok) return result;
  const { read, checked } = result;
  const validateFully = compileValidator(read);
  return {
    ok: true,
    schema: { ...checked, validateFully, validate: (value, text) => validateFully(value, text).failures },
  };
}

/**
 * The same without the validator, which is most of the work: a schema that passes can be compiled.
 */
export function checkSchema(schema: JsonObject): SchemaResult<CheckedSchema> {
  const result = readAndCheck(schema);
  return result.ok ? { ok: true, schema: result.checked } : result;
}

type ReadAndChecked =
  | { readonly ok: true; readonly read: SchemaRead; readonly checked: CheckedSchema }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

function readAndCheck(schema: JsonObject): ReadAndChecked {
  const report = new SchemaReport();
  const read = checkJson(schema, report) ? readSchema(schema, report) : undefined;
  if (read !== undefined && report.problems.length === 0) checkTree(read, report);
  if (read === undefined || report.problems.length > 0) return { ok: false, problems: report.problems };
  return {
    ok: true,
    read,
    checked: {
      properties: declaredProperties(read.root),
      closed: isClosed(read.root),
      warnings: report.warnings,
      contradictions: report.contradictions,
    },
  };
}

const scalarTypes: ReadonlySet<JsonType> = new Set(["string", "number", "integer", "boolean", "null"]);
const maxDefaultIndexes = 16;

/** The indexes if none are named: the first 16 declared top-level scalars. */
export function defaultIndexes(schema: CheckedSchema): readonly IndexField[] {
  const scalars = [...schema.properties.values()].filter(
    ({ path, types }) => path.length === 1 && types.length > 0 && types.every((type) => scalarTypes.has(type)),
  );
  return scalars.slice(0, maxDefaultIndexes).map(({ name, path }) => ({ name, path }));
}

/** The declared property of this name; one literally named `a.b` wins over the path `a` → `b`. */
export function resolveField(schema: CheckedSchema, name: string): DeclaredProperty | undefined {
  return schema.properties.get(name);
}
