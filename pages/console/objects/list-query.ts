// What a list shows, as the query in the console's address: filters, order, and which page.

import { filterOperators, type OperandKind, type Operator } from "../../../core/filter-operators.ts";

export interface Condition {
  readonly field: string;
  /** Empty: equals. */
  readonly operator: string;
  readonly value: string;
}

export interface ListQuery {
  readonly conditions: readonly Condition[];
  /** A field, with `-` in front to sort descending; undefined = order of creation. */
  readonly sort: string | undefined;
  /** Where the page begins, as the server's link to it says; undefined = the first page. */
  readonly cursor: string | undefined;
}

/** How an operator is shown; as it is written where it is unknown. */
export function labelOf(operator: string): string {
  return filterOperatorOf(operator)?.label ?? operator;
}

/** What stands behind the colon: nothing for equality. */
export function writtenOperator(name: Operator): string {
  return name === "eq" ? "" : name;
}

/** How the value of a filter is read. */
export function operandKindOf(operator: string): OperandKind | undefined {
  return filterOperatorOf(operator)?.operand;
}

function filterOperatorOf(operator: string): (typeof filterOperators)[Operator] | undefined {
  const name = operator === "" ? "eq" : operator;
  return Object.hasOwn(filterOperators, name) ? filterOperators[name as Operator] : undefined;
}

export function readListQuery(query: string): ListQuery {
  const parameters = new URLSearchParams(query);
  const taken = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value === null || value === "" ? undefined : value;
  };
  const [sort, cursor] = [taken("_sort"), taken("_cursor")];
  const conditions = [...parameters].map(([name, value]) => ({ ...namedBy(name), value }));
  return { conditions, sort, cursor };
}

export function writeListQuery({ conditions, sort, cursor }: ListQuery): string {
  const parameters = new URLSearchParams();
  for (const { field, operator, value } of conditions) {
    parameters.append(operator === "" ? field : `${field}:${operator}`, value);
  }
  if (sort !== undefined) parameters.set("_sort", sort);
  if (cursor !== undefined) parameters.set("_cursor", cursor);
  return parameters.toString();
}

/** Sorted by the field: ascending, then descending, then no more. */
export function nextSort(sort: string | undefined, field: string): string | undefined {
  if (sort === field) return `-${field}`;
  return sort === `-${field}` ? undefined : field;
}

/** The condition with another operator. One that compares with true or false begins with either. */
export function withOperator(condition: Condition, operator: string, isBoolean = false): Condition {
  const { field, value } = condition;
  const needsBoolean = isBoolean || operandKindOf(operator) === "boolean";
  if (needsBoolean) return { ...condition, operator, value: value === "false" ? value : "true" };
  return { ...condition, operator, value: field === createdField ? secondsOf(dateOf(value), operator) : value };
}

/** Its values are Unix seconds, of which people choose a day. */
export const createdField = "_metadata.created";

/** The local day as `YYYY-MM-DD`; empty where the text is no time. */
export function dateOf(seconds: string): string {
  const time = new Date(Number(seconds) * 1_000);
  if (seconds === "" || Number.isNaN(time.getTime())) return "";
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

/** Where the day begins; its last second where the operator compares with all of it. */
export function secondsOf(date: string, operator: string): string {
  if (date === "") return "";
  const day = new Date(`${date}T00:00`);
  if (operator === "gt" || operator === "le") day.setDate(day.getDate() + 1);
  return String(day.getTime() / 1_000 - (operator === "gt" || operator === "le" ? 1 : 0));
}

/** What a parameter compares, and how. Any other colon than an operator's belongs to the field. */
export function namedBy(name: string): Pick<Condition, "field" | "operator"> {
  const at = name.lastIndexOf(":");
  const operator = name.slice(at + 1);
  const isOperator = at > 0 && operator !== "" && operator !== "eq" && operandKindOf(operator) !== undefined;
  return isOperator ? { field: name.slice(0, at), operator } : { field: name, operator: "" };
}
