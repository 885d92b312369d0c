// Makes a resource's configuration live by compiling its schema, which is kept when it did not change. Refuses, with the
// schema's problems, what can't be compiled.

import { isDeepStrictEqual } from "node:util";
import type { ResourceConfig } from "../../core/config/types.ts";
import { compileSchema } from "../../core/schema/compile-schema.ts";
import type { SchemaProblem } from "../../core/schema/read/report.ts";
import type { LiveResource } from "./directory.ts";

export type LiveResourceResult =
  | { readonly ok: true; readonly resource: LiveResource }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * The very resource `before` when it has this configuration and revision. A configuration that was changed and changed back is the
 * same, and newer: other replicas declared indexes by the one between, and only the newer revision puts these in force again.
 */
export function makeLiveResource(
  config: ResourceConfig,
  before: LiveResource | undefined,
  revision: number,
): LiveResourceResult {
  const isSame = before?.revision === revision && isDeepStrictEqual(before.config, config);
  if (isSame) return { ok: true, resource: before };
  const reusable = before !== undefined && isDeepStrictEqual(before.config.schema, config.schema);
  const compiled = reusable ? { ok: true as const, schema: before.schema } : compileSchema(config.schema);
  if (!compiled.ok) return compiled;
  return { ok: true, resource: Object.freeze({ config, schema: compiled.schema, revision }) };
}
