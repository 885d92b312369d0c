// Defines for ajv what it lacks or does without a bound: the charge on every schema object, the end of a search for
// failures when there are enough, and the keywords that judge-value.ts and judge-members.ts judge.

import type { CodeKeywordDefinition, FuncKeywordDefinition, KeywordCxt, KeywordDefinition } from "ajv";
import { _, type Code, Name } from "ajv";
import type { Json } from "../../config/types.ts";
import { validationLimits } from "../limits.ts";
import type { StepCost } from "../meter.ts";
import { type JudgeValue, judgeAllowed, judgeContains, judgeMultiple, judgePattern, judgeUnique } from "./checks.ts";
import type { Failure, ValidationContext, ValuePlace } from "./context.ts";
import { type Called, type ContainsRule, neverKeyword, stepKeyword, type UnevaluatedRule } from "./emit-schema.ts";
import {
  type JudgeMembers,
  judgeDependent,
  judgeNames,
  judgeUnevaluatedItems,
  judgeUnevaluatedMembers,
  type NamesByName,
} from "./judge-members.ts";
import type { Evaluation } from "./unevaluated.ts";

/** The variables in which ajv's code counts and keeps failures. */
const errorCount = new Name("errors");
const errorList = new Name("vErrors");

/** Keywords of ajv that these replace, or that have no say any more. */
export const replacedKeywords: readonly string[] = [
  "const",
  "enum",
  "pattern",
  "multipleOf",
  "uniqueItems",
  "dependentRequired",
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
    valueKeyword(context, "const", (value: Json) => judgeAllowed([value], context)),
    valueKeyword(context, "enum", (values: readonly Json[]) => judgeAllowed(values, context)),
    { ...valueKeyword(context, "pattern", (source: string) => judgePattern(source, evaluation)), type: "string" },
    { ...valueKeyword(context, "multipleOf", (divisor: number) => judgeMultiple(divisor, context)), type: "number" },
    { ...valueKeyword(context, "uniqueItems", (most: number) => judgeUnique(most, context)), type: "array" },
    { ...valueKeyword(context, "contains", (rule: ContainsRule) => judgeContains(rule, context)), type: "array" },
    { ...membersKeyword("dependentRequired", (rule: NamesByName) => judgeDependent(rule, context)), type: "object" },
    { ...membersKeyword("propertyNames", (called: Called) => judgeNames(called, evaluation)), type: "object" },
    {
      ...membersKeyword("unevaluatedProperties", (rule: UnevaluatedRule) => judgeUnevaluatedMembers(rule, evaluation)),
      type: "object",
    },
    {
      ...membersKeyword("unevaluatedItems", (rule: UnevaluatedRule) => judgeUnevaluatedItems(rule, evaluation)),
      type: "array",
    },
  ];
}

/** ajv keeps the failures of every alternative that it tried; here the alternatives together fail once. */
export function withoutFailuresOfParts(definition: CodeKeywordDefinition): CodeKeywordDefinition {
  const code = (cxt: KeywordCxt): void => {
    const quiet: KeywordCxt = Object.create(cxt);
    quiet.subschema = (part, valid) => {
      const partContext = cxt.subschema(part, valid);
      // The alternative's outcome is in `valid` by now.
      cxt.reset();
      return partContext;
    };
    definition.code(quiet);
  };
  return { ...definition, code };
}

function stepDefinition({ context }: Evaluation): CodeKeywordDefinition {
  return {
    keyword: stepKeyword,
    before: "$ref",
    code: ({ gen, data, it, schema }) => {
      const cost = schema as StepCost;
      const meter = gen.scopeValue("obj", { ref: context.meter });
      gen.code(_`${meter}.spend(${cost.base})`);
      if (cost.perMember > 0 || cost.perCharacters > 0 || cost.callsPerMember > 0) {
        gen.code(_`${meter}.spendOn(${data}, ${shared(gen, context, cost)})`);
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

/** How the code says `value`: by its place in one list, because ajv needs quadratic time for values of their own. */
function shared(gen: KeywordCxt["gen"], context: ValidationContext, value: unknown): Code {
  return _`${gen.scopeValue("obj", { ref: context.shared })}[${context.shared.push(value) - 1}]`;
}

/** A keyword that fails once at most, with the message that `judge` gives. */
function valueKeyword<Rule, Value>(
  context: ValidationContext,
  keyword: string,
  compile: (rule: Rule) => JudgeValue<Value>,
): CodeKeywordDefinition {
  return {
    keyword,
    error: { message: "", params: ({ params }) => _`{message: ${params.message}}` },
    code: (cxt) => {
      const { gen, data, it, schema } = cxt;
      const judge = shared(gen, context, compile(schema as Rule));
      const message = gen.const("message", _`${judge}(${data}, ${it.parentData}, ${it.parentDataProperty})`);
      cxt.setParams({ message });
      cxt.fail(_`${message} !== undefined`);
    },
  };
}

/** A keyword that may fail at several places. */
function membersKeyword<Rule, Value>(
  keyword: string,
  compile: (rule: Rule) => JudgeMembers<Value>,
): FuncKeywordDefinition {
  return {
    keyword,
    errors: true,
    compile: (rule: Rule) => {
      const judge = compile(rule);
      const check = Object.assign(
        (value: Value, place: ValuePlace): boolean => {
          const failures = judge(value, place);
          check.errors = failures.length > 0 ? [...failures] : null;
          return failures.length === 0;
        },
        { errors: null as Failure[] | null },
      );
      // ajv's type knows failures as its own class of objects only; these carry what it reads of them.
      return check as unknown as ReturnType<NonNullable<FuncKeywordDefinition["compile"]>>;
    },
  };
}
