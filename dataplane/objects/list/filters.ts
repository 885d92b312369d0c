// Turns `field=value` and `field:operator=value` into filters, with values parsed by the property's
// type. Dates are compared as texts: a date's beginning (`2026-01`) has a place among them, and
// `yesterday` has none. Refuses with `invalid_parameter`, and says what is allowed or was probably
// meant.

import { Problem } from "../../../core/errors/problem.ts";
import { type Operator, operandKind, operatorNamed, operatorsFor } from "../../../core/filter-operators.ts";
import { canonicalJson } from "../../../core/json/canonical.ts";
import { nearest } from "../../../core/nearest.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import type { DateFormat, DeclaredProperty, JsonType } from "../../../core/schema/declared-properties.ts";
import { checkedFormat } from "../../../core/schema/formats.ts";
import { Meter } from "../../../core/schema/meter.ts";
import { fieldNames, type Parameters, serviceFields } from "./query-parameters.ts";

export interface Filter {
  readonly name: string;
  readonly path: readonly string[];
  readonly operator: Operator;
  /** JSON texts, any of which the value may be compared with. */
  readonly values: readonly string[];
  /** What was asked for, as text. */
  readonly text: string;
}

/** A filter costs as much as reading a field of every candidate. */
export const maxFilters = 20;
export const maxListedValues = 100;
/** Each checks every element of every candidate's array. */
const maxContains = 4;

export interface Filters {
  /** An object of the list matches all of them. */
  readonly filters: readonly Filter[];
  /** And at least one of these, those of `_any`; absent = it was not sent. */
  readonly any?: readonly Filter[];
}

export const anyParameter = "_any";

/** `reserved` = the parameters that are no fields. */
export function filtersOf(parameters: Parameters, schema: CompiledSchema, reserved: ReadonlySet<string>): Filters {
  const filters: Filter[] = [];
  for (const [name, value] of parameters) {
    if (!reserved.has(name)) filters.push(filterOf(name, value, { schema, reserved }));
  }
  const text = reserved.has(anyParameter) ? parameters.get(anyParameter) : undefined;
  const any = text === undefined ? undefined : alternativesOf(text, schema);
  requireFew([...filters, ...(any ?? [])]);
  return { filters, ...(any && { any }) };
}

function requireFew(filters: readonly Filter[]): void {
  if (filters.length > maxFilters) {
    throw new Problem("invalid_parameter", `A list takes at most ${maxFilters} filters, those of \`_any\` among them`);
  }
  if (filters.filter(({ operator }) => operator === "contains").length > maxContains) {
    throw new Problem("invalid_parameter", `A list takes at most ${maxContains} filters with \`:contains\``);
  }
}

/** Filters between commas; `\,` is a comma of a filter and `\\` a backslash. */
function alternativesOf(text: string, schema: CompiledSchema): readonly Filter[] {
  const parts = splitAtCommas(text);
  if (parts === undefined) throw new Problem("invalid_parameter", `\`${anyParameter}\`: ${escapeRule}`);
  return parts.map((part) => {
    const equals = part.indexOf("=");
    // `status:open` is short for `status=open`.
    const end = equals < 0 ? part.indexOf(":") : equals;
    if (end > 0) return filterOf(part.slice(0, end), part.slice(end + 1), { schema, reserved: new Set() });
    throw new Problem(
      "invalid_parameter",
      `\`${anyParameter}\` must have filters, separated by commas, as in \`${anyParameter}=status:open,price:lt=5\``,
    );
  });
}

interface Allowed {
  readonly schema: CompiledSchema;
  readonly reserved: ReadonlySet<string>;
}

/** A property whose name has a colon comes before one with an operator. */
function filterOf(parameter: string, text: string, allowed: Allowed): Filter {
  const { schema } = allowed;
  const literal = fieldOf(schema, parameter);
  if (literal !== undefined) {
    return { name: parameter, path: literal.path, operator: "eq", values: valuesOf(literal, "eq", text), text };
  }
  const colon = parameter.lastIndexOf(":");
  const declared = colon < 0 ? undefined : fieldOf(schema, parameter.slice(0, colon));
  if (declared === undefined) throw unknownParameter(parameter, allowed);
  const operator = operatorOf(declared, parameter.slice(colon + 1));
  const { name, path } = declared;
  return { name, path, operator, values: valuesOf(declared, operator, text), text };
}

