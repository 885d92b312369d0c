// Checks the value of one keyword that is not a schema: what is wrong with it, and where inside.

import type { Json } from "../../config/types.ts";
import { childPointer } from "../../json/json-pointer.ts";
import { isObject } from "../../json/json-value.ts";
import { schemaLimits } from "../limits.ts";
import type { AssertionKeyword } from "./schema-tree.ts";
import { typeNames, unknownType } from "./unknown-type.ts";

export interface ValueProblem {
  /** Relative to the keyword's value. */
  readonly pointer: string;
  readonly message: string;
}

type Check = (value: Json) => ValueProblem | undefined;

const checks: Readonly<Record<AssertionKeyword, Check>> = {
  type: checkType,
  enum: (value) => {
    if (!Array.isArray(value) || value.length === 0) return here("Write enum as a list of at least one value");
    return firstProblem(value, numbersWithin);
  },
  const: numbersWithin,
  multipleOf: (value) => {
    if (typeof value === "number" && value <= 0) return here("Write multipleOf as a number greater than 0");
    return checkBound(value) ?? numbersWithin(value);
  },
  maximum: checkBound,
  exclusiveMaximum: checkExclusive,
  minimum: checkBound,
  exclusiveMinimum: checkExclusive,
  maxLength: checkCount,
  minLength: checkCount,
  maxItems: checkCount,
  minItems: checkCount,
  maxContains: checkCount,
  minContains: checkCount,
  maxProperties: checkCount,
  minProperties: checkCount,
  uniqueItems: (value) => (typeof value === "boolean" ? undefined : here("Write true or false")),
  pattern: checkString,
  format: checkString,
  required: (value) =>
    typeof value === "boolean"
      ? here('Write required beside "properties", as a list of member names: "required": ["title"]')
      : checkNames(value),
  dependentRequired: (value) => {
    if (!isObject(value)) return here("Write an object of lists of member names");
    for (const [name, names] of Object.entries(value)) {
      const problem = checkNames(names);
      if (problem !== undefined) return { ...problem, pointer: childPointer("", name) + problem.pointer };
    }
    return undefined;
  },
};

/** Undefined when the value is what the keyword wants. */
export function checkAssertion(keyword: AssertionKeyword, value: Json): ValueProblem | undefined {
  return checks[keyword](value);
}

export const assertionKeywords: readonly string[] = Object.keys(checks);

export function isAssertion(keyword: string): keyword is AssertionKeyword {
  return Object.hasOwn(checks, keyword);
}

function here(message: string): ValueProblem {
  return { pointer: "", message };
}

function checkType(value: Json): ValueProblem | undefined {
  const names = Array.isArray(value) ? value : [value];
  if (names.length === 0) return here("Write at least one type");
  const unknown = names.findIndex((name) => typeof name !== "string" || !typeNames.includes(name));
  if (unknown >= 0) {
    return { pointer: Array.isArray(value) ? `/${unknown}` : "", message: unknownType(names[unknown] ?? null) };
  }
  return new Set(names).size < names.length ? here("Write each type once") : undefined;
}

function checkBound(value: Json): ValueProblem | undefined {
  return typeof value === "number" ? undefined : here("Write a number, without quotes");
}

function checkExclusive(value: Json): ValueProblem | undefined {
  if (typeof value === "boolean") return here("Write the bound itself here, in place of minimum or maximum: a number");
  return checkBound(value);
}

function checkCount(value: Json): ValueProblem | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    return here("Write a whole number, 0 or more");
  return numbersWithin(value);
}

function checkString(value: Json): ValueProblem | undefined {
  return typeof value === "string" ? undefined : here("Write a string");
}

function checkNames(value: Json): ValueProblem | undefined {
  if (!Array.isArray(value)) return here("Write a list of member names");
  if (value.some((name) => typeof name === "boolean")) {
    return here('Write member names: without quotes, YAML reads n, y, no, yes, on and off as true or false; write "n"');
  }
  if (!value.every((name) => typeof name === "string")) return here("Write a list of member names");
  return new Set(value).size < value.length ? here("Write each name once") : undefined;
}

/** Every number in the value is one that a double holds exactly. */
function numbersWithin(value: Json): ValueProblem | undefined {
  if (typeof value === "number") {
    if (Math.abs(value) <= schemaLimits.number) return undefined;
    return here(
      `Values in a schema go to ${schemaLimits.number} (2^53-1), because larger integers lose digits; use minimum and maximum, or a text`,
    );
  }
  if (Array.isArray(value)) return firstProblem(value, numbersWithin);
  if (!isObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const problem = numbersWithin(member);
    if (problem !== undefined) return { ...problem, pointer: childPointer("", name) + problem.pointer };
  }
  return undefined;
}

function firstProblem(values: readonly Json[], check: Check): ValueProblem | undefined {
  for (const [index, value] of values.entries()) {
    const problem = check(value);
    if (problem !== undefined) return { ...problem, pointer: `/${index}${problem.pointer}` };
  }
  return undefined;
}
