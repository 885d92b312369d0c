// Finds what the indexes of a resource can do for a list: give its page and count, or at least name the few objects to look at.
// Pure.

import type { IndexField } from "../../../core/config/types.ts";
import { betweenValues } from "../../store/order.ts";
import type { FieldQuery } from "../../store/ports/lists.ts";
import { common, equalTo, type ValueRange } from "../../store/ranges.ts";
import type { Condition } from "./conditions.ts";
import type { Order, SortKey } from "./sort.ts";

export interface ListPlan {
  /** What an index answers with page and count. */
  readonly answer?: IndexUse;
  /** Indexes that name candidates: all objects that may match, and others; of use where these are few. */
  readonly candidateUses: readonly IndexUse[];
  /** Whether what matches is shown in order of creation: of all sort keys, each match has the same value. */
  readonly isByCreation: boolean;
}

export interface IndexUse {
  readonly query: FieldQuery;
  /** Encoded values of the index's fields that have only one; the index's order is that of its other fields, then of creation. */
  readonly constants: readonly string[];
  /** True when it finds exactly what the conditions ask for. */
  readonly isComplete: boolean;
}

/** What all conditions on one field say together. */
interface Restriction {
  readonly ranges?: readonly ValueRange[];
  readonly isExact: boolean;
  readonly constant?: string;
}

export type Restrictions = ReadonlyMap<string, Restriction>;

export function planList(conditions: readonly Condition[], order: Order, indexes: readonly IndexField[]): ListPlan {
  const answer = simpleAnswer(conditions, order, indexes);
  return answer === undefined
    ? generalPlan(conditions, order, indexes)
    : { answer, candidateUses: [], isByCreation: false };
}

/** Of a list with one sort key or one value to find: what most lists ask for, found without building what the general way needs. */
function simpleAnswer(
  [condition, ...further]: readonly Condition[],
  { keys, descending }: Order,
  indexes: readonly IndexField[],
): IndexUse | undefined {
  const [key, ...others] = keys;
  if (others.length > 0 || further.length > 0) return undefined;
  const name = condition?.name ?? key?.name;
  const constant = condition?.constant;
  if (condition !== undefined && (constant === undefined || (key ?? condition).name !== name)) return undefined;
  // `a,-id` runs in two ways.
  if (constant === undefined && key?.descending !== descending) return undefined;
  const index = indexes.find((each) => each.name === name && each.parts === undefined);
  if (index === undefined) return undefined;
  if (constant === undefined) return { query: { index: index.name, field: index }, constants: [], isComplete: true };
  return { query: { index: index.name, field: index, equals: constant }, constants: [constant], isComplete: true };
}

function generalPlan(conditions: readonly Condition[], order: Order, indexes: readonly IndexField[]): ListPlan {
  const restrictions = restrictionsOf(conditions);
  const keys = decidingKeys(order, restrictions);
  const [key] = keys;
  // Most indexes begin with a field that the list says nothing of.
  const useful = indexes.filter((index) => {
    const first = index.parts?.[0].name ?? index.name;
    return first === key?.name || restrictions.has(first);
  });
  const uses = useful.map((index) => useOf(index, restrictions));
  const answer = uses.find((use) => use.isComplete && isInOrder(use.others, keys, order));
  const candidateUses = uses.filter(({ isNarrow }) => isNarrow);
  return { ...(answer && { answer }), candidateUses, isByCreation: keys.length === 0 };
}

export function restrictionsOf(conditions: readonly Condition[]): Restrictions {
  const found = new Map<string, Restriction>();
  for (const condition of conditions) {
    const known = found.get(condition.name);
    found.set(condition.name, known === undefined ? condition : both(known, condition));
  }
  return found;
}

function both(one: Restriction, other: Restriction): Restriction {
  const ranges =
    one.ranges !== undefined && other.ranges !== undefined
      ? common(one.ranges, other.ranges)
      : (one.ranges ?? other.ranges);
  // What contradicts itself has no value at all.
  const constant = ranges?.length === 0 ? undefined : (one.constant ?? other.constant);
  return {
    isExact: one.isExact && other.isExact,
    ...(ranges && { ranges }),
    ...(constant !== undefined && { constant }),
  };
}

/** All objects of one value tie: a key that can have only one decides nothing. */
export function decidingKeys({ keys }: Order, restrictions: Restrictions): readonly SortKey[] {
  return keys.filter(({ name }) => restrictions.get(name)?.constant === undefined);
}

interface Use extends IndexUse {
  /** Fields of the index that have several values. */
  readonly others: readonly string[];
  /** True when it finds less than everything. */
  readonly isNarrow: boolean;
}

function useOf(index: IndexField, restrictions: Restrictions): Use {
  const fields = fieldsOf(index);
  const constants = leadingConstants(fields, restrictions);
  const others = fields.slice(constants.length);
  const [next] = others;
  const restriction = next === undefined ? undefined : restrictions.get(next);
  const ranges = restriction?.ranges;
  const used = new Set(fields.slice(0, constants.length));
  if (next !== undefined && ranges !== undefined) used.add(next);
  return {
    query: { index: index.name, field: index, ...valuesOf(constants, others, ranges) },
    constants,
    others,
    isComplete: [...restrictions].every(([name, { isExact }]) => isExact && used.has(name)),
    isNarrow: used.size > 0,
  };
}

export function fieldsOf(index: IndexField): readonly string[] {
  return index.parts?.map(({ name }) => name) ?? [index.name];
}

function leadingConstants(fields: readonly string[], restrictions: Restrictions): readonly string[] {
  const found: string[] = [];
  for (const field of fields) {
    const constant = restrictions.get(field)?.constant;
    if (constant === undefined) break;
    found.push(constant);
  }
  return found;
}

function valuesOf(
  constants: readonly string[],
  others: readonly string[],
  ranges: readonly ValueRange[] | undefined,
): Pick<FieldQuery, "equals" | "ranges"> {
  if (others.length === 0) return { equals: constants.join(betweenValues) };
  const [first] = constants;
  if (first === undefined) return ranges === undefined ? {} : { ranges };
  // Of an index of two fields, the part in which the first one has its value.
  if (ranges === undefined) return { ranges: [equalTo(first)] };
  return {
    ranges: ranges.map(({ from, to }) => ({ from: first + betweenValues + from, to: first + betweenValues + to })),
  };
}

/** Whether an index gives this order: keys and creation all run the same way in it. */
function isInOrder(others: readonly string[], keys: readonly SortKey[], { descending }: Order): boolean {
  return (
    others.length === keys.length && keys.every((key, at) => key.name === others[at] && key.descending === descending)
  );
}