/** A property of exactly this name comes first. */
export function fieldOf(schema: CompiledSchema, name: string): DeclaredProperty | undefined {
  return resolveField(schema, name) ?? serviceFields.get(name);
}

/** The JSON text of a value of a field that has one scalar type, and perhaps null. */
export function fieldValueOf(schema: CompiledSchema, name: string, text: string): string {
  const { types = [], ...property } = resolveField(schema, name) ?? { name, path: [name] };
  const [value] = valuesOf({ ...property, types: types.filter((type) => type !== "null") }, "eq", text);
  return value ?? JSON.stringify(text);
}

function unknownParameter(name: string, { schema, reserved }: Allowed): Problem {
  const hint = parameterHint(name, schema, reserved);
  const named = [...reserved, ...serviceFields.keys()].join(", ");
  return new Problem(
    "invalid_parameter",
    `Unknown parameter \`${name}\`${hint === undefined ? "; allowed" : `: ${hint} Allowed`} are ${named} and ${fieldNames(schema)}. A field may have an operator, as in \`field:gt\``,
  );
}

function operatorOf(property: DeclaredProperty, name: string): Operator {
  const allowed = operatorsFor(property.types).filter((operator) => operator !== "eq");
  const found = allowed.find((operator) => operator === name);
  if (found !== undefined) return found;
  const meant = operatorNamed(name);
  const hint = operatorHint(property, allowed, meant);
  const holds =
    property.types.length === 0 ? "" : `, which holds ${property.types.map((type) => kinds[type]).join(" or ")}`;
  throw new Problem(
    "invalid_parameter",
    `\`${property.name}\`${holds}, can't be filtered by \`:${name}\`; ${hint} are ${allowed.map((operator) => `:${operator}`).join(" ")}`,
  );
}

function operatorHint({ name }: DeclaredProperty, allowed: readonly Operator[], meant: Operator | undefined): string {
  if (meant === "eq") return `write \`${name}=\` with the value. Allowed`;
  return allowed.some((operator) => operator === meant) ? `write \`:${meant}\`. Allowed` : "allowed";
}

const kinds: Readonly<Record<JsonType, string>> = {
  string: "strings",
  number: "numbers",
  integer: "whole numbers",
  boolean: "true and false",
  null: "null",
  array: "arrays",
  object: "objects",
};

function valuesOf(property: DeclaredProperty, operator: Operator, text: string): readonly string[] {
  requireDate(property, operator, text);
  switch (operandKind(operator)) {
    case "boolean":
      if (text === "true" || text === "false") return [text];
      throw new Problem("invalid_parameter", `\`${property.name}:${operator}\` must be \`true\` or \`false\``);
    case "text":
      return [JSON.stringify(text)];
    case "element":
      // The types of an array's elements are not known here: a text and a literal may be meant.
      return literals({ ...property, types: [] }, text);
    case "list":
      return listed(property, text).flatMap((item) => valuesOf(property, "eq", item));
    case "range":
      return literals(
        { ...property, types: property.types.map((type) => (type === "integer" ? "number" : type)) },
        text,
      );
    case "equal":
      return literals(property, text);
  }
}

/** Items between commas; `\,` is a comma of an item and `\\` a backslash. */
function listed({ name }: DeclaredProperty, text: string): readonly string[] {
  const items = splitAtCommas(text);
  if (items === undefined) {
    throw new Problem("invalid_parameter", `\`${name}:in\`: ${escapeRule}`);
  }
  if (items.length <= maxListedValues) return items;
  throw new Problem("invalid_parameter", `\`${name}:in\` takes at most ${maxListedValues} values`);
}

const escapeRule = "write `\\,` for a comma and `\\\\` for a backslash";

/** Undefined where a backslash is before anything but a comma or a backslash. */
function splitAtCommas(text: string): readonly string[] | undefined {
  const items: string[] = [];
  let item = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charAt(at);
    if (unit === ",") {
      items.push(item);
      item = "";
      continue;
    }
    const escaped = unit === "\\" ? text.charAt(at + 1) : undefined;
    if (escaped !== undefined && escaped !== "," && escaped !== "\\") return undefined;
    item += escaped ?? unit;
    if (escaped !== undefined) at += 1;
  }
  return [...items, item];
}

