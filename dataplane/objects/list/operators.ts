// The operators of filters: which types of values they compare, and what other services call them.

import type { JsonType } from "../../../core/schema/declared-properties.ts";

/** Those that are written behind a colon. */
export const operators = ["gt", "ge", "lt", "le", "ne", "in", "contains", "starts", "exists"] as const;
export type Operator = (typeof operators)[number] | "eq";

/** Whether a field of these types can be filtered by the operator; no types = any value. */
export function fits(operator: Operator, types: readonly JsonType[]): boolean {
  if (types.length === 0 || operator === "exists") return true;
  if (operator === "starts") return types.includes("string");
  if (operator === "contains") return types.includes("string") || types.includes("array");
  return types.some((type) => type !== "array" && type !== "object");
}

/** Operators by the names that they have elsewhere. */
const foreignOperators: ReadonlyMap<string, Operator> = new Map([
  ["eq", "eq"],
  ["gt", "gt"],
  ["gte", "ge"],
  ["ge", "ge"],
  ["lt", "lt"],
  ["lte", "le"],
  ["le", "le"],
  ["ne", "ne"],
  ["neq", "ne"],
  ["not", "ne"],
  ["in", "in"],
  ["like", "contains"],
  ["contains", "contains"],
  ["startswith", "starts"],
  ["exists", "exists"],
]);

/** The operator of this name elsewhere. */
export function foreignOperator(name: string): Operator | undefined {
  return foreignOperators.get(name.toLowerCase());
}
