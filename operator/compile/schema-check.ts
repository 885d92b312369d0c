// Asks the schema compiler whether a schema can be used, once per schema object: one reconcile touches a whole project,
// and compiling takes milliseconds per schema.

import type { JsonObject } from "../../core/config/types.ts";
import { compileSchema, type SchemaResult } from "../../core/schema/compile-schema.ts";

export type CheckSchema = (schema: JsonObject) => SchemaResult;

/** Remembers answers by the schema's identity for as long as the object that holds it lives. */
export function createSchemaCheck(): CheckSchema {
  const answers = new WeakMap<JsonObject, SchemaResult>();
  return (schema) => {
    const known = answers.get(schema);
    if (known !== undefined) return known;
    const answer = compileSchema(schema);
    answers.set(schema, answer);
    return answer;
  };
}
