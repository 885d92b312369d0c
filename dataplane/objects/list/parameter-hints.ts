// Guesses what an unknown parameter of a list was meant to be: an operator in the spelling of other services, such as json-server's
// `qty_gte`, or a name with a typing error; and what a value of `null` was meant to find. Pure; the work
// is bounded, whatever the name.

import { operatorNamed, operatorsFor } from "../../../core/filter-operators.ts";
import { nearest } from "../../../core/nearest.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import { serviceFields } from "./service-fields.ts";

/** What other services page and sort by. */
const foreignParameters: ReadonlyMap<string, string> = new Map([
  ["_page", "`_limit` and `_offset`"],
  ["_per_page", "`_limit`"],
  ["_start", "`_offset`"],
  ["_end", "`_offset` and `_limit`"],
  ["_order", "`_sort=-field` for descending order"],
]);

/** `qty_gte`, `qty__gte`, `qty.gte`, `qty[gte]`, `qty[$gte]`. */
const operatorForm = /^(.+?)(?:_{1,2}|\.|\[\$?)([A-Za-z]{2,10})\]?$/;
/** A name longer than any that a person mistypes is not looked at. */
const maxLength = 128;
const maxCandidates = 40;

/** What to write instead, as a sentence; undefined when nothing is alike. */
export function parameterHint(name: string, schema: CompiledSchema, reserved: ReadonlySet<string>): string | undefined {
  if (name.length > maxLength) return undefined;
  const foreign = foreignParameters.get(name);
  if (foreign !== undefined) return `write ${foreign}.`;
  const operator = operatorHint(name, schema);
  if (operator !== undefined) return `write \`${operator}\`.`;
  const candidates = [...reserved, ...serviceFields.keys(), ...[...schema.properties.keys()].slice(0, maxCandidates)];
  const meant = nearest(name, candidates);
  return meant === undefined ? undefined : `did you mean \`${meant}\`?`;
}

/** What a value of `null` most likely asks for; empty for other values. */
export function nullHint(name: string, value: string): string {
  return value === "null" ? `; \`${name}:exists=false\` finds objects without it` : "";
}

function operatorHint(name: string, schema: CompiledSchema): string | undefined {
  const [, field = "", suffix = ""] = operatorForm.exec(name) ?? [];
  const property = resolveField(schema, field) ?? serviceFields.get(field);
  const operator = operatorNamed(suffix);
  if (property === undefined || operator === undefined || !operatorsFor(property.types).includes(operator))
    return undefined;
  return operator === "eq" ? field : `${field}:${operator}`;
}
