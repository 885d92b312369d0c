// Evaluates the CEL rules of a CRD's schema on a manifest, at every level; transition rules where
// there is a former version. A rule that is false refuses with its message.

import { parse } from "@marcbachmann/cel-js";
import type { Json } from "../config/types.ts";
import { isArray, isObject } from "../json/json-value.ts";
import { ruleAdvice } from "./advice.ts";
import type { ManifestPath } from "./field-errors.ts";
import { duplicate, type FieldError, forbidden, invalid, required } from "./field-errors.ts";
import type { Rule, SchemaNode } from "./schema-node.ts";
import { nodeOf } from "./schema-node.ts";

/** A value, and the last accepted version's in the same place; `old` undefined = none. */
interface Change {
  readonly value: Json;
  readonly old: Json | undefined;
}

/** `change.value` must have passed the structural checks without a blocking error. */
export function ruleErrors(schema: SchemaNode, change: Change, path: ManifestPath = []): readonly FieldError[] {
  const { value, old } = change;
  // The API server leaves null alone, too: a rule about it stands on the parent.
  if (value === null) return [];
  const errors = brokenRules(schema, change, path);
  if (isArray(value)) {
    const { items } = schema;
    if (items === undefined) return errors;
    // Items of a set have no identity, so that they have no former version.
    return [
      ...errors,
      ...value.flatMap((item, index) => ruleErrors(items, { value: item, old: undefined }, [...path, index])),
    ];
  }
  if (!isObject(value)) return errors;
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const node = nodeOf(schema, name);
    const former = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
    return node === undefined ? [] : ruleErrors(node, { value: member, old: former }, [...path, name]);
  });
  return [...errors, ...inside];
}

function brokenRules(schema: SchemaNode, { value, old }: Change, path: ManifestPath): readonly FieldError[] {
  const applying = (schema["x-kubernetes-validations"] ?? []).filter(
    ({ rule }) => old !== undefined || !/\boldSelf\b/.test(rule),
  );
  if (applying.length === 0) return [];
  const values = { self: celValue(schema, value), ...(old === undefined ? {} : { oldSelf: celValue(schema, old) }) };
  const errors = applying.flatMap((rule) => broken(rule, values, { value, path }));
  const [first, ...others] = errors;
  if (first === undefined || typeof value !== "string" || schema.format !== undefined) return errors;
  const isValid = (text: string): boolean => applying.every(({ rule }) => holds(rule, { ...values, self: text }));
  return [{ ...first, advice: ruleAdvice(value, isValid) }, ...others];
}

function holds(rule: string, values: Record<string, unknown>): boolean {
  try {
    return parse(rule)(values) === true;
  } catch {
    return false;
  }
}

/**
 * Times as Dates, and objects as Maps: the evaluator reads an object's type from its `constructor`,
 * which could be a field of the data.
 */
function celValue(schema: SchemaNode, value: Json): unknown {
  if (isArray(value)) return value.map((item) => celValue(schema.items ?? {}, item));
  if (typeof value === "string") return schema.format === "date-time" ? new Date(value) : value;
  if (!isObject(value)) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, celValue(nodeOf(schema, name) ?? {}, member)]));
}

interface RuleTarget {
  readonly value: Json;
  readonly path: ManifestPath;
}

function broken(rule: Rule, values: Record<string, unknown>, { value, path }: RuleTarget): readonly FieldError[] {
  const message = rule.message ?? `failed rule: ${rule.rule}`;
  try {
    const holds: unknown = parse(rule.rule)(values);
    return holds === true ? [] : [refusal(rule, value, path, message)];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [invalid(path, undefined, `${reason} evaluating rule: ${message}`)];
  }
}

function refusal(rule: Rule, value: Json, path: ManifestPath, message: string): FieldError {
  const below = rule.fieldPath === undefined ? [] : rule.fieldPath.split(".").filter((part) => part !== "");
  const at = [...path, ...below];
  const scalar = isArray(value) || isObject(value) ? undefined : value;
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(at, message);
    case "FieldValueRequired":
      return required(at, message);
    case "FieldValueDuplicate":
      return duplicate(at, value);
    default:
      return invalid(at, scalar, message);
  }
}