function literals(property: DeclaredProperty, value: string): readonly string[] {
  const only = property.types.length === 1 ? property.types[0] : undefined;
  if (only === "string") return [JSON.stringify(value)];
  const literal = scalarLiteral(value);
  if (only === undefined) return literal === undefined ? [JSON.stringify(value)] : [literal, JSON.stringify(value)];
  if (only === "array" || only === "object") {
    throw new Problem(
      "invalid_parameter",
      `\`${property.name}\` holds ${only}s, which can't be filtered by value; filter by \`:exists\`${only === "array" ? " or `:contains`" : ""}`,
    );
  }
  if (literal === undefined || !literalFits(literal, only)) {
    throw new Problem(
      "invalid_parameter",
      `\`${property.name}\` must be ${expectation[only]}${nullHint(property.name, value)}`,
    );
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
/** Nobody mistypes a longer name. */
const maxLength = 128;
const maxCandidates = 40;

/** What to write instead, as a sentence; undefined when nothing is alike. */
function parameterHint(name: string, schema: CompiledSchema, reserved: ReadonlySet<string>): string | undefined {
  if (name.length > maxLength) return undefined;
  const foreign = foreignParameters.get(name);
  if (foreign !== undefined) return `write ${foreign}.`;
  const operator = withOwnOperator(name, schema);
  if (operator !== undefined) return `write \`${operator}\`.`;
  const candidates = [...reserved, ...serviceFields.keys(), ...[...schema.properties.keys()].slice(0, maxCandidates)];
  const meant = nearest(name, candidates);
  return meant === undefined ? undefined : `did you mean \`${meant}\`?`;
}

/** What a value of `null` most likely asks for; empty for other values. */
function nullHint(name: string, value: string): string {
  return value === "null" ? `; \`${name}:exists=false\` finds objects without it` : "";
}

function withOwnOperator(name: string, schema: CompiledSchema): string | undefined {
  const [, field = "", suffix = ""] = operatorForm.exec(name) ?? [];
  const property = resolveField(schema, field) ?? serviceFields.get(field);
  const operator = operatorNamed(suffix);
  if (property === undefined || operator === undefined || !operatorsFor(property.types).includes(operator))
    return undefined;
  return operator === "eq" ? field : `${field}:${operator}`;
}

function requireDate({ name, types, format }: DeclaredProperty, operator: Operator, text: string): void {
  if (format === undefined || (text === "null" && types.includes("null"))) return;
  const value = operandKind(operator);
  if (value === "equal" && !isDate(text, format)) throw notADate(name, format, nullHint(name, text));
  if (value === "range" && !isDate(completed(text, format), format)) {
    throw notADate(`${name}:${operator}`, format, ", or its beginning, as in `2026-01`");
  }
}

const beginnings: Readonly<Record<DateFormat, string>> = { date: "0000-01-01", "date-time": "0000-01-01T00:00:00Z" };

/** A year, a month, a day, and whatever part of a time: `2026-1` would come behind September. */
const beginning = /^\d{4}(?:-\d{2}(?:-\d{2}(?:T.*)?)?)?$/;

/** The first date that begins so; what is no beginning stays as it is. */
function completed(text: string, format: DateFormat): string {
  if (!beginning.test(text)) return text;
  const rest = beginnings[format].slice(text.length);
  return text + (rest === "" && /\.\d+$/.test(text) ? "Z" : rest);
}

const maxWork = 10_000;

function isDate(text: string, format: DateFormat): boolean {
  const meter = new Meter();
  meter.left = maxWork;
  return checkedFormat(format)?.fits(text, meter) === true;
}

const examples: Readonly<Record<DateFormat, string>> = { date: "`2026-01-31`", "date-time": "`2026-01-31T09:00:00Z`" };

function notADate(parameter: string, format: DateFormat, orElse: string): Problem {
  const plus = format === "date-time" ? "; in a query, `%2B` is a plus sign" : "";
  return new Problem(
    "invalid_parameter",
    `\`${parameter}\` must be a ${format}, as in ${examples[format]}${orElse}${plus}`,
  );
}
