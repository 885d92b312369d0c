// Checks whether a schema can be used, once per schema object: a reconcile touches a whole project. Nothing is validated here, so that
// no validator is compiled.

import type { JsonObject } from "../../core/config/types.ts";
import { type CheckedSchema, checkSchema, type SchemaResult } from "../../core/schema/compile-schema.ts";

export type CheckSchema = (schema: JsonObject) => SchemaResult<CheckedSchema>;

/** Remembers answers by the schema's identity for as long as the object that holds it lives. */
export function createSchemaCheck(): CheckSchema {
  const answers = new WeakMap<JsonObject, SchemaResult<CheckedSchema>>();
  return (schema) => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    const answer = checkSchema(schema);
    answers.set(schema, answer);
    return answer;
  };
}
