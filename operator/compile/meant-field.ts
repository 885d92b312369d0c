// What to write in the place of a field that the schema doesn't declare.

import { nearest } from "../../core/nearest.ts";
import type { CheckedSchema } from "../../core/schema/compile-schema.ts";

/** Of a field that has to be declared. */
export function undeclared(schema: CheckedSchema, name: string): string {
  return `The schema declares no "${name}"${meant(schema, name)}`;
}

const maxShown = 16;

/** What was probably meant by the name of a field, or which ones there are; begins with a colon. */
export function meant({ properties }: CheckedSchema, name: string): string {
  const names = [...properties.keys()];
  const near = nearest(name, names);
  if (near !== undefined) return `: did you mean "${near}"?`;
  return names.length === 0 ? "" : `: write one of ${names.slice(0, maxShown).join(", ")}`;
}
