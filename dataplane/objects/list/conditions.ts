// Turns filters into conditions: the encoded values that can meet one, for an index, and whether an
// object does, for a scan. Both use the encoding of store/order.ts, so that both find the same
// objects. Filters on the time of creation become ranges of ids.

import { elementsOf, valueAt } from "../../../core/json/members.ts";
import { encodedStringBytes, encodeSortValue } from "../../store/order.ts";
import type { IdRange } from "../../store/ports/lists.ts";
import {
  complement,
  contains,
  equalTo,
  greaterThan,
  lessThan,
  missingOrNull,
  notNull,
  startingWith,
  union,
  type ValueRange,
} from "../../store/ranges.ts";
import { beginningOfIds } from "../object-ids.ts";
import { type ObjectRules, storedForm } from "../validate-object.ts";
import { anyParameter, type Filter } from "./filters.ts";
import { createdField } from "./query-parameters.ts";

export const validityParameter = "_valid";

export interface Condition {
  readonly name: string;
  /** All values that can meet it; absent = no index finds them. */
  readonly ranges?: readonly ValueRange[];
  /** Whether all of them do. */
  readonly isExact: boolean;
  /** The only value that meets it, if there is one. */
  readonly constant?: string;
  /** Whether an object of this text meets it. */
  matchesObject(text: string): boolean;
}

export function conditionOf(filter: Filter): Condition {
  const { name, path } = filter;
  const { matches, ...found } = evaluate(filter);
  return { name, ...found, matchesObject: (text) => matches(valueAt(text, path)) };
}

/** What an object meets that meets one of these. Those on one field are one condition on it. */
export function anyCondition(alternatives: readonly Condition[]): Condition {
  const matchesObject = (text: string): boolean => alternatives.some((each) => each.matchesObject(text));
  const [first] = alternatives;
  const ranges = alternatives.map((each) => (each.name === first?.name ? each.ranges : undefined));
  if (first === undefined || ranges.includes(undefined)) return { name: anyParameter, isExact: false, matchesObject };
  return {
    name: first.name,
    ranges: union(ranges.flatMap((each) => each ?? [])),
    isExact: alternatives.every(({ isExact }) => isExact),
    matchesObject,
  };
}

/** Whether an object meets the rules, or doesn't: no index finds those. */
export function validityCondition(rules: ObjectRules, valid: boolean): Condition {
  const matchesObject = (text: string): boolean => (storedForm(rules, text).fault === undefined) === valid;
  return { name: validityParameter, isExact: false, matchesObject };
}

type Evaluation = Pick<Condition, "ranges" | "isExact" | "constant"> & {
  /** Takes a value's text, undefined when the field is missing. */
  matches(value: string | undefined): boolean;
};

function evaluate(filter: Filter): Evaluation {
  const { operator, values, text } = filter;
  switch (operator) {
    case "eq":
    case "in":
      return equalToAny(values);
    case "ne":
      return notEqual(equalToAny(values));
    case "gt":
    case "ge":
      return inRanges(values.map((value) => greaterThan(encodeSortValue(value), operator === "ge")));
    case "lt":
    case "le":
      return inRanges(values.map((value) => lessThan(encodeSortValue(value), operator === "le")));
    case "exists":
      return text === "true" ? inRanges(notNull) : { ...inRanges(missingOrNull), constant: encodeSortValue(undefined) };
    case "starts":
      return starting(text);
    case "contains":
      return { isExact: false, matches: containing(values, text) };
  }
}

function inRanges(given: readonly ValueRange[]): Evaluation {
  const ranges = union(given);
  return { ranges, isExact: true, matches: (value) => contains(ranges, encodeSortValue(value)) };
}

function equalToAny(values: readonly string[]): Evaluation {
  const wanted = values.map((value) => ({ value, key: encodeSortValue(value), exact: encodesExactly(value) }));
  const isExact = wanted.every(({ exact }) => exact);
  // A set, because an array may have a million elements. Most values are exact.
  const keys = new Set(wanted.filter(({ exact }) => exact).map(({ key }) => key));
  const inexact = wanted.filter(({ exact }) => !exact);
  const [only, ...others] = wanted;
  return {
    ranges: others.length === 0 ? wanted.map(({ key }) => equalTo(key)) : union(wanted.map(({ key }) => equalTo(key))),
    isExact,
    ...(isExact && only !== undefined && others.length === 0 && { constant: only.key }),
    matches(value) {
      const key = encodeSortValue(value);
      return keys.has(key) || inexact.some((each) => each.key === key && each.value === value);
    },
  };
}

function notEqual(same: Evaluation): Evaluation {
  const matches = (value: string | undefined): boolean => !same.matches(value);
  return same.isExact && same.ranges !== undefined
    ? { ranges: complement(same.ranges), isExact: true, matches }
    : { isExact: false, matches };
}

function starting(beginning: string): Evaluation {
  const text = JSON.stringify(beginning);
  return {
    // The encoding of a longer prefix is cut: other strings may start with the cut one.
    ranges: [startingWith(encodeSortValue(text))],
    isExact: Buffer.byteLength(beginning) <= encodedStringBytes,
    matches: (value) => stringIn(value)?.startsWith(beginning) === true,
  };
}

function containing(values: readonly string[], text: string): Evaluation["matches"] {
  const { matches } = equalToAny(values);
  return (value) => {
    if (value?.startsWith("[")) return elementsOf(value).some((element) => isScalar(element) && matches(element));
    return stringIn(value)?.includes(text) === true;
  };
}

function stringIn(value: string | undefined): string | undefined {
  return value?.startsWith('"') ? (JSON.parse(value) as string) : undefined;
}

function isScalar(value: string): boolean {
  return !value.startsWith("[") && !value.startsWith("{");
}

/** False where the encoding is cut: longer strings with the same start encode to the same. */
function encodesExactly(valueText: string): boolean {
  return Buffer.byteLength(valueText) <= encodedStringBytes;
}

/** Undefined unless a filter bounds the time of creation. Other filters check each object. */
export function createdRange(filters: readonly Filter[]): IdRange | undefined {
  const known = filters.map(boundsOfCreated).filter((each) => each !== undefined);
  if (known.length === 0) return undefined;
  return {
    from: beginningOfIds(Math.max(...known.map(({ from }) => from))),
    to: beginningOfIds(Math.min(...known.map(({ to }) => to))),
  };
}

/** Whether the filter is a range of times of creation, and nothing more. */
export function isCreatedRange(filter: Filter): boolean {
  return boundsOfCreated(filter) !== undefined;
}

/** A property literally named `_metadata.created` has a path of one part. */
function boundsOfCreated(filter: Filter): Seconds | undefined {
  return filter.name === createdField && filter.path.length > 1 ? boundsOf(filter) : undefined;
}

/** Unix seconds: first included, first excluded. */
interface Seconds {
  readonly from: number;
  readonly to: number;
}

function boundsOf({ operator, values: [text = ""] }: Filter): Seconds | undefined {
  const value = Number(text);
  const all = { from: 0, to: Number.POSITIVE_INFINITY };
  switch (operator) {
    case "eq":
      return { from: value, to: value + 1 };
    case "ge":
      return { ...all, from: Math.ceil(value) };
    case "gt":
      return { ...all, from: Math.floor(value) + 1 };
    case "lt":
      return { ...all, to: Math.ceil(value) };
    case "le":
      return { ...all, to: Math.floor(value) + 1 };
    default:
      return undefined;
  }
}
