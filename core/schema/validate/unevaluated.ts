// Checks unevaluatedProperties and unevaluatedItems: finds the members and items of a value that a
// schema has evaluated, and applies the subschema to the rest. Conditional parts count where they
// hold. ajv ignores what contains evaluates, and copies the names of members at every step.

import { childPointer } from "../../json/json-pointer.ts";
import { isObject } from "../../json/json-value.ts";
import { validationLimits } from "../limits.ts";
import { alwaysInPlace, type SchemaNode, type SchemaTree } from "../read/schema-tree.ts";
import type { Check, Failure, ValidationContext } from "./context.ts";
import { failuresOf } from "./messages.ts";

type Members = Readonly<Record<string, unknown>>;

export function checkUnevaluatedMembers(node: SchemaNode, context: ValidationContext): Check {
  return (value) => {
    if (!isObject(value)) return undefined;
    const evaluated = evaluatedMembers(node, value, context);
    if (evaluated === "all") return undefined;
    const rest = Object.keys(value).filter((name) => !evaluated.has(name));
    return checkRest(node, { keyword: "unevaluatedProperties", value, rest }, context);
  };
}

export function checkUnevaluatedItems(node: SchemaNode, context: ValidationContext): Check {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const evaluated = evaluatedItems(node, value, context);
    if (evaluated === "all") return undefined;
    const rest = [...value.keys()].filter((index) => !evaluated.has(index));
    return checkRest(node, { keyword: "unevaluatedItems", value, rest }, context);
  };
}

interface Rest {
  readonly keyword: "unevaluatedProperties" | "unevaluatedItems";
  readonly value: object;
  /** Names or indices that nothing has evaluated. */
  readonly rest: readonly (string | number)[];
}

function checkRest(
  node: SchemaNode,
  { keyword, value, rest }: Rest,
  context: ValidationContext,
): readonly Failure[] | undefined {
  const tree = node.single.get(keyword) ?? true;
  const failures: Failure[] = [];
  for (const key of rest) {
    context.meter.spend(10);
    const pointer = childPointer("", key);
    if (typeof tree === "object") {
      const found = failuresOf(context.validate(tree, (value as Members)[key], value, key));
      failures.push(...found.map((failure) => ({ ...failure, pointer: pointer + failure.pointer })));
    } else if (!tree) {
      failures.push({ pointer, keyword });
    }
    if (failures.length >= validationLimits.errors) break;
  }
  return failures.length > 0 ? failures : undefined;
}

/** Names of evaluated members, or "all". @throws WorkExhausted */
function evaluatedMembers(root: SchemaNode, value: Members, context: ValidationContext): ReadonlySet<string> | "all" {
  const found = new Set<string>();
  const waiting: SchemaNode[] = [root];
  for (const node of waiting) {
    context.meter.spend(40);
    const evaluatesRest =
      node.single.has("additionalProperties") || (node !== root && node.single.has("unevaluatedProperties"));
    if (evaluatesRest) return "all";
    addNamed(node, value, context, found);
    waiting.push(...applied(node, value, context));
  }
  return found;
}

/** Indices of evaluated items, or "all". @throws WorkExhausted */
function evaluatedItems(
  root: SchemaNode,
  value: readonly unknown[],
  context: ValidationContext,
): ReadonlySet<number> | "all" {
  const found = new Set<number>();
  const waiting: SchemaNode[] = [root];
  for (const node of waiting) {
    context.meter.spend(40);
    if (node.single.has("items") || (node !== root && node.single.has("unevaluatedItems"))) return "all";
    const prefix = node.lists.get("prefixItems")?.length ?? 0;
    for (let index = 0; index < prefix; index++) found.add(index);
    addContained(node.single.get("contains"), value, context, found);
    waiting.push(...applied(node, value, context));
  }
  return found;
}

function addNamed(node: SchemaNode, value: Members, context: ValidationContext, found: Set<string>): void {
  const { meter, patterns } = context;
  const declared = node.named.get("properties") ?? new Map<string, SchemaTree>();
  meter.spend(5 * declared.size);
  for (const name of declared.keys()) if (Object.hasOwn(value, name)) found.add(name);
  const matchers = [...(node.named.get("patternProperties")?.keys() ?? [])].map((source) => patterns.matcher(source));
  if (matchers.length === 0) return;
  for (const name of Object.keys(value)) {
    if (matchers.some((matcher) => matcher.test(name, meter))) found.add(name);
  }
}

function addContained(
  tree: SchemaTree | undefined,
  value: readonly unknown[],
  context: ValidationContext,
  found: Set<number>,
): void {
  if (tree === undefined) return;
  for (const [index, item] of value.entries()) {
    context.meter.spend(5);
    if (context.accepts(tree, item, value, index)) found.add(index);
  }
}

/** Schema objects that apply to the same value as `node`, conditional ones where they hold. */
function applied(node: SchemaNode, value: object, context: ValidationContext): readonly SchemaNode[] {
  const holds = (tree: SchemaTree): boolean => context.accepts(tree, value, {}, "");
  const alternatives = [...(node.lists.get("anyOf") ?? []), ...(node.lists.get("oneOf") ?? [])];
  const trees = [...alwaysInPlace(node), ...alternatives.filter(holds), ...holdingCondition(node, holds)];
  for (const [name, tree] of node.named.get("dependentSchemas") ?? []) if (Object.hasOwn(value, name)) trees.push(tree);
  return trees.filter((tree) => typeof tree !== "boolean");
}

function holdingCondition({ single }: SchemaNode, holds: (tree: SchemaTree) => boolean): readonly SchemaTree[] {
  const condition = single.get("if");
  if (condition === undefined) return [];
  return holds(condition) ? [condition, single.get("then") ?? true] : [single.get("else") ?? true];
}
