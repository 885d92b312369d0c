// Plans a list: an index scan that gives page and count, index scans that find candidates, the few
// objects to check, or a scan of the collection. Pure.

import type { IndexField } from "../../../core/config/types.ts";
import { betweenValues } from "../../store/order.ts";
import type { FieldQuery, IdRange } from "../../store/ports/lists.ts";
import { equalTo, intersection, type ValueRange } from "../../store/ranges.ts";
import type { ObjectRules } from "../validate-object.ts";
import {
  anyCondition,
  type Condition,
  conditionOf,
  createdRange,
  isCreatedRange,
  validityCondition,
} from "./conditions.ts";
import type { ListQuery } from "./query.ts";
import type { Order, SortKey } from "./sort.ts";

/** How a list is answered, by its query and the configuration alone: equal requests share it. */
export interface QueryPlan {
  readonly query: ListQuery;
  readonly conditions: readonly Condition[];
  /** Undefined for all objects in order of creation, which the ids give without an index. */
  readonly indexPlan: IndexPlan | undefined;
  /** The ids of objects that the filters on the time of creation let through; absent = any. */
  readonly ids?: IdRange;
}

export interface IndexPlan {
  /** Gives the page and the count without reading other objects. */
  readonly answeringScan?: IndexScan;
  /** Each returns all matches and perhaps more; useful if few. */
  readonly candidateScans: readonly CandidateScan[];
  /** Whether matches are shown in order of creation: all have the same value of each sort key. */
  readonly isInCreationOrder: boolean;
}

export interface IndexScan {
  /** The index, and the key ranges that are read of it. */
  readonly query: FieldQuery;
  /** Encoded values of the leading fields that an equality fixes; the others give the order. */
  readonly equalityPrefix: readonly string[];
  /** True when it finds exactly the matches, so that no object has to be checked. */
  readonly isExact: boolean;
}

/** What finds candidates: those of one index scan, or of one for each filter of `_any`. */
export interface CandidateScan {
  readonly queries: readonly FieldQuery[];
  /** True when it finds exactly the matches. */
  readonly isExact: boolean;
}

export function planQuery(query: ListQuery, indexes: readonly IndexField[], rules: ObjectRules): QueryPlan {
  const { filters, any, order, valid } = query;
  const validity = valid === undefined ? [] : [validityCondition(rules, valid)];
  const alternatives = any?.map(conditionOf);
  const all = [...filters.map(conditionOf), ...validity];
  const one = alternatives && anyCondition(alternatives);
  const conditions = one === undefined ? all : [...all, one];
  const ids = createdRange(filters);
  const isPlain = order.keys.length === 0 && filters.every(isCreatedRange) && conditions.length === filters.length;
  const indexPlan = isPlain ? undefined : planIndexes(conditions, order, indexes);
  // A condition with ranges is on one field, whose index finds them.
  const merged = one?.ranges === undefined ? alternatives && scanOfEach(alternatives, all, indexes) : undefined;
  if (indexPlan === undefined || merged === undefined) return { query, conditions, indexPlan, ...(ids && { ids }) };
  const candidateScans = [merged, ...indexPlan.candidateScans];
  return { query, conditions, indexPlan: { ...indexPlan, candidateScans }, ...(ids && { ids }) };
}

/** A scan for each alternative; undefined where one of them narrows no index. */
function scanOfEach(
  alternatives: readonly Condition[],
  others: readonly Condition[],
  indexes: readonly IndexField[],
): CandidateScan | undefined {
  const scans = alternatives.map((alternative) => {
    const constraints = constraintsOf([...others, alternative]);
    const paths = indexes.map((index) => accessPath(index, constraints));
    const narrowed = paths.filter(({ bounded }) => bounded.has(alternative.name));
    return narrowed.find(({ isExact }) => isExact) ?? narrowed[0];
  });
  const found = scans.filter((scan) => scan !== undefined);
  if (found.length < scans.length) return undefined;
  return { queries: found.map(({ query }) => query), isExact: found.every(({ isExact }) => isExact) };
}

function planIndexes(conditions: readonly Condition[], order: Order, indexes: readonly IndexField[]): IndexPlan {
  const answeringScan = oneFieldScan(conditions, order, indexes);
  return answeringScan === undefined
    ? compareIndexes(conditions, order, indexes)
    : { answeringScan, candidateScans: [], isInCreationOrder: false };
}

/** A shortcut for most lists, which have one sort key or one value of one field. */
function oneFieldScan(
  [condition, ...further]: readonly Condition[],
  { keys, descending }: Order,
  indexes: readonly IndexField[],
): IndexScan | undefined {
  const [key, ...others] = keys;
  if (others.length > 0 || further.length > 0) return undefined;
  const name = condition?.name ?? key?.name;
  const constant = condition?.constant;
  if (condition !== undefined && (constant === undefined || (key ?? condition).name !== name)) return undefined;
  // `a,-id` has two directions, and an index one.
  if (constant === undefined && key?.descending !== descending) return undefined;
  const index = indexes.find((each) => each.name === name && each.parts === undefined);
  if (index === undefined) return undefined;
  if (constant === undefined) return { query: { index: index.name, field: index }, equalityPrefix: [], isExact: true };
  return { query: { index: index.name, field: index, equals: constant }, equalityPrefix: [constant], isExact: true };
}

