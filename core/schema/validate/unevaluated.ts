// Finds the members and items of a value that a schema has looked at, for unevaluatedProperties and unevaluatedItems.
// Conditional parts count where they hold for the value, which their validators say.

import type { Patterns } from "../pattern/patterns.ts";
import type { SchemaNode, SchemaTree } from "../read/schema-tree.ts";
import type { ValidationContext, ValuePlace } from "./context.ts";

export interface Evaluation {
  readonly context: ValidationContext;
  readonly patterns: Patterns;
}

type JsonMembers = Readonly<Record<string, unknown>>;

/** Names of evaluated members, or "all". The schema object's own unevaluatedProperties doesn't count. @throws WorkExhausted */
export function evaluatedMembers(
  root: SchemaNode,
  value: JsonMembers,
  evaluation: Evaluation,
): ReadonlySet<string> | "all" {
  const found = new Set<string>();
  const waiting: SchemaNode[] = [root];
  for (const node of waiting) {
    evaluation.context.meter.spend(40);
    const evaluatesRest =
      node.single.has("additionalProperties") || (node !== root && node.single.has("unevaluatedProperties"));
    if (evaluatesRest) return "all";
    addNamed(node, value, evaluation, found);
    waiting.push(...applied(node, value, evaluation));
  }
  return found;
}

/** Indices of evaluated items, or "all". @throws WorkExhausted */
export function evaluatedItems(
  root: SchemaNode,
  value: readonly unknown[],
  evaluation: Evaluation,
): ReadonlySet<number> | "all" {
  const found = new Set<number>();
  const waiting: SchemaNode[] = [root];
  for (const node of waiting) {
    evaluation.context.meter.spend(40);
    if (node.single.has("items") || (node !== root && node.single.has("unevaluatedItems"))) return "all";
    const prefix = node.lists.get("prefixItems")?.length ?? 0;
    for (let index = 0; index < prefix; index++) found.add(index);
    addContained(node.single.get("contains"), value, evaluation, found);
    waiting.push(...applied(node, value, evaluation));
  }
  return found;
}

function addNamed(node: SchemaNode, value: JsonMembers, { context, patterns }: Evaluation, found: Set<string>): void {
  const declared = node.named.get("properties") ?? new Map<string, SchemaTree>();
  context.meter.spend(5 * declared.size);
  for (const name of declared.keys()) if (Object.hasOwn(value, name)) found.add(name);
  const matchers = [...(node.named.get("patternProperties")?.keys() ?? [])].map((source) => patterns.matcher(source));
  if (matchers.length === 0) return;
  for (const name of Object.keys(value)) {
    if (matchers.some((matcher) => matcher.test(name, context.meter))) found.add(name);
  }
}

function addContained(
  tree: SchemaTree | undefined,
  value: readonly unknown[],
  evaluation: Evaluation,
  found: Set<number>,
): void {
  if (tree === undefined || tree === false) return;
  for (const [index, item] of value.entries()) {
    evaluation.context.meter.spend(5);
    if (tree === true || holds(tree, item, { parentData: value, parentDataProperty: index }, evaluation))
      found.add(index);
  }
}

/** Schema objects that apply to the same value as `node`, conditional ones where they hold. */
function applied(node: SchemaNode, value: object, evaluation: Evaluation): readonly SchemaNode[] {
  const trees: SchemaTree[] = node.references.map(({ target }) => target);
  trees.push(...(node.lists.get("allOf") ?? []), ...holdingOptions(node, value, evaluation));
  const condition = node.single.get("if");
  if (condition !== undefined) {
    const isMet = holdsInPlace(condition, value, evaluation);
    if (isMet) trees.push(condition);
    trees.push(node.single.get(isMet ? "then" : "else") ?? true);
  }
  for (const [name, tree] of node.named.get("dependentSchemas") ?? []) if (Object.hasOwn(value, name)) trees.push(tree);
  return trees.filter((tree) => typeof tree !== "boolean");
}

function holdingOptions(node: SchemaNode, value: object, evaluation: Evaluation): readonly SchemaTree[] {
  const options = [...(node.lists.get("anyOf") ?? []), ...(node.lists.get("oneOf") ?? [])];
  return options.filter((tree) => holdsInPlace(tree, value, evaluation));
}

function holdsInPlace(tree: SchemaTree, value: object, evaluation: Evaluation): boolean {
  return typeof tree === "boolean" ? tree : holds(tree, value, { parentData: {}, parentDataProperty: "" }, evaluation);
}

function holds(
  node: SchemaNode,
  value: unknown,
  place: Pick<ValuePlace, "parentData" | "parentDataProperty">,
  { context }: Evaluation,
): boolean {
  return context.validator(node.id)(value, { ...place, instancePath: "", rootData: value }).length === 0;
}
