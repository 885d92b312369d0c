// Judges a value by one keyword whose code in ajv grows faster than the value, or compares numbers as doubles only.

import type { Json } from "../../config/types.ts";
import type { ValidationContext } from "./context.ts";
import type { ContainsRule } from "./emit-schema.ts";
import { comparableText } from "./equality.ts";
import { ExactIntegers } from "./exact-integers.ts";
import { allowedValues, counted, quoted } from "./messages.ts";
import { costOfMultipleOf, isMultipleOf } from "./multiple-of.ts";
import type { Evaluation } from "./unevaluated.ts";

/** What is wrong with the value at `key` of `parent`; undefined when nothing is. @throws WorkExhausted */
export type JudgeValue<Value> = (value: Value, parent: unknown, key: string | number) => string | undefined;

/** `const` and `enum`: equal to one of the values. */
export function judgeAllowed(values: readonly Json[], context: ValidationContext): JudgeValue<unknown> {
  const scalars = new Set<unknown>(values.filter((value) => !isContainer(value)));
  const containers = containerTexts(values);
  const longest = Math.max(0, ...containers.values().map(({ length }) => length));
  const message = `Must be ${allowedValues(values)}`;
  return (value) => {
    if (!isContainer(value)) return scalars.has(value) ? undefined : message;
    const text = containers.size === 0 ? undefined : comparableText([value], 0, context, longest);
    return text !== undefined && containers.has(text) ? undefined : message;
  };
}

function containerTexts(values: readonly Json[]): ReadonlySet<string> {
  const unmetered = { meter: { spend: () => undefined }, exact: new ExactIntegers() };
  const texts = values.map((value, index) =>
    isContainer(value) ? comparableText(values, index, unmetered, Number.POSITIVE_INFINITY) : undefined,
  );
  return new Set(texts.filter((text) => text !== undefined));
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

export function judgePattern(source: string, { context, patterns }: Evaluation): JudgeValue<string> {
  const matcher = patterns.matcher(source);
  const message = `Must match the pattern ${quoted(source)}`;
  return (text) => (matcher.test(text, context.meter) ? undefined : message);
}

export function judgeMultiple(divisor: number, context: ValidationContext): JudgeValue<number> {
  return (value, parent, key) => {
    context.meter.spend(costOfMultipleOf(value, divisor));
    return isMultipleOf(context.exact.at(parent, key) ?? value, divisor)
      ? undefined
      : `Must be a multiple of ${divisor}`;
  };
}

/** `most` is the maxItems that stands beside. */
export function judgeUnique(most: number, context: ValidationContext): JudgeValue<readonly unknown[]> {
  return (items) => {
    // Too long an array fails maxItems.
    if (items.length > most) return undefined;
    const seen = new Map<string | undefined, number>();
    for (const index of items.keys()) {
      const text = comparableText(items, index, context, Number.POSITIVE_INFINITY);
      const earlier = seen.get(text);
      if (earlier !== undefined) return `Items ${earlier} and ${index} are equal; every item must be unique`;
      seen.set(text, index);
    }
    return undefined;
  };
}

export function judgeContains(rule: ContainsRule, context: ValidationContext): JudgeValue<readonly unknown[]> {
  const { called, min, max = Number.POSITIVE_INFINITY } = rule;
  return (items) => {
    const holds = (item: unknown, parentDataProperty: number): boolean => {
      context.meter.spend(5);
      if (typeof called === "boolean") return called;
      const place = { instancePath: "", parentData: items, parentDataProperty, rootData: items };
      return context.validator(called)(item, place).length === 0;
    };
    let count = 0;
    for (const [index, item] of items.entries()) {
      if (holds(item, index)) count++;
      if (count > max) return `At most ${counted(max, "item")} may match the schema under contains`;
    }
    return count < min ? `At least ${counted(min, "item")} must match the schema under contains` : undefined;
  };
}
