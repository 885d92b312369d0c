// Says why a list would read too much, and which index or filter avoids that. Pure.

import type { IndexField } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { type Condition, validityParameter } from "./conditions.ts";
import { type Excess, keptBytes, scanBytes, scanLimit } from "./filter-and-sort.ts";
import { anyParameter } from "./filters.ts";
import type { ListQuery } from "./query.ts";
import { serviceFields } from "./query-parameters.ts";
import { constraintsOf, effectiveKeys, type FieldConstraints, fieldsOf } from "./query-plan.ts";

/** Fields that one index can have. */
const maxIndexFields = 2;

export function indexBuilding(name: string): Problem {
  return new Problem("index_building", `The index \`${name}\` is being built; try again`, {
    headers: { "Retry-After": "5" },
  });
}

/** Names of conditions that are on no field. */
const withoutField: ReadonlySet<string> = new Set([validityParameter, anyParameter]);

interface RefusedList {
  readonly query: ListQuery;
  readonly conditions: readonly Condition[];
  readonly indexes: readonly IndexField[];
}

export function tooExpensive(excess: Excess, list: RefusedList): Problem {
  const isFiltered = list.conditions.length > 0 || list.query.countBy !== undefined;
  return new Problem(isFiltered ? "query_too_expensive" : "sort_not_indexed", detailOf(excess, list, isFiltered));
}

function detailOf(excess: Excess, { query, conditions, indexes }: RefusedList, isFiltered: boolean): string {
  if (excess === "bytes_kept") return keptTooMuch(query);
  const amount = excess === "objects" ? `${scanLimit} objects` : `${inMebibytes(scanBytes)} of objects`;
  const ofSchema = conditions.filter(({ name }) => !serviceFields.has(name) && !withoutField.has(name));
  const constraints = constraintsOf(ofSchema);
  const general = () =>
    ofSchema.length === conditions.length
      ? adviceFor(query, constraints, indexes)
      : (narrowingAdvice([...constraints.keys()], constraints, indexes) ??
        anyAdvice(query, indexes) ??
        serviceFieldAdvice);
  const advice = countAdvice(query, constraints, indexes) ?? general();
  return isFiltered
    ? `This query would read more than ${amount}; ${advice}`
    : `This query would sort more than ${amount} without an index; ${advice}`;
}

/** An index would not help: a page that it answers is no shorter. */
function keptTooMuch({ offset }: ListQuery): string {
  const smaller = "ask for fewer with a smaller `_limit`";
  return offset === 0
    ? `The objects of this page have more than ${inMebibytes(keptBytes)}; ${smaller}`
    : `The objects of this page and before it have more than ${inMebibytes(keptBytes)}; ${smaller}, or page by \`_cursor=\``;
}

function inMebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

function adviceFor(
  { filters, order }: ListQuery,
  constraints: FieldConstraints,
  indexes: readonly IndexField[],
): string {
  const keys = effectiveKeys(order, constraints);
  const names = keys.map(({ name }) => name);
  const constant = [...constraints.keys()].filter((name) => constraints.get(name)?.constant !== undefined);
  const ranged = [...constraints.keys()].filter((name) => !constant.includes(name));
  const isAnswerable = [...constraints.values()].every(({ isExact }) => isExact);
  const isOneWay = keys.every(({ descending }) => descending === order.descending);
  const fields = [...constant, ...names];
  const missing = fields.join(",");
  if (isAnswerable && isOneWay && fields.length <= maxIndexFields && ranged.every((name) => name === names[0])) {
    return `${declare(missing)}, which answers this query at any size`;
  }
  if (isAnswerable && constant.length + ranged.length <= maxIndexFields && names.length === 0) {
    return `add \`_sort=${ranged[0]}\`; in this order, ${indexOf([...constant, ...ranged], indexes)} answers the query at any size`;
  }
  const sortable = ranged[0] === undefined ? "one indexed field" : `\`${ranged[0]}\``;
  const narrowing = narrowingAdvice([...constant, ...ranged], constraints, indexes);
  return narrowing ?? unansweredAdvice(filters, isAnswerable ? sortable : undefined);
}

/** `order` = by what a sort would be answered by an index; absent = by nothing. */
function unansweredAdvice(filters: ListQuery["filters"], order: string | undefined): string {
  const searched = filters.find(({ operator }) => operator === "contains");
  if (searched !== undefined)
    return `no index answers \`${searched.name}:contains\`; add another filter, on an indexed field, that fewer objects match`;
  const filter = "add a filter on an indexed field that fewer objects match";
  return order === undefined ? filter : `${filter}, or sort by ${order} alone`;
}

/** Filters that fix a value, and the counted field behind them. */
function countAdvice(
  { countBy, filters }: ListQuery,
  constraints: FieldConstraints,
  indexes: readonly IndexField[],
): string | undefined {
  if (countBy === undefined) return undefined;
  const fixed = [...constraints].filter(([name, { constant }]) => name !== countBy.name && constant !== undefined);
  const fields = [...fixed.map(([name]) => name), countBy.name];
  const isAnswerable = fixed.length === filters.length && fields.length <= maxIndexFields;
  return isAnswerable && !hasIndex(fields, indexes)
    ? `${declare(fields.join(","))}, by which objects are counted at any size`
    : (narrowingAdvice([...constraints.keys()], constraints, indexes) ?? unansweredAdvice(filters, undefined));
}

/** Every filter of `_any` needs an index. */
function anyAdvice({ any = [] }: ListQuery, indexes: readonly IndexField[]): string | undefined {
  const missing = any.map(({ name }) => name).filter((name) => !serviceFields.has(name) && !hasIndex([name], indexes));
  return missing.length === 0
    ? undefined
    : `${declare([...new Set(missing)].join("`, `"))}, for the filters of \`_any\``;
}

/** No index of the schema has them. */
const serviceFieldAdvice =
  "add a filter that fewer objects match, on an indexed field or a range of `_metadata.created`";

function narrowingAdvice(
  names: readonly string[],
  constraints: FieldConstraints,
  indexes: readonly IndexField[],
): string | undefined {
  const isNarrowing = (name: string): boolean => constraints.get(name)?.ranges !== undefined;
  const narrowing = names.find((name) => isNarrowing(name) && !hasIndex([name], indexes));
  if (narrowing === undefined) return undefined;
  return `${declare(narrowing)}, so that only objects that match its filter are read`;
}

function declare(name: string): string {
  return `add \`${name}\` to spec.indexes of the ApiResource`;
}

function indexOf(fields: readonly string[], indexes: readonly IndexField[]): string {
  const name = fields.join(",");
  return hasIndex(fields, indexes)
    ? `the index \`${name}\``
    : `an index \`${name}\` in spec.indexes of the ApiResource`;
}

function hasIndex(fields: readonly string[], indexes: readonly IndexField[]): boolean {
  const name = fields.join(",");
  return indexes.some((index) => fieldsOf(index).join(",") === name);
}
