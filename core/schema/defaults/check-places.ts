// Reports the defaults of a schema that can't be filled in where they stand.

import { childPointer } from "../../json/json-pointer.ts";
import { checkAssertion } from "../read/check-assertion.ts";
import type { SchemaReport } from "../read/report.ts";
import { alwaysInPlace, inPlace, inside, reachable, type SchemaNode, type SchemaTree } from "../read/schema-tree.ts";

export function checkPlaces(root: SchemaNode, report: SchemaReport): void {
  const reported = new Set<SchemaNode>();
  const refuse = (node: SchemaNode, message: string): void => {
    if (reported.has(node)) return;
    reported.add(node);
    report.problem(defaultAt(node), message);
  };
  const plain = nodesOf(reachable(root, plainParts));
  for (const node of sourcesOf(root))
    refuse(node, "An object that is sent can't be missing: write defaults of its members");
  for (const node of plain) {
    for (const element of elements(node).flatMap(sourcesOf)) refuse(element, neverMissing);
    for (const part of conditionalParts(node)) {
      const below = typeof part === "boolean" ? [] : nodesOf(reachable(part, allParts));
      for (const inner of below.filter(hasDefault)) refuse(inner, conditional);
    }
    checkNumbers(node, report);
  }
}

const conditional =
  "With defaults: Apply, there can be no default below anyOf, oneOf, not, if, then, else, dependentSchemas, patternProperties, contains or unevaluated…: whether it applies depends on the object; declare the member under properties, or remove the default";

const neverMissing =
  "With defaults: Apply, only a member under properties can have a default: no item, and no member without a declared name, can be missing; remove it here, or write it where the member is declared";

/** A number in a schema is a double, which has lost digits of a larger integer. */
function checkNumbers(node: SchemaNode, report: SchemaReport): void {
  const problem = node.default === undefined ? undefined : checkAssertion("const", node.default);
  if (problem !== undefined) report.problem(defaultAt(node) + problem.pointer, problem.message);
}

export function defaultAt({ pointer }: SchemaNode): string {
  return childPointer(pointer, "default");
}

function hasDefault(node: SchemaNode): boolean {
  return node.default !== undefined;
}

/** Whose default a value of `tree` has: its own comes before those that it refers to. */
export function sourcesOf(tree: SchemaTree): readonly SchemaNode[] {
  if (typeof tree === "boolean") return [];
  return hasDefault(tree) ? [tree] : alwaysInPlace(tree).flatMap(sourcesOf);
}

export function nodesOf(trees: Iterable<SchemaTree>): readonly SchemaNode[] {
  return [...trees].filter((tree) => typeof tree !== "boolean");
}

/** Schemas that always apply to the value, or to a part of it wherever there is that part. */
export function plainParts(node: SchemaNode): readonly SchemaTree[] {
  return [...alwaysInPlace(node), ...(node.named.get("properties")?.values() ?? []), ...elements(node)];
}

function elements(node: SchemaNode): readonly SchemaTree[] {
  const items = node.single.get("items");
  return [...(node.lists.get("prefixItems") ?? []), ...(items === undefined ? [] : [items]), ...otherMembers(node)];
}

/** The schema of members that `node` does not name; none where names may follow a pattern. */
export function otherMembers({ single, named }: SchemaNode): readonly SchemaTree[] {
  const tree = single.get("additionalProperties");
  return tree === undefined || (named.get("patternProperties")?.size ?? 0) > 0 ? [] : [tree];
}

function conditionalParts(node: SchemaNode): readonly SchemaTree[] {
  const plain = new Set(plainParts(node));
  return allParts(node).filter((part) => !plain.has(part));
}

function allParts(node: SchemaNode): readonly SchemaTree[] {
  const names = node.single.get("propertyNames");
  return [...[...inPlace(node)].map(({ tree }) => tree), ...inside(node), ...(names === undefined ? [] : [names])];
}
