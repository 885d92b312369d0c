// What a list shows, as the query in the console's address: filters, order, and which page.

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

/** In the order in which they are offered; the empty one is "equals". */
export const operatorWords: ReadonlyMap<string, string> = new Map([
  ["", "="],
  ["ne", "≠"],
  ["gt", ">"],
  ["ge", "≥"],
  ["lt", "<"],
  ["le", "≤"],
  ["in", "is one of"],
  ["starts", "starts with"],
  ["contains", "contains"],
  ["exists", "exists"],
]);

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

/** The condition with another operator. "exists" compares with true or false. */
export function withOperator(condition: Condition, operator: string): Condition {
  const isBoolean = condition.value === "true" || condition.value === "false";
  return { ...condition, operator, value: operator === "exists" && !isBoolean ? "true" : condition.value };
}

/** What a parameter compares, and how. A colon before no known operator is part of the name. */
export function namedBy(name: string): Pick<Condition, "field" | "operator"> {
  const at = name.lastIndexOf(":");
  const operator = name.slice(at + 1);
  const isOperator = at > 0 && operator !== "" && operatorWords.has(operator);
  return isOperator ? { field: name.slice(0, at), operator } : { field: name, operator: "" };
}
