// The keywords of all drafts, by how their values are read, and what to do about one that is
// ignored.

import type { Json } from "../../config/types.ts";
import { nearest } from "../../nearest.ts";
import { assertionKeywords } from "./check-assertion.ts";
import { firstDraftOf, isLater, isOfDialect, keywordsOfOlderDrafts } from "./drafts.ts";
import { referenceKeywords } from "./references.ts";
import type { Dialect, ListKeyword, NamedKeyword, SingleKeyword } from "./schema-tree.ts";

const singleKeywords = [
  "not",
  "if",
  "then",
  "else",
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
] as const satisfies readonly SingleKeyword[];
const listKeywords = ["allOf", "anyOf", "oneOf", "prefixItems"] as const satisfies readonly ListKeyword[];
const namedKeywords = [
  "properties",
  "patternProperties",
  "dependentSchemas",
] as const satisfies readonly NamedKeyword[];

export function isSingle(keyword: string): keyword is SingleKeyword {
  return singleKeywords.some((known) => known === keyword);
}

export function isList(keyword: string): keyword is ListKeyword {
  return listKeywords.some((known) => known === keyword);
}

export function isNamed(keyword: string): keyword is NamedKeyword {
  return namedKeywords.some((known) => known === keyword);
}

interface AnnotationRule {
  readonly message: string;
  fits(value: Json): boolean;
}

const text: AnnotationRule = { message: "Write a string", fits: (value) => typeof value === "string" };
const flag: AnnotationRule = { message: "Write true or false", fits: (value) => typeof value === "boolean" };
const anything: AnnotationRule = { message: "", fits: () => true };

/** Keywords that describe and never refuse a value. */
export const annotations: ReadonlyMap<string, AnnotationRule> = new Map([
  ["title", text],
  ["description", text],
  ["$comment", text],
  ["contentEncoding", text],
  ["contentMediaType", text],
  ["contentSchema", anything],
  ["default", anything],
  ["examples", { message: "Write a list of values", fits: (value: Json) => Array.isArray(value) }],
  ["readOnly", flag],
  ["writeOnly", flag],
  ["deprecated", flag],
]);

/** What an unknown keyword was most likely meant to be, where another draft or OpenAPI has it. */
const replacements: ReadonlyMap<string, string> = new Map([
  ["additionalItems", "write items next to prefixItems"],
  ["dependencies", "write dependentRequired or dependentSchemas"],
  ["nullable", 'write "type": ["string", "null"]'],
  ["example", "write examples, a list"],
  ["id", "write $id"],
  ["divisibleBy", "write multipleOf"],
  ["extends", "write allOf"],
  ["disallow", "write not"],
]);

/** What other programs read, by the convention of OpenAPI: no mistake of this schema. */
export function isExtension(keyword: string): boolean {
  return keyword.startsWith("x-");
}

/** Says what to do about a keyword that is ignored. */
export function unknownKeyword(keyword: string, dialect: Dialect): string {
  return `${keyword} is not a keyword of ${dialect} and is ignored; ${adviceFor(keyword, dialect)}`;
}

function adviceFor(keyword: string, dialect: Dialect): string {
  const replacement = replacements.get(keyword);
  if (replacement !== undefined) return replacement;
  const first = firstDraftOf(keyword);
  if (first === "2020-12") return "leave $schema out to use 2020-12";
  if (isLater(first, dialect)) return `name ${first} or a later draft in $schema to use it`;
  const meant = nearest(
    keyword,
    allKeywords.filter((known) => isOfDialect(known, dialect)),
  );
  return meant === undefined
    ? `remove it, or write x-${keyword} if another program reads it`
    : `did you mean ${meant}?`;
}

const allKeywords: readonly string[] = [
  ...[...assertionKeywords, ...singleKeywords, ...listKeywords, ...namedKeywords, ...annotations.keys()],
  ...[...referenceKeywords, "$defs", "definitions", ...keywordsOfOlderDrafts],
];

/** In any draft. */
export function isKeyword(name: string): boolean {
  return allKeywords.includes(name);
}
