// Turns the query text of a list into paging, sorting and filters. Refuses unknown, repeated and malformed parameters with
// `invalid_parameter`, saying what is allowed.

import type { ProjectConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";
import { canonicalJson } from "../../core/json/canonical.ts";
import { type CompiledSchema, type DeclaredProperty, resolveField } from "../../core/schema/compile-schema.ts";

export interface SortKey {
  /** As in the query, without the leading minus. */
  readonly name: string;
  readonly path: readonly string[];
  readonly descending: boolean;
  /** False when it sorts as the default order does. */
  readonly byValue: boolean;
}

export interface Filter {
  readonly name: string;
  readonly path: readonly string[];
  /** JSON texts, any of which the value may equal. */
  readonly values: readonly string[];
}

export interface ListQuery {
  readonly limit: number;
  readonly offset: number;
  readonly sort: SortKey | undefined;
  readonly filters: readonly Filter[];
  /** Sort and filters as links repeat them: percent-encoded, each with a leading `&`, or empty. */
  readonly suffix: string;
}

const creationOrder = new Set(["id", "_metadata.created"]);
const defaultLimit = 10;

export function validateList(query: string, schema: CompiledSchema, project: ProjectConfig): ListQuery {
  const parameters = parse(query);
  const limit = wholeNumber(parameters, "_limit", { fallback: defaultLimit, min: 1, max: project.limits.maxPageSize });
  const offset = wholeNumber(parameters, "_offset", { fallback: 0, min: 0, max: Number.POSITIVE_INFINITY });
  const sort = sortKey(parameters.get("_sort"), schema);
  const filters: Filter[] = [];
  for (const [name, value] of parameters) {
    if (!listParameters.has(name)) filters.push(filter(name, value, schema));
  }
  // Past the end is past the end: an offset beyond all integers that can be counted with is as good as the largest.
  return { limit, offset: Math.min(offset, Number.MAX_SAFE_INTEGER), sort, filters, suffix: suffix(parameters) };
}

const listParameters = new Set(["_limit", "_offset", "_sort"]);

function parse(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (query === "") return parameters;
  for (const piece of query.split("&")) {
    if (piece === "") continue;
    const equals = piece.indexOf("=");
    const name = decode(equals < 0 ? piece : piece.slice(0, equals));
    // jQuery and others append `_=<time>` to get past caches.
    if (name === "_") continue;
    if (parameters.has(name)) throw new Problem("invalid_parameter", `\`${name}\` is given twice; give it once`);
    parameters.set(name, equals < 0 ? "" : decode(piece.slice(equals + 1)));
  }
  return parameters;
}

function decode(text: string): string {
  const decoded = percentDecoded(text.replaceAll("+", " "));
  if (decoded !== undefined) return decoded;
  throw new Problem("invalid_parameter", "The query is not percent-encoded UTF-8; write `%25` for a percent sign");
}

function wholeNumber(
  parameters: ReadonlyMap<string, string>,
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

function sortKey(text: string | undefined, schema: CompiledSchema): SortKey | undefined {
  if (text === undefined) return undefined;
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text;
  if (name === "")
    throw new Problem("invalid_parameter", "`_sort` must name a field, as in `_sort=title` or `_sort=-title`");
  if (creationOrder.has(name)) return { name, path: [name], descending, byValue: false };
  const declared = resolveField(schema, name);
  if (!declared && name.includes(",")) {
    throw new Problem("invalid_parameter", `\`_sort\` takes one field; the schema has no field \`${name}\``);
  }
  if (!declared && schema.closed && !reachesOpenMember(name, schema)) {
    throw new Problem(
      "invalid_parameter",
      `\`_sort\`: the schema has no field \`${name}\`; it has ${fieldNames(schema)}`,
    );
  }
  return { name, path: declared?.path ?? name.split("."), descending, byValue: true };
}

/** `meta.colour` of a closed schema whose `meta` is declared, but whose members are not. */
function reachesOpenMember(name: string, schema: CompiledSchema): boolean {
  const dot = name.indexOf(".");
  return dot > 0 && resolveField(schema, name.slice(0, dot)) !== undefined;
}

function filter(name: string, value: string, schema: CompiledSchema): Filter {
  const declared = resolveField(schema, name);
  if (!declared) throw unknownParameter(name, schema);
  return { name, path: declared.path, values: literals(declared, value) };
}

function unknownParameter(name: string, schema: CompiledSchema): Problem {
  return new Problem(
    "invalid_parameter",
    `There is no parameter \`${name}\`; allowed are _limit, _offset, _sort and ${fieldNames(schema)}`,
  );
}

function fieldNames(schema: CompiledSchema): string {
  const names = [...schema.properties.keys()];
  if (names.length === 0) return "no fields";
  return names.length > 40 ? `${names.slice(0, 40).join(", ")} and more` : names.join(", ");
}

function literals(property: DeclaredProperty, value: string): readonly string[] {
  const only = property.types.length === 1 ? property.types[0] : undefined;
  if (only === "string") return [JSON.stringify(value)];
  const literal = scalarLiteral(value);
  if (only === undefined) return literal === undefined ? [JSON.stringify(value)] : [literal, JSON.stringify(value)];
  if (only === "array" || only === "object") {
    throw new Problem("invalid_parameter", `\`${property.name}\` holds ${only}s and can't be filtered by value`);
  }
  if (literal === undefined || !literalFits(literal, only)) {
    throw new Problem("invalid_parameter", `\`${property.name}\` must be ${expectation[only]}`);
  }
  return [literal];
}

const expectation = {
  number: "a number, as in `12.5`",
  integer: "a whole number",
  boolean: "`true` or `false`",
  null: "`null`",
} as const;

function scalarLiteral(value: string): string | undefined {
  const result = canonicalJson(value, 0);
  return result.ok && result.json.kind !== "array" && result.json.kind !== "object" ? result.json.text : undefined;
}

function literalFits(literal: string, type: keyof typeof expectation): boolean {
  const value: unknown = JSON.parse(literal);
  if (type === "null") return value === null;
  if (type === "boolean") return typeof value === "boolean";
  return typeof value === "number" && (type === "number" || Number.isInteger(value));
}

function suffix(parameters: ReadonlyMap<string, string>): string {
  const sort = parameters.get("_sort");
  let text = sort === undefined ? "" : `&_sort=${encodeURIComponent(sort)}`;
  for (const [name, value] of parameters) {
    if (!listParameters.has(name)) text += `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}
