// The keywords that ajv does not check here, each as a function: those whose code in ajv grows
// faster than the value, that compare numbers as doubles, or that keep a failure for every member
// that they try.

import type { Json } from "../../config/types.ts";
import { childPointer } from "../../json/json-pointer.ts";
import { isObject } from "../../json/json-value.ts";
import { validationLimits } from "../limits.ts";
import type { AssertionKeyword, SchemaNode, SingleKeyword } from "../read/schema-tree.ts";
import type { Check, Failure, ValidationContext } from "./context.ts";
import { comparableText } from "./equality.ts";
import { allowedValues, counted, quoted } from "./messages.ts";
import { costOfMultipleOf, ExactIntegers, isMultipleOf } from "./numbers.ts";
import { checkUnevaluatedItems, checkUnevaluatedMembers } from "./unevaluated.ts";

type CheckMaker = (node: SchemaNode, context: ValidationContext) => Check;

type CheckedKeyword =
  | (AssertionKeyword & ("const" | "enum" | "multipleOf" | "uniqueItems" | "dependentRequired"))
  | (SingleKeyword & ("contains" | "propertyNames" | "unevaluatedProperties" | "unevaluatedItems"));

const makers: Readonly<Record<CheckedKeyword, CheckMaker>> = {
  const: (node, context) => checkAllowed("const", [node.assertions.get("const") as Json], context),
  enum: (node, context) => checkAllowed("enum", node.assertions.get("enum") as readonly Json[], context),
  multipleOf: checkMultiple,
  uniqueItems: checkUnique,
  dependentRequired: checkDependent,
  contains: checkContains,
  propertyNames: checkNames,
  unevaluatedProperties: checkUnevaluatedMembers,
  unevaluatedItems: checkUnevaluatedItems,
};

/** The checks that the keywords of a schema object ask for, subschemas aside. */
export function checksOf(node: SchemaNode, context: ValidationContext): readonly Check[] {
  return Object.entries(makers)
    .filter(([keyword]) => asksForCheck(node, keyword as CheckedKeyword))
    .map(([, make]) => make(node, context));
}

function asksForCheck({ assertions, single }: SchemaNode, keyword: CheckedKeyword): boolean {
  const tree = single.get(keyword as SingleKeyword);
  if (tree !== undefined) return tree !== true || keyword === "contains";
  return (
    assertions.has(keyword as AssertionKeyword) &&
    !(assertions.get(keyword as AssertionKeyword) === false && keyword === "uniqueItems")
  );
}

/** Refuses every value, as a subschema `false` does; `keyword` names its keyword. */
export function checkNever(keyword: string): Check {
  const failures = [{ pointer: "", keyword }];
  return () => failures;
}

function failed(keyword: string, message: string): readonly Failure[] {
  return [{ pointer: "", keyword, message }];
}

/** `const` and `enum`: ajv compares one by one, and fails on members such as `toString`. */
function checkAllowed(keyword: string, values: readonly Json[], context: ValidationContext): Check {
  const scalars = new Set<unknown>(values.filter((value) => !isContainer(value)));
  const containers = containerTexts(values);
  const maxLength = Math.max(0, ...containers.values().map(({ length }) => length));
  const failures = failed(keyword, `Must be ${allowedValues(values)}`);
  return (value) => {
    if (!isContainer(value)) return scalars.has(value) ? undefined : failures;
    const text = containers.size === 0 ? undefined : comparableText([value], 0, context, maxLength);
    return text !== undefined && containers.has(text) ? undefined : failures;
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

/** ajv divides doubles. */
function checkMultiple({ assertions }: SchemaNode, context: ValidationContext): Check {
  const divisor = assertions.get("multipleOf") as number;
  const failures = failed("multipleOf", `Must be a multiple of ${divisor}`);
  return (value, parent, key) => {
    if (typeof value !== "number") return undefined;
    context.meter.spend(costOfMultipleOf(value, divisor));
    return isMultipleOf(context.exact.at(parent, key) ?? value, divisor) ? undefined : failures;
  };
}

/** The cost of keeping a text among hundreds of thousands. */
const unitsPerUniqueItem = 20;

/** ajv compares each item with every other one. */
function checkUnique({ assertions }: SchemaNode, context: ValidationContext): Check {
  const maxItems = Number(assertions.get("maxItems") ?? Number.POSITIVE_INFINITY);
  return (items) => {
    // Too long an array fails maxItems.
    if (!Array.isArray(items) || items.length > maxItems) return undefined;
    const seen = new Map<string | undefined, number>();
    for (const index of items.keys()) {
      context.meter.spend(unitsPerUniqueItem);
      const text = comparableText(items, index, context, Number.POSITIVE_INFINITY);
      const earlier = seen.get(text);
      if (earlier !== undefined) {
        return failed("uniqueItems", `Items ${earlier} and ${index} are equal; every item must be unique`);
      }
      seen.set(text, index);
    }
    return undefined;
  };
}

/** ajv writes all names that a member needs into the code of each of them. */
function checkDependent({ assertions }: SchemaNode, { meter }: ValidationContext): Check {
  const needs = Object.entries(assertions.get("dependentRequired") as Readonly<Record<string, readonly string[]>>);
  return (value) => {
    if (!isObject(value)) return undefined;
    const failures: Failure[] = [];
    for (const [property, names] of needs) {
      if (!Object.hasOwn(value, property)) continue;
      meter.spend(2 * names.length);
      const missing = names.filter((name) => !Object.hasOwn(value, name));
      failures.push(...missing.map((name) => missingMember(name, property)));
      if (failures.length >= validationLimits.errors) break;
    }
    return failures.length > 0 ? failures : undefined;
  };
}

function missingMember(name: string, property: string): Failure {
  const message = `The member ${quoted(name)} is missing; ${quoted(property)} needs it`;
  return { pointer: childPointer("", name), keyword: "dependentRequired", message };
}

/** ajv keeps the failures of every item that it tries. */
function checkContains({ assertions, single }: SchemaNode, context: ValidationContext): Check {
  const tree = single.get("contains") ?? true;
  const min = Number(assertions.get("minContains") ?? 1);
  const max = Number(assertions.get("maxContains") ?? Number.POSITIVE_INFINITY);
  const tooFew = failed("contains", `At least ${counted(min, "item")} must match the schema under contains`);
  const tooMany = failed("contains", `At most ${counted(max, "item")} may match the schema under contains`);
  return (items) => {
    if (!Array.isArray(items)) return undefined;
    let count = 0;
    for (const [index, item] of items.entries()) {
      context.meter.spend(5);
      if (context.accepts(tree, item, items, index)) count++;
      if (count > max) return tooMany;
    }
    return count < min ? tooFew : undefined;
  };
}

/** ajv keeps the failures of every name, and reports them at the object. */
function checkNames({ single }: SchemaNode, context: ValidationContext): Check {
  const tree = single.get("propertyNames") ?? true;
  return (value) => {
    if (!isObject(value)) return undefined;
    const failures: Failure[] = [];
    for (const name of Object.keys(value)) {
      context.meter.spend(5);
      if (context.accepts(tree, name, value, name)) continue;
      const message = `The member name ${quoted(name)} is not allowed`;
      failures.push({ pointer: childPointer("", name), keyword: "propertyNames", message });
      if (failures.length >= validationLimits.errors) break;
    }
    return failures.length > 0 ? failures : undefined;
  };
}
