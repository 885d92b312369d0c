// Defines for ajv what it lacks or does without a bound: the charge on every schema object, the end of a search for
// failures when there are enough, and every keyword whose own code grows faster than the value.

import type { CodeKeywordDefinition, FuncKeywordDefinition, KeywordCxt, KeywordDefinition } from "ajv";
import { _, Name } from "ajv";
import type { Json } from "../config/types.ts";
import { type Called, type ContainsRule, neverKeyword, stepKeyword, type UnevaluatedRule } from "./emit-schema.ts";
import { comparableText } from "./equality.ts";
import { type Evaluation, evaluatedItems, evaluatedMembers } from "./evaluated.ts";
import { validationLimits } from "./limits.ts";
import { allowedValues, quoted } from "./messages.ts";
import { isMultipleOf } from "./multiple-of.ts";
import { below } from "./pointer.ts";
import type { Failure, ValuePlace } from "./validators.ts";
import type { StepCost } from "./work.ts";

/** The variables in which ajv's code counts and keeps failures. */
const errorCount = new Name("errors");
const errorList = new Name("vErrors");

/** A keyword that is a function: its failures for a value. */
type Judge<T> = (value: T, place: ValuePlace) => readonly Failure[];

/** Keywords of ajv that these replace. */
export const replacedKeywords: readonly string[] = [
  "const",
  "enum",
  "multipleOf",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** The definitions for one schema: they share its context and are of no use to another. */
export function schemaKeywords(evaluation: Evaluation): readonly KeywordDefinition[] {
  const { context } = evaluation;
  return [
    stepDefinition(evaluation),
    neverDefinition,
    judged("const", undefined, (value: Json) => judgeValues("const", [value], evaluation)),
    judged("enum", undefined, (values: readonly Json[]) => judgeValues("enum", values, evaluation)),
    judged(
      "multipleOf",
      "number",
      (divisor: number): Judge<number> =>
        (value, place) => {
          context.meter.spend(20);
          const exact = context.exact.at(place.parentData, place.parentDataProperty);
          return isMultipleOf(exact ?? value, divisor)
            ? []
            : [failure("multipleOf", `Must be a multiple of ${divisor}`)];
        },
    ),
    judged("uniqueItems", "array", (most: number) => judgeUnique(most, evaluation)),
    judged("contains", "array", (rule: ContainsRule) => judgeContains(rule, evaluation)),
    judged("propertyNames", "object", (called: Called) => judgeNames(called, evaluation)),
    judged("unevaluatedProperties", "object", (rule: UnevaluatedRule) => judgeUnevaluatedMembers(rule, evaluation)),
    judged("unevaluatedItems", "array", (rule: UnevaluatedRule) => judgeUnevaluatedItems(rule, evaluation)),
  ];
}

/** ajv keeps the failures of alternatives that it tried; the alternatives together have failed once. */
export function withoutFailuresOfParts(definition: CodeKeywordDefinition): CodeKeywordDefinition {
  const code = (cxt: KeywordCxt): void => {
    const quiet: KeywordCxt = Object.create(cxt);
    quiet.error = (append) => {
      cxt.reset();
      cxt.setParams(quiet.params);
      cxt.error(append);
    };
    definition.code(quiet);
  };
  return { ...definition, code };
}

function stepDefinition({ context }: Evaluation): CodeKeywordDefinition {
  return {
    keyword: stepKeyword,
    code: ({ gen, data, it, schema }) => {
      const cost = schema as StepCost;
      const meter = gen.scopeValue("obj", { ref: context.meter });
      gen.code(_`${meter}.spend(${cost.base})`);
      if (cost.perMember > 0 || cost.perCharacters > 0 || cost.callsPerMember > 0) {
        gen.code(_`${meter}.spendOn(${data}, ${gen.scopeValue("obj", { ref: cost })})`);
      }
      // Whatever follows, the function has failed: in an alternative it could still be undone, so there it goes on.
      if (it.compositeRule !== true) {
        gen.if(_`${errorCount} >= ${validationLimits.errors}`, () => {
          gen.assign(_`${it.validateName}.errors`, errorList);
          gen.return(false);
        });
      }
    },
  };
}

const neverDefinition: CodeKeywordDefinition = {
  keyword: neverKeyword,
  schemaType: "string",
  error: { message: "", params: ({ schema }) => _`{refusedBy: ${schema}}` },
  code: (cxt) => cxt.fail(),
};

function judged<Rule, Value>(
  keyword: string,
  type: "number" | "array" | "object" | undefined,
  compile: (rule: Rule) => Judge<Value>,
): FuncKeywordDefinition {
  return {
    keyword,
    ...(type === undefined ? {} : { type }),
    errors: true,
    compile: (rule: Rule) => {
      const judge = compile(rule);
      const check = Object.assign(
        (value: Value, place?: ValuePlace): boolean => {
          const failures = place === undefined ? [] : judge(value, place);
          check.errors = failures.length > 0 ? [...failures] : null;
          return failures.length === 0;
        },
        { errors: null as Failure[] | null },
      );
      return check as unknown as ReturnType<NonNullable<FuncKeywordDefinition["compile"]>>;
    },
  };
}

function failure(keyword: string, message: string, instancePath?: string): Failure {
  return { keyword, params: {}, message, ...(instancePath === undefined ? {} : { instancePath }) };
}

function judgeValues(keyword: "const" | "enum", values: readonly Json[], { context }: Evaluation): Judge<unknown> {
  const isContainer = (value: unknown) => typeof value === "object" && value !== null;
  const scalars = new Set<unknown>(values.filter((value) => !isContainer(value)));
  const unlimited = { meter: { spend: () => undefined }, exact: context.exact };
  const containers = new Set<string | undefined>();
  let longest = 0;
  for (const [index, value] of values.entries()) {
    if (!isContainer(value)) continue;
    const text = comparableText(values, index, unlimited, Number.POSITIVE_INFINITY) ?? "";
    containers.add(text);
    longest = Math.max(longest, text.length);
  }
  const failures = [failure(keyword, `Must be ${allowedValues(values)}`)];
  return (value) => {
    if (!isContainer(value)) return scalars.has(value) ? [] : failures;
    const text = containers.size === 0 ? undefined : comparableText([value], 0, context, longest);
    return text !== undefined && containers.has(text) ? [] : failures;
  };
}

function judgeUnique(most: number, { context }: Evaluation): Judge<readonly unknown[]> {
  return (items) => {
    // Too long an array fails maxItems, which stands beside.
    if (items.length > most) return [];
    const seen = new Map<string | undefined, number>();
    for (const index of items.keys()) {
      const text = comparableText(items, index, context, Number.POSITIVE_INFINITY);
      const earlier = seen.get(text);
      if (earlier !== undefined)
        return [failure("uniqueItems", `Items ${earlier} and ${index} are equal; every item must be unique`)];
      seen.set(text, index);
    }
    return [];
  };
}

function judgeContains({ called, min, max }: ContainsRule, { context }: Evaluation): Judge<readonly unknown[]> {
  return (items, { instancePath, rootData }) => {
    let count = 0;
    for (const [parentDataProperty, item] of items.entries()) {
      context.meter.spend(5);
      const place = { instancePath, parentData: items, parentDataProperty, rootData };
      const holds = typeof called === "boolean" ? called : context.validator(called)(item, place).length === 0;
      if (holds) count++;
      if (count > (max ?? Number.POSITIVE_INFINITY)) {
        return [failure("contains", `At most ${max} items may match the schema under contains`)];
      }
    }
    return count >= min ? [] : [failure("contains", `At least ${min} items must match the schema under contains`)];
  };
}

function judgeNames(called: Called, { context }: Evaluation): Judge<object> {
  return (value, { instancePath, rootData }) => {
    const failures: Failure[] = [];
    for (const name of Object.keys(value)) {
      context.meter.spend(5);
      const place = { instancePath: "", parentData: {}, parentDataProperty: name, rootData };
      const isValid = typeof called === "number" && context.validator(called)(name, place).length === 0;
      if (!isValid)
        failures.push(
          failure("propertyNames", `The member name ${quoted(name)} is not allowed`, below(instancePath, name)),
        );
      if (failures.length >= validationLimits.errors) break;
    }
    return failures;
  };
}

function judgeUnevaluatedMembers(
  { node, called }: UnevaluatedRule,
  evaluation: Evaluation,
): Judge<Readonly<Record<string, unknown>>> {
  return (value, place) => {
    const evaluated = evaluatedMembers(node, value, evaluation);
    if (evaluated === "all") return [];
    const rest = Object.keys(value).filter((name) => !evaluated.has(name));
    return judgeRest("unevaluatedProperties", { called, rest, value, place }, evaluation);
  };
}

function judgeUnevaluatedItems({ node, called }: UnevaluatedRule, evaluation: Evaluation): Judge<readonly unknown[]> {
  return (value, place) => {
    const evaluated = evaluatedItems(node, value, evaluation);
    if (evaluated === "all") return [];
    const rest = [...value.keys()].filter((index) => !evaluated.has(index));
    return judgeRest("unevaluatedItems", { called, rest, value, place }, evaluation);
  };
}

interface Rest {
  readonly called: Called;
  readonly rest: readonly (string | number)[];
  readonly value: object;
  readonly place: ValuePlace;
}

function judgeRest(keyword: string, { called, rest, value, place }: Rest, { context }: Evaluation): readonly Failure[] {
  const failures: Failure[] = [];
  for (const key of rest) {
    context.meter.spend(10);
    const instancePath = below(place.instancePath, key);
    if (typeof called === "number") {
      const member: unknown = (value as Readonly<Record<string | number, unknown>>)[key];
      const at = { instancePath, parentData: value, parentDataProperty: key, rootData: place.rootData };
      failures.push(...context.validator(called)(member, at));
    } else {
      failures.push({ keyword: neverKeyword, params: { refusedBy: keyword }, instancePath });
    }
    if (failures.length >= validationLimits.errors) break;
  }
  return failures;
}
