// What to write in place of a mistake, as far as the schema says: for people, after the API
// server's message.

import type { Json, JsonObject } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { nearest } from "../nearest.ts";
import { fieldText, type ManifestPath } from "./field-errors.ts";
import { hasType, nodeOf, type SchemaNode } from "./schema-node.ts";

/** An object of the manifest on the way to a field. */
export interface Enclosing {
  readonly schema: SchemaNode;
  readonly value: JsonObject;
  readonly path: ManifestPath;
}

/** Fields that other systems have, and nothing stands for here. */
const unwanted: ReadonlyMap<string, string> = new Map([
  ["clientSecret", "a client that pages sign in with is public and has no secret, leave it out"],
]);

/** Of a field that `parent` does not know; `above` begins with what encloses the parent. */
export function unknownFieldAdvice(name: string, parent: Enclosing, above: readonly Enclosing[]): string {
  const reason = unwanted.get(name);
  if (reason !== undefined) return `: ${reason}`;
  const location = locationBelow(name, parent) ?? locationAbove(name, parent, above);
  if (location !== undefined) return `: write it in ${location}`;
  const known = Object.keys(parent.schema.properties ?? {});
  const meant = nearest(name, known) ?? known.find((field) => field === `${name}SecretRef`) ?? missing(name, parent);
  return meant === undefined ? "" : `, did you mean ${JSON.stringify(meant)}?`;
}

/** The one object in it that may have the field, and hasn't. */
function locationBelow(name: string, { schema, value, path }: Enclosing): string | undefined {
  const member = value[name] ?? null;
  const locations = Object.entries(schema.properties ?? {}).filter(([property, node]) => {
    const there = value[property];
    return takes(node, name, member) && (there === undefined || (isObject(there) && !Object.hasOwn(there, name)));
  });
  const [first, ...others] = locations;
  return first === undefined || others.length > 0 ? undefined : `${fieldText([...path, first[0]])}, one level down`;
}

/** The next object around it that may have the field, and hasn't. */
function locationAbove(name: string, parent: Enclosing, above: readonly Enclosing[]): string | undefined {
  const member = parent.value[name] ?? null;
  const found = above.find(({ schema, value }) => takes(schema, name, member) && !Object.hasOwn(value, name));
  if (found === undefined || found.path.length === 0) return undefined;
  const isNext = parent.path.length - found.path.length === 1;
  return `${fieldText(found.path)}, ${isNext ? "one level" : "further"} up`;
}

function takes({ properties = {} }: SchemaNode, name: string, member: Json): boolean {
  const node = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return node !== undefined && hasType(node, member);
}

/** Where one field is missing and one is unknown, one was meant by the other. */
function missing(name: string, { schema, value }: Enclosing): string | undefined {
  const isUnknown = (field: string): boolean => nodeOf(schema, field) === undefined;
  const absent = (schema.required ?? []).filter((field) => !Object.hasOwn(value, field));
  const [only, ...others] = absent;
  if (only === undefined || others.length > 0 || Object.keys(value).filter(isUnknown).length > 1) return undefined;
  return takes(schema, only, value[name] ?? null) ? only : undefined;
}

/** What to write in place of a value. */
export interface Replacement {
  readonly text: string;
  /** Absent where parts of the text are left to the reader. */
  readonly value?: Json;
}

/** For a value that is not of its schema's type. */
export function replacementOf(schema: SchemaNode, value: Json, path: ManifestPath): Replacement | undefined {
  // Who writes a password where a Secret's name belongs must not find it in the log of a pipeline.
  const isSecret = path.some((part) => /secret|password/i.test(String(part)));
  return wrapped(schema, value, isSecret ? { text: "…" } : writtenOf(value));
}

function writtenOf(value: Json): Replacement {
  const text = shown(value);
  return isArray(value) || isObject(value) ? { text } : { text, value };
}

