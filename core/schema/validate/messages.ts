// Turns a failure into the entry that a client sees: pointer, keyword and a sentence that says what the value must be. Long
// names and values are cut, so that no answer grows with the body.

import type { Json } from "../../config/types.ts";
import type { ProblemItem } from "../../errors/problem.ts";
import { segmentsOf } from "../../json/json-pointer.ts";
import type { Failure } from "./context.ts";
import { neverKeyword } from "./emit-schema.ts";

const maxQuoted = 64;
const maxAllowedValues = 20;
const maxPointer = 1024;

export function problemItem(failure: Failure): ProblemItem {
  const pointer = cutPointer(failure.instancePath ?? "");
  if (failure.keyword === neverKeyword) {
    const keyword = String(failure.params.refusedBy);
    return { pointer, keyword, message: refusalBy(keyword, pointer) };
  }
  return { pointer, keyword: failure.keyword, message: messageOf(failure) };
}

/** A name in quotes, cut when it is long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > maxQuoted ? `${name.slice(0, maxQuoted).toWellFormed()}…` : name);
}

/** `"a"`, `one of "a", "b"`, cut when there are many. */
export function allowedValues(values: readonly Json[]): string {
  const texts = values.slice(0, maxAllowedValues).map((value) => {
    const text = JSON.stringify(value);
    return text.length > maxQuoted ? `${text.slice(0, maxQuoted).toWellFormed()}…` : text;
  });
  const more = values.length > maxAllowedValues ? ` or one of ${values.length - maxAllowedValues} more` : "";
  return values.length === 1 ? texts.join() : `one of ${texts.join(", ")}${more}`;
}

/** A pointer longer than any sensible one is cut to the deepest container that fits. */
function cutPointer(pointer: string): string {
  if (pointer.length <= maxPointer) return pointer;
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf("/", maxPointer)));
}

function refusalBy(keyword: string, pointer: string): string {
  const name = segmentsOf(pointer).at(-1) ?? "";
  switch (keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
    case "patternProperties":
    case "properties":
      return `The member ${quoted(name)} is not allowed`;
    case "items":
    case "prefixItems":
    case "unevaluatedItems":
      return "There may be no item at this place";
    default:
      return "The schema allows no value here";
  }
}

const messages: Readonly<Record<string, (params: Failure["params"]) => string>> = {
  type: ({ type }) => `Must be ${typeText(String(type))}`,
  maximum: ({ limit }) => `Must be at most ${limit}`,
  exclusiveMaximum: ({ limit }) => `Must be less than ${limit}`,
  minimum: ({ limit }) => `Must be at least ${limit}`,
  exclusiveMinimum: ({ limit }) => `Must be greater than ${limit}`,
  maxLength: ({ limit }) => `Must have at most ${counted(limit, "character")}`,
  minLength: ({ limit }) => `Must have at least ${counted(limit, "character")}`,
  maxItems: ({ limit }) => `Must have at most ${counted(limit, "item")}`,
  minItems: ({ limit }) => `Must have at least ${counted(limit, "item")}`,
  maxProperties: ({ limit }) => `Must have at most ${counted(limit, "member")}`,
  minProperties: ({ limit }) => `Must have at least ${counted(limit, "member")}`,
  format: ({ format }) => `Must be a valid ${format}`,
  required: ({ missingProperty }) => `The member ${quoted(String(missingProperty))} is missing`,
  dependentRequired: ({ missingProperty, property }) =>
    `The member ${quoted(String(missingProperty))} is missing; ${quoted(String(property))} needs it`,
  not: () => "Must not match the schema under not",
  anyOf: () => "Matches none of the alternatives under anyOf",
  oneOf: ({ passingSchemas }) =>
    Array.isArray(passingSchemas)
      ? `Must match exactly one alternative under oneOf, and matches those at ${passingSchemas.join(" and ")}`
      : "Matches none of the alternatives under oneOf",
};

function messageOf({ keyword, params, message }: Failure): string {
  const ready = message ?? params.message;
  if (typeof ready === "string") return ready;
  return Object.hasOwn(messages, keyword) ? (messages[keyword]?.(params) ?? "") : `Fails ${keyword}`;
}

/** `1 item`, `2 items` */
export function counted(limit: unknown, unit: string): string {
  return `${limit} ${unit}${limit === 1 ? "" : "s"}`;
}

const typeTexts: Readonly<Record<string, string>> = {
  integer: "an integer",
  array: "an array",
  object: "an object",
  null: "null",
};

function typeText(types: string): string {
  return types
    .split(",")
    .map((type) => typeTexts[type] ?? `a ${type}`)
    .join(" or ");
}
