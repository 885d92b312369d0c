// Makes a resource's configuration live by compiling its schema, which is kept when it did not change. Refuses, with the
// schema's problems, what can't be compiled.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject, ResourceConfig } from "../../core/config/types.ts";
import { compileSchema, type SchemaProblem, type SchemaResult } from "../../core/schema/compile-schema.ts";
import type { LiveResource } from "./directory.ts";

export type LiveResourceResult =
  | { readonly ok: true; readonly resource: LiveResource }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** `compileSchema`, or one that remembers what it has compiled. */
export type CompileSchema = (schema: JsonObject) => SchemaResult;

/** The very resource `before` when its configuration is the same; else one with `revision`. */
export function makeLiveResource(
  config: ResourceConfig,
  before: LiveResource | undefined,
  revision: number,
  compile: CompileSchema = compileSchema,
): LiveResourceResult {
  if (before !== undefined && isDeepStrictEqual(before.config, config)) return { ok: true, resource: before };
  const reusable = before !== undefined && isDeepStrictEqual(before.config.schema, config.schema);
  const compiled = reusable ? { ok: true as const, schema: before.schema } : compile(config.schema);
  if (!compiled.ok) return compiled;
  return { ok: true, resource: Object.freeze({ config, schema: compiled.schema, revision }) };
}
