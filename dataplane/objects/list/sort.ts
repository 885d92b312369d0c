// Turns `_sort` into the keys of a list's order. Refuses unknown and repeated fields, and too many,
// with `invalid_parameter`.

import { Problem } from "../../../core/errors/problem.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import { fieldNames, pathOf } from "./query-parameters.ts";

export interface SortKey {
  /** As in the query, without the leading minus. */
  readonly name: string;
  readonly path: readonly string[];
  readonly descending: boolean;
}

export interface Order {
  /** Most significant first; none = by creation alone. */
  readonly keys: readonly SortKey[];
  /** Direction of the order of creation among objects that tie: that of the last key. */
  readonly descending: boolean;
}

const creationOrder = new Set(["id", "_metadata.created"]);
export const maxSortKeys = 4;
export const byCreation: Order = { keys: [], descending: false };

export function sortOrder(text: string | undefined, schema: CompiledSchema): Order {
  if (text === undefined) return byCreation;
  if (!text.includes(",")) {
    const key = keyOf(text, schema);
    return { keys: creationOrder.has(key.name) ? [] : [key], descending: key.descending };
  }
  const sortKeys = sortKeysIn(text, schema);
  if (sortKeys.length > maxSortKeys)
    throw new Problem("invalid_parameter", `\`_sort\` takes at most ${maxSortKeys} fields`);
  const named = sortKeys.map((key) => keyOf(key, schema));
  const repeated = named.find(({ name }, at) => named.findIndex((key) => key.name === name) < at);
  if (repeated !== undefined) {
    throw new Problem("invalid_parameter", `\`_sort\` names \`${repeated.name}\` twice; name each field once`);
  }
  // No two objects tie in order of creation: what is named after it decides nothing.
  const creation = named.findIndex(({ name }) => creationOrder.has(name));
  const deciding = creation < 0 ? named : named.slice(0, creation + 1);
  return {
    keys: deciding.filter(({ name }) => !creationOrder.has(name)),
    descending: deciding.at(-1)?.descending ?? false,
  };
}

/** A field with commas in its name is itself before it is several. */
function sortKeysIn(text: string, schema: CompiledSchema): readonly string[] {
  const name = text.startsWith("-") ? text.slice(1) : text;
  return resolveField(schema, name) === undefined ? text.split(",", maxSortKeys + 1) : [text];
}

function keyOf(text: string, schema: CompiledSchema): SortKey {
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text;
  if (name === "") {
    throw new Problem(
      "invalid_parameter",
      "`_sort` must name a field, as in `_sort=title` or `_sort=-title`, or several fields, separated by commas",
    );
  }
  if (creationOrder.has(name)) return { name, path: [name], descending };
  const path = pathOf(name, schema);
  if (path !== undefined) return { name, path, descending };
  throw new Problem(
    "invalid_parameter",
    `\`_sort\`: the schema has no field \`${name}\`; it has ${fieldNames(schema)}`,
  );
}
