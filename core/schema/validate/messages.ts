// Turns a failure into the entry that a client sees: pointer, keyword and a sentence that says what
// the value must be. Long names and values are cut, so that no answer grows with the body.

import type { Json } from "../../config/types.ts";
import type { ProblemItem } from "../../errors/problem.ts";
import { childPointer, segmentsOf } from "../../json/json-pointer.ts";
import { checkKeyword } from "./ajv-keywords.ts";
import type { AjvFailure, Failure } from "./context.ts";

const maxQuoted = 64;
const maxAllowedValues = 20;
const maxPointer = 1024;

/** What ajv reports, with messages and as pointers into the value that it was given. */
export function failuresOf(reported: readonly AjvFailure[]): readonly Failure[] {
  // What stands under then and else fails for itself; ajv adds one more entry that says so.
  return reported.filter(({ keyword }) => keyword !== "if").map(failureOf);
}

function failureOf({ keyword, instancePath, params }: AjvFailure): Failure {
  if (keyword !== checkKeyword) {
    // Where it would be, so that a form can show it at its field.
    const { missingProperty } = params;
    const pointer = missingProperty === undefined ? instancePath : childPointer(instancePath, String(missingProperty));
    return { pointer, keyword, message: messages[keyword]?.(params) ?? "" };
  }
  const failure = params as unknown as Failure;
  return { ...failure, pointer: instancePath + failure.pointer };
}

export function problemItem({ pointer, keyword, message }: Failure): ProblemItem {
  return { pointer: cutPointer(pointer), keyword, message: message ?? refusalBy(keyword, pointer) };
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

/** An overlong pointer is cut to the deepest container that fits. */
function cutPointer(pointer: string): string {
  if (pointer.length <= maxPointer) return pointer;
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf("/", maxPointer)));
}

/** Where a subschema is `false`: `keyword` is the one under which it stands. */
function refusalBy(keyword: string, pointer: string): string {
  switch (keyword) {
    case "additionalProperties":
    case "unevaluatedProperties":
    case "patternProperties":
    case "properties":
      return `The member ${quoted(segmentsOf(pointer).at(-1) ?? "")} is not allowed`;
    case "items":
    case "prefixItems":
    case "unevaluatedItems":
      return "No item is allowed at this index";
    default:
      return "The schema allows no value here";
  }
}

const messages: Readonly<Record<string, (params: AjvFailure["params"]) => string>> = {
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
  pattern: ({ pattern }) => `Must match the pattern ${quoted(String(pattern))}`,
  format: ({ format }) => `Must be ${formatTexts[String(format)] ?? `a valid ${format}`}`,
  required: ({ missingProperty }) => `The member ${quoted(String(missingProperty))} is missing`,
  not: () => "Must not match the schema under not",
  anyOf: () => "Matches none of the alternatives under anyOf",
  oneOf: ({ passingSchemas }) =>
    Array.isArray(passingSchemas)
      ? `Must match exactly one alternative under oneOf, and matches those at ${passingSchemas.join(" and ")}`
      : "Matches none of the alternatives under oneOf",
};

const formatTexts: Readonly<Record<string, string>> = {
  byte: "base64",
  date: "a date, YYYY-MM-DD",
  "date-time": "a date and time with its offset, such as 2026-01-31T13:45:00Z",
  duration: "a duration, such as P3D or PT1H30M",
  email: "an email address",
  hostname: "a host name",
  int32: "an integer of 32 bits",
  int64: "an integer of 64 bits",
  ipv4: "an IPv4 address, such as 192.0.2.1",
  ipv6: "an IPv6 address, such as 2001:db8::1",
  "iso-date-time": "a date and time, such as 2026-01-31T13:45:00",
  "iso-time": "a time, such as 13:45:00",
  "json-pointer": "a JSON Pointer, such as /a/0",
  "json-pointer-uri-fragment": "a JSON Pointer in a URI fragment, such as #/a/0",
  "relative-json-pointer": "a relative JSON Pointer, such as 1/a",
  regex: "a regular expression",
  time: "a time with its offset, such as 13:45:00Z",
  uri: "an absolute URI, such as https://example.org/path",
  "uri-reference": "a URI or a relative reference",
  "uri-template": "a URI template, such as https://example.org/{id}",
  uuid: "a UUID, such as 0b6b0a1c-5b0e-4a52-9b0e-6f3b2f5a7a11",
};

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
