// Turns query text into decoded parameters, and the names in them into fields, such as those that
// `_fields` keeps. Refuses with `invalid_parameter` repeated parameters, bad encoding, unknown
// fields, and too many.

import { Problem } from "../../../core/errors/problem.ts";
import { percentDecoded } from "../../../core/http/percent-decoded.ts";
import { type Selection, selectionOf } from "../../../core/json/selection.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import type { DeclaredProperty } from "../../../core/schema/declared-properties.ts";
import { maxDepth } from "../../store/ports/documents.ts";

export type Parameters = ReadonlyMap<string, string>;

/** More than any request needs, and few enough to check each. */
export const maxParameters = 100;

export function queryParameters(query: string): Parameters {
  const parameters = new Map<string, string>();
  if (query === "") return parameters;
  for (const piece of piecesOf(query)) {
    if (piece === "") continue;
    const equals = piece.indexOf("=");
    const name = decode(encodedName(piece));
    // jQuery and others append `_=<time>` to get past caches.
    if (name === "_") continue;
    if (parameters.has(name)) throw new Problem("invalid_parameter", `\`${name}\` is sent twice; send it once`);
    parameters.set(name, equals < 0 ? "" : decode(piece.slice(equals + 1)));
  }
  return parameters;
}

function piecesOf(query: string): readonly string[] {
  const pieces = query.split("&", maxParameters + 1);
  if (pieces.length <= maxParameters) return pieces;
  throw new Problem("invalid_parameter", `A query may have at most ${maxParameters} parameters`);
}

function encodedName(piece: string): string {
  const equals = piece.indexOf("=");
  return equals < 0 ? piece : piece.slice(0, equals);
}

function tryDecode(text: string): string | undefined {
  return percentDecoded(text.replaceAll("+", " "));
}

function decode(text: string): string {
  const decoded = tryDecode(text);
  if (decoded !== undefined) return decoded;
  throw new Problem("invalid_parameter", "The query is not percent-encoded UTF-8; write `%25` for a percent sign");
}

export function wholeNumber(
  parameters: Parameters,
  name: string,
  bounds: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const text = parameters.get(name);
  if (text === undefined) return bounds.fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const range = name === "_limit" ? `from ${bounds.min} to ${bounds.max}` : `of at least ${bounds.min}`;
  throw new Problem("invalid_parameter", `\`${name}\` must be a whole number ${range}`);
}

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
  const names = resolveField(schema, text) === undefined ? text.split(",", maxFields + 1) : [text];
  if (names.length > maxFields) throw new Problem("invalid_parameter", `\`_fields\` takes at most ${maxFields} fields`);
  return selectionOf([["id"], ...names.map((name) => pathOfChosen(name, schema))]);
}

/** For a request for one object, which ignores all other parameters. */
export function chosenFieldsOf(query: string, schema: CompiledSchema): Selection | undefined {
  const isSent = piecesOf(query).some((piece) => tryDecode(encodedName(piece)) === "_fields");
  return isSent ? chosenFields(queryParameters(query).get("_fields"), schema) : undefined;
}

function pathOfChosen(name: string, schema: CompiledSchema): readonly string[] {
  if (name === "") {
    throw new Problem(
      "invalid_parameter",
      "`_fields` must name fields, separated by commas, as in `_fields=title,author.name`",
    );
  }
  const path = ownFields.get(name) ?? pathOf(name, schema);
  // Objects nest no deeper, and what is chosen is kept level by level.
  if (path !== undefined && path.length > maxDepth) {
    throw new Problem(
      "invalid_parameter",
      `A name in \`_fields\` may have at most ${maxDepth} parts, separated by dots`,
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

/** Where the field is; undefined when no object can have it. A property named `a.b` comes first. */
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

export const createdField = "_metadata.created";

const declared: readonly DeclaredProperty[] = [
  { name: createdField, path: ["_metadata", "created"], types: ["integer"] },
  { name: "_metadata.creator", path: ["_metadata", "creator"], types: ["string"] },
  { name: "_metadata.creator_type", path: ["_metadata", "creator_type"], types: ["string"] },
];

export const serviceFields: ReadonlyMap<string, DeclaredProperty> = new Map(
  declared.map((property) => [property.name, property]),
);
