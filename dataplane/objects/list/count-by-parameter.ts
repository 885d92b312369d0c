// Turns `_count_by` into the field by whose values objects are counted. Refuses with
// `invalid_parameter` a field without values to tell apart, and parameters for pages beside it.

import { Problem } from "../../../core/errors/problem.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import { fieldNames, type Parameters } from "./query-parameters.ts";
import type { SortKey } from "./sort.ts";

export const countByParameter = "_count_by";

/** What shows objects, of which there are none. */
const ofPages = ["_limit", "_offset", "_cursor", "_sort", "_fields", "_count", "_etags"];

export function countedField(parameters: Parameters, schema: CompiledSchema): SortKey | undefined {
  const name = parameters.get(countByParameter);
  if (name === undefined) return undefined;
  const unused = ofPages.find((each) => parameters.has(each) && !schema.properties.has(each));
  if (unused !== undefined) {
    throw new Problem("invalid_parameter", `\`${countByParameter}\` shows no objects; leave \`${unused}\` out`);
  }
  const field = resolveField(schema, name);
  if (field === undefined) {
    throw new Problem(
      "invalid_parameter",
      `\`${countByParameter}\` must name one field of the schema, which has ${fieldNames(schema)}`,
    );
  }
  const { types } = field;
  if (types.length > 0 && types.every((type) => type === "array" || type === "object")) {
    throw new Problem(
      "invalid_parameter",
      `\`${name}\` holds ${types.join("s and ")}s, which can't be counted by value`,
    );
  }
  return { name, path: field.path, descending: false };
}