function compareIndexes(conditions: readonly Condition[], order: Order, indexes: readonly IndexField[]): IndexPlan {
  const constraints = constraintsOf(conditions);
  const keys = effectiveKeys(order, constraints);
  const [key] = keys;
  // Most indexes begin with a field that the query does not name.
  const usable = indexes.filter((index) => {
    const first = index.parts?.[0].name ?? index.name;
    return first === key?.name || constraints.has(first);
  });
  const paths = usable.map((index) => accessPath(index, constraints));
  const answeringScan = paths.find((path) => path.isExact && providesOrder(path, keys, order));
  const selective = paths.filter(({ bounded }) => bounded.size > 0);
  const candidateScans = selective.map(({ query, isExact }) => ({ queries: [query], isExact }));
  return { ...(answeringScan && { answeringScan }), candidateScans, isInCreationOrder: keys.length === 0 };
}

/** All conditions on one field, together. */
interface FieldConstraint {
  readonly ranges?: readonly ValueRange[];
  readonly isExact: boolean;
  readonly constant?: string;
}

/** By the field's name. */
export type FieldConstraints = ReadonlyMap<string, FieldConstraint>;

export function constraintsOf(conditions: readonly Condition[]): FieldConstraints {
  const found = new Map<string, FieldConstraint>();
  for (const condition of conditions) {
    const known = found.get(condition.name);
    found.set(condition.name, known === undefined ? condition : both(known, condition));
  }
  return found;
}

function both(one: FieldConstraint, other: FieldConstraint): FieldConstraint {
  const ranges =
    one.ranges !== undefined && other.ranges !== undefined
      ? intersection(one.ranges, other.ranges)
      : (one.ranges ?? other.ranges);
  // Conditions that contradict each other leave no value at all.
  const constant = ranges?.length === 0 ? undefined : (one.constant ?? other.constant);
  return {
    isExact: one.isExact && other.isExact,
    ...(ranges && { ranges }),
    ...(constant !== undefined && { constant }),
  };
}

/** Sort keys without those that an equality fixes: all matches tie in them. */
export function effectiveKeys({ keys }: Order, constraints: FieldConstraints): readonly SortKey[] {
  return keys.filter(({ name }) => constraints.get(name)?.constant === undefined);
}

/** One way to read matches: a scan of one index, with what the choice depends on. */
interface AccessPath extends IndexScan {
  /** Fields of the index after the equality prefix, by which its entries are ordered. */
  readonly orderedBy: readonly string[];
  /** Fields whose conditions bound what it reads of the index. */
  readonly bounded: ReadonlySet<string>;
}

function accessPath(index: IndexField, constraints: FieldConstraints): AccessPath {
  const fields = fieldsOf(index);
  const equalityPrefix = equalityPrefixOf(fields, constraints);
  const orderedBy = fields.slice(equalityPrefix.length);
  const [next] = orderedBy;
  const ranges = next === undefined ? undefined : constraints.get(next)?.ranges;
  const bounded = new Set(fields.slice(0, equalityPrefix.length));
  if (next !== undefined && ranges !== undefined) bounded.add(next);
  return {
    query: { index: index.name, field: index, ...keyRanges(equalityPrefix, orderedBy, ranges) },
    equalityPrefix,
    orderedBy,
    isExact: [...constraints].every(([name, { isExact }]) => isExact && bounded.has(name)),
    bounded,
  };
}

export function fieldsOf(index: IndexField): readonly string[] {
  return index.parts?.map(({ name }) => name) ?? [index.name];
}

function equalityPrefixOf(fields: readonly string[], constraints: FieldConstraints): readonly string[] {
  const found: string[] = [];
  for (const field of fields) {
    const constant = constraints.get(field)?.constant;
    if (constant === undefined) break;
    found.push(constant);
  }
  return found;
}

function keyRanges(
  equalityPrefix: readonly string[],
  orderedBy: readonly string[],
  ranges: readonly ValueRange[] | undefined,
): Pick<FieldQuery, "equals" | "ranges"> {
  if (orderedBy.length === 0) return { equals: equalityPrefix.join(betweenValues) };
  const [first] = equalityPrefix;
  if (first === undefined) return ranges === undefined ? {} : { ranges };
  // The part of an index of two fields in which the first field has its value.
  if (ranges === undefined) return { ranges: [equalTo(first)] };
  return {
    ranges: ranges.map(({ from, to }) => ({ from: first + betweenValues + from, to: first + betweenValues + to })),
  };
}

/** Whether the scan gives this order: all fields of an index, and creation, have one direction. */
function providesOrder({ orderedBy }: AccessPath, keys: readonly SortKey[], { descending }: Order): boolean {
  return (
    orderedBy.length === keys.length &&
    keys.every((key, at) => key.name === orderedBy[at] && key.descending === descending)
  );
}
