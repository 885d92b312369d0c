// Turns `_fields` into what is kept of every object that is shown: the fields it names, and always `id`. Refuses with
// `invalid_parameter` fields that no object can have, and too many.

import { Problem } from "../../../core/errors/problem.ts";
import { type Selection, selectionOf } from "../../../core/json/selection.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import { maxDepth } from "../../http/read-body.ts";
import { queryParameters } from "./query-parameters.ts";

export const maxFields = 100;
const ownFields: ReadonlyMap<string, readonly string[]> = new Map(
  ["id", "_metadata", "_metadata.created", "_metadata.creator", "_metadata.creator_type"].map((name) => [
    name,
    name.split("."),
  ]),
);

/** Undefined = everything. */
export function chosenFields(text: string | undefined, schema: CompiledSchema): Selection | undefined {
  if (text === undefined) return undefined;
  const names = resolveField(schema, text) === undefined ? text.split(",") : [text];
  if (names.length > maxFields) throw new Problem("invalid_parameter", `\`_fields\` takes at most ${maxFields} fields`);
  return selectionOf([["id"], ...names.map((name) => pathOfChosen(name, schema))]);
}

/** Of a request for one object, which ignores all other parameters. */
export function chosenFieldsOf(query: string, schema: CompiledSchema): Selection | undefined {
  return query.includes("fields") ? chosenFields(queryParameters(query).get("_fields"), schema) : undefined;
}

function pathOfChosen(name: string, schema: CompiledSchema): readonly string[] {
  if (name === "") {
    throw new Problem(
      "invalid_parameter",
      "`_fields` must name fields with commas between them, as in `_fields=title,author.name`",
    );
  }
  const path = ownFields.get(name) ?? pathOf(name, schema);
  // Objects nest no deeper, and what is chosen is kept level by level.
  if (path !== undefined && path.length > maxDepth) {
    throw new Problem(
      "invalid_parameter",
      `\`_fields\` takes names of at most ${maxDepth} parts with dots between them`,
    );
  }
  if (path !== undefined) return path;
  throw new Problem(
    "invalid_parameter",
    `\`_fields\`: the schema has no field \`${name}\`; it has id, _metadata and ${fieldNames(schema)}`,
  );
}

export function fieldNames(schema: CompiledSchema): string {
  const names = [...schema.properties.keys()];
  if (names.length === 0) return "no fields";
  return names.length > 40 ? `${names.slice(0, 40).join(", ")} and more` : names.join(", ");
}

/** Where the field stands; undefined when no object of the schema can have it. A property literally named `a.b` wins. */
export function pathOf(name: string, schema: CompiledSchema): readonly string[] | undefined {
  const declared = resolveField(schema, name);
  if (declared !== undefined) return declared.path;
  return schema.closed && !reachesOpenMember(name, schema) ? undefined : name.split(".");
}

/** `meta.colour` of a closed schema whose `meta` is declared, but whose members are not. */
function reachesOpenMember(name: string, schema: CompiledSchema): boolean {
  const dot = name.indexOf(".");
  return dot > 0 && resolveField(schema, name.slice(0, dot)) !== undefined;
}
