// What an index has of an object: an encoded value, or nothing where the index leaves it out.

import type { FieldPath, UniqueRule } from "../../core/config/types.ts";
import { maxUniqueLength, nameOfRule } from "../../core/config/unique-rules.ts";
import { folded } from "../../core/json/case-folding.ts";
import { valueAt } from "../../core/json/members.ts";
import { encodedExpiry } from "./expiry.ts";
import { betweenValues, encodeIndexed, encodeSortValue } from "./order.ts";
import type { StoreIndex } from "./ports/indexes.ts";
import type { FieldQuery } from "./ports/lists.ts";

/** The JSON text at a path of an object; undefined = there is none. */
export type TextAt = (path: FieldPath["path"]) => string | undefined;

/** Undefined = the index has no entry of the object. */
export function entryValue(index: StoreIndex, textAt: TextAt): string | undefined {
  const { purpose } = index;
  if (purpose === undefined) return encodeIndexed(index, textAt);
  return "unique" in purpose ? uniqueValue(purpose.unique, textAt) : encodedExpiry(purpose.expiry, textAt);
}

/** Where an entry's value comes from. */
export function pathsOf({ path, parts, purpose }: StoreIndex): readonly FieldPath["path"][] {
  if (purpose === undefined || "expiry" in purpose) return parts?.map((part) => part.path) ?? [path];
  const { fields, where = [] } = purpose.unique;
  const paths = [...fields, ...where.map(({ field }) => field)].map(({ path }) => path);
  return [...paths, ...ownerPaths(purpose.unique)];
}

function ownerPaths({ per }: UniqueRule): readonly FieldPath["path"][] {
  if (per === undefined) return [];
  return [
    ["_metadata", "creator_type"],
    ["_metadata", "creator"],
  ];
}

/** The rule that the index is kept for, if it is for one. */
export function ruleOf({ purpose }: StoreIndex): UniqueRule | undefined {
  return purpose !== undefined && "unique" in purpose ? purpose.unique : undefined;
}

/** The index that a store keeps for a rule. */
export function uniqueIndex(rule: UniqueRule): StoreIndex {
  return { name: nameOfRule(rule), path: rule.fields[0]?.path ?? [], purpose: { unique: rule } };
}

/**
 * What no two objects may share: equal for equal values. Undefined = the object counts for none: it
 * is outside of `where`, or a field is missing, null, an array, an object, or a longer string than
 * the schema of a rule may allow.
 */
export function uniqueValue(rule: UniqueRule, textAt: TextAt): string | undefined {
  if (!isWithin(rule, textAt)) return undefined;
  const values = rule.fields.map(({ path }) => scalarValue(textAt(path), rule.ignoreCase === true));
  if (values.includes(undefined)) return undefined;
  // As it is: names of callers are case-sensitive, and may be longer than a field.
  const owner = ownerPaths(rule).map((path) => encodeSortValue(textAt(path)));
  return [...values, ...owner].join(betweenValues);
}

/** The same of an object's text. */
export function uniqueValueIn(rule: UniqueRule, text: string): string | undefined {
  return uniqueValue(rule, (path) => valueAt(text, path));
}

/** Finds the objects that have this value. */
export function uniqueQuery(rule: UniqueRule, value: string): FieldQuery {
  const field = uniqueIndex(rule);
  return { index: field.name, field, equals: value };
}

/** Whether an object with these values is one of those that the rule is about. */
export function isWithin({ where = [] }: UniqueRule, textAt: TextAt): boolean {
  return where.every(
    ({ field, value }) => encodeSortValue(textAt(field.path)) === encodeSortValue(JSON.stringify(value)),
  );
}

function scalarValue(text: string | undefined, ignoreCase: boolean): string | undefined {
  if (text === undefined || "n[{".includes(text.charAt(0))) return undefined;
  if (!text.startsWith('"')) return encodeSortValue(text);
  const value = JSON.parse(text) as string;
  if (value.length > maxUniqueLength && [...value].length > maxUniqueLength) return undefined;
  return encodeSortValue(ignoreCase ? JSON.stringify(folded(value)) : text);
}
