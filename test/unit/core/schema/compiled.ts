// Compiles schemas for tests and validates JSON texts as the data plane does.

import type { JsonObject } from "../../../../core/config/types.ts";
import type { ProblemItem } from "../../../../core/errors/problem.ts";
import { type CompiledSchema, compileSchema } from "../../../../core/schema/compile-schema.ts";
import type { SchemaProblem } from "../../../../core/schema/read/report.ts";

/** The schema, which must compile. */
export function compiled(schema: unknown): CompiledSchema {
  const result = compileSchema(schema as JsonObject);
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.problems)}`);
  return result.schema;
}

/** What is wrong with the schema; empty when it compiles. */
export function problemsOf(schema: unknown): readonly SchemaProblem[] {
  const result = compileSchema(schema as JsonObject);
  return result.ok ? [] : result.problems;
}

/** The failures of an object, given as JSON text or as a value. */
export function failuresOf(schema: unknown, object: unknown): readonly ProblemItem[] {
  const text = typeof object === "string" ? object : JSON.stringify(object);
  return compiled(schema).validate(JSON.parse(text), text);
}

/** Whether the schema accepts `value` as the member `v`. */
export function accepts(schema: unknown, value: unknown, draft?: string): boolean {
  return failuresOf(asMember(schema, draft), { v: value }).length === 0;
}

/**
 * An object schema whose member `v` is the schema; `$defs` move to the root, where references look
 * for them.
 */
export function asMember(schema: unknown, draft?: string): unknown {
  const isObject = typeof schema === "object" && schema !== null;
  const { $defs, definitions, ...rest } = (isObject ? schema : {}) as Readonly<Record<string, unknown>>;
  return {
    ...(draft === undefined ? {} : { $schema: draft }),
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
    properties: { v: isObject ? rest : schema },
  };
}

export const draft04 = "http://json-schema.org/draft-04/schema#";
export const draft06 = "http://json-schema.org/draft-06/schema#";
export const draft07 = "http://json-schema.org/draft-07/schema#";
export const draft2020 = "https://json-schema.org/draft/2020-12/schema";