/** `value` inside of the list, or of the one field, that the schema wants around it. */
function wrapped(schema: SchemaNode, value: Json, written: Replacement): Replacement | undefined {
  if (schema.type === "object") {
    // Who writes true wants it switched on.
    return value === true && isComplete(schema) ? { text: "{}", value: {} } : inObject(schema, value, written);
  }
  const { type, items } = schema;
  if (type !== "array" || items?.type === undefined) return undefined;
  const item = hasType(items, value) ? written : wrapped(items, value, written);
  return item && { text: `[${item.text}]`, ...(item.value !== undefined && { value: [item.value] }) };
}

/** Whether nothing has to be written into it. */
function isComplete({ properties = {}, required = [], minProperties = 0 }: SchemaNode): boolean {
  return (
    required.length === 0 && minProperties === 0 && Object.values(properties).every((node) => !hasType(node, true))
  );
}

function inObject(
  { properties = {}, required }: SchemaNode,
  value: Json,
  written: Replacement,
): Replacement | undefined {
  if (isArray(value) || isObject(value)) return undefined;
  const names = required ?? Object.keys(properties);
  const fields = names.map((name) => ({ name, node: properties[name] ?? {} }));
  const [first, ...others] = fields;
  if (first === undefined) return undefined;
  if (others.length > 0) return fields.every(({ node }) => hasType(node, value)) ? { text: blank(names) } : undefined;
  const { name, node } = first;
  // A list may be next to the field that is meant: a text in place of an issuer is none of its
  // audiences.
  if (node.type === "array") return undefined;
  const inner = hasType(node, value) ? written : wrapped(node, value, written);
  return (
    inner && {
      text: `{ ${name}: ${inner.text} }`,
      ...(inner.value !== undefined && { value: { [name]: inner.value } }),
    }
  );
}

function blank(names: readonly string[]): string {
  return `{ ${names.map((name) => `${name}: …`).join(", ")} }`;
}

const maxShown = 100;

/** As YAML. */
function shown(value: Json): string {
  if (isObject(value)) return blank(Object.keys(value).slice(0, 8));
  if (typeof value !== "string") return isArray(value) ? "…" : JSON.stringify(value);
  if (value.length > maxShown) return "…";
  const isPlain = /^[A-Za-z][\w./@-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** For a text that breaks a rule: a similar one that breaks none. */
export function ruleAdvice(value: string, isValid: (text: string) => boolean): string {
  const trimmed = value.trim();
  // A field that takes any word is neither a duration nor a URL.
  const others = isValid("word") ? [] : [...durationsBeside(trimmed), ...urlsBeside(trimmed)];
  const found = [trimmed, trimmed.toLowerCase(), ...others].find((text) => text !== value && isValid(text));
  return found === undefined ? "" : `: write ${JSON.stringify(found)}`;
}

/** Seconds of each unit; a number alone is one of seconds. */
const units: readonly (readonly [unit: RegExp, seconds: number])[] = [
  [/^(?:s|secs?|seconds?)?$/, 1],
  [/^(?:m|mins?|minutes?)$/, 60],
  [/^(?:h|hrs?|hours?)$/, 3600],
  [/^(?:d|days?)$/, 86_400],
  [/^(?:w|weeks?)$/, 604_800],
];

/** The same time in seconds, minutes and hours, as far as these are whole. */
function durationsBeside(trimmed: string): readonly string[] {
  const [, amount = "", name = ""] = /^(\d+(?:\.\d+)?) *([a-z]*)$/.exec(trimmed.toLowerCase()) ?? [];
  const [, seconds = 0] = units.find(([unit]) => unit.test(name)) ?? [];
  const total = Number(amount) * seconds;
  const parts = [total, total / 60, total / 3600];
  return ["s", "m", "h"].flatMap((unit, index) => (Number.isInteger(parts[index]) ? [`${parts[index]}${unit}`] : []));
}

function urlsBeside(trimmed: string): readonly string[] {
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  return [
    ...(trimmed.includes("://") ? [] : [`https://${trimmed}`]),
    trimmed.replace(/^http:\/\//i, "https://"),
    ...(url === undefined ? [] : [url.host, url.origin]),
  ];
}
