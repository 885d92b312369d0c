// Makes one small object that matches a schema, to show in a command line or a description: the
// schema's own example, else the required members with plain values. Undefined rather than an
// object that the schema refuses.

import type { JsonObject } from "../config/types.ts";
import { isObject } from "../json/json-value.ts";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { examplesOf, sampleValue } from "./sample-value.ts";

/** JSON text of an object that the schema accepts; `known` spares compiling it again. */
export function sampleObject(schema: JsonObject, known?: CompiledSchema): string | undefined {
  const compiled = known === undefined ? compileSchema(schema) : ({ ok: true, schema: known } as const);
  if (!compiled.ok) return undefined;
  const candidates = [...examplesOf(schema), sampleValue(schema, { root: schema, name: "text", depth: 0 })];
  const fitting = candidates.find((candidate) => {
    const text = JSON.stringify(candidate);
    return isObject(candidate) && compiled.schema.validate(candidate, text).length === 0;
  });
  return fitting === undefined ? undefined : JSON.stringify(fitting);
}
