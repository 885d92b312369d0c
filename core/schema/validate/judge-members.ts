// Judges the members or items of a value by keywords that call for a schema each: their failures, as many as are reported.

import { childPointer } from "../../json/json-pointer.ts";
import { validationLimits } from "../limits.ts";
import type { Failure, ValidationContext, ValuePlace } from "./context.ts";
import { type Called, neverKeyword, type UnevaluatedRule } from "./emit-schema.ts";
import { quoted } from "./messages.ts";
import { type Evaluation, evaluatedItems, evaluatedMembers } from "./unevaluated.ts";

/** The failures of a value, none when it is valid. @throws WorkExhausted */
export type JudgeMembers<Value> = (value: Value, place: ValuePlace) => readonly Failure[];

type Members = Readonly<Record<string, unknown>>;

/** Names that others need, each with those it needs. */
export type NamesByName = Readonly<Record<string, readonly string[]>>;

export function judgeDependent(rule: NamesByName, context: ValidationContext): JudgeMembers<Members> {
  const needs = Object.entries(rule);
  return (value) => {
    const failures: Failure[] = [];
    for (const [property, names] of needs) {
      if (!Object.hasOwn(value, property)) continue;
      const missing = names.filter((name) => !Object.hasOwn(value, name));
      context.meter.spend(2 * names.length);
      const params = missing.map((missingProperty) => ({ property, missingProperty }));
      failures.push(...params.map((param) => ({ keyword: "dependentRequired", params: param })));
      if (failures.length >= validationLimits.errors) break;
    }
    return failures;
  };
}

export function judgeNames(called: Called, { context }: Evaluation): JudgeMembers<Members> {
  return (value, { instancePath, rootData }) => {
    const failures: Failure[] = [];
    for (const name of Object.keys(value)) {
      context.meter.spend(5);
      const place = { instancePath: "", parentData: value, parentDataProperty: name, rootData };
      if (typeof called === "number" && context.validator(called)(name, place).length === 0) continue;
      const message = `The member name ${quoted(name)} is not allowed`;
      failures.push({ keyword: "propertyNames", params: {}, message, instancePath: childPointer(instancePath, name) });
      if (failures.length >= validationLimits.errors) break;
    }
    return failures;
  };
}

export function judgeUnevaluatedMembers(
  { node, called }: UnevaluatedRule,
  evaluation: Evaluation,
): JudgeMembers<Members> {
  return (value, place) => {
    const evaluated = evaluatedMembers(node, value, evaluation);
    if (evaluated === "all") return [];
    const rest = Object.keys(value).filter((name) => !evaluated.has(name));
    return judgeRest("unevaluatedProperties", { called, rest, value, place }, evaluation);
  };
}

export function judgeUnevaluatedItems(
  { node, called }: UnevaluatedRule,
  evaluation: Evaluation,
): JudgeMembers<readonly unknown[]> {
  return (value, place) => {
    const evaluated = evaluatedItems(node, value, evaluation);
    if (evaluated === "all") return [];
    const rest = [...value.keys()].filter((index) => !evaluated.has(index));
    return judgeRest("unevaluatedItems", { called, rest, value, place }, evaluation);
  };
}

interface Rest {
  readonly called: Called;
  /** Names or indices that nothing has evaluated. */
  readonly rest: readonly (string | number)[];
  readonly value: object;
  readonly place: ValuePlace;
}

function judgeRest(keyword: string, { called, rest, value, place }: Rest, { context }: Evaluation): readonly Failure[] {
  const failures: Failure[] = [];
  for (const key of rest) {
    context.meter.spend(10);
    const instancePath = childPointer(place.instancePath, key);
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
