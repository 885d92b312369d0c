// Reports members that a schema requires while another one, which applies to the same value, allows
// no such member: no object can match both.

import { childPointer } from "../../json/json-pointer.ts";
import type { SchemaReport } from "./report.ts";
import { alwaysInPlace, inPlace, inside, namesOf, reachable, type SchemaNode, type SchemaTree } from "./schema-tree.ts";

export function checkRequired(root: SchemaNode, nodes: readonly SchemaNode[], report: SchemaReport): void {
  const closures = new Map([root, ...nodes].map((node) => [node, closureOf(node)] as const));
  // Each pair is compared once, however many schemas refer to both.
  const compared = new Map<SchemaNode, Set<SchemaNode>>();
  const always = reachable(root, (node) => [...alwaysInPlace(node), ...inside(node)]);
  for (const node of outermost(root, nodes, always)) {
    // Under a condition, what no object can match may be meant.
    const say = always.has(node) ? "contradiction" : "warn";
    const together = nodesOf(reachable(node, alwaysInPlace));
    for (const closing of together) {
      const closure = closures.get(closing);
      if (closure === undefined) continue;
      const done = compared.get(closing) ?? new Set();
      compared.set(closing, done);
      for (const requiring of together.filter((each) => !done.has(each))) {
        done.add(requiring);
        sayUndeclared(requiring, closure, (pointer, describe) => report[say](pointer, describe));
      }
    }
  }
}

/** Without those that apply together below another one; those that always apply first. */
function outermost(
  root: SchemaNode,
  nodes: readonly SchemaNode[],
  always: ReadonlySet<SchemaTree>,
): ReadonlySet<SchemaNode> {
  const inner = new Set(nodes.flatMap(alwaysInPlace));
  const outer = nodes.filter((node) => !inner.has(node));
  return new Set([root, ...outer.filter((node) => always.has(node)), ...outer]);
}

/** A keyword that refuses all members but the declared ones. */
interface Closure {
  readonly keyword: "additionalProperties" | "unevaluatedProperties";
  readonly declared: ReadonlySet<string>;
}

function closureOf(node: SchemaNode): Closure | undefined {
  const { single } = node;
  const own = single.get("additionalProperties") === false ? declaredBy([node]) : undefined;
  if (own !== undefined) return { keyword: "additionalProperties", declared: own };
  if (single.get("unevaluatedProperties") !== false) return undefined;
  // It sees what all schemas below it declare, under a condition, too.
  const below = nodesOf(reachable(node, (each) => [...inPlace(each)].map(({ tree }) => tree)));
  const declared = below.some((each) => isOpen(each, node)) ? undefined : declaredBy(below);
  return declared && { keyword: "unevaluatedProperties", declared };
}

/** Whether it evaluates members that it does not name, before `closing` asks. */
function isOpen(node: SchemaNode, closing: SchemaNode): boolean {
  const { single } = node;
  const others = [single.get("additionalProperties"), node === closing ? false : single.get("unevaluatedProperties")];
  return others.some((tree) => tree !== undefined && tree !== false);
}

/** Undefined where names may follow a pattern: nothing is said of any then. */
function declaredBy(nodes: readonly SchemaNode[]): ReadonlySet<string> | undefined {
  if (nodes.some(({ named }) => (named.get("patternProperties")?.size ?? 0) > 0)) return undefined;
  return new Set(nodes.flatMap(({ named }) => [...(named.get("properties")?.keys() ?? [])]));
}

function nodesOf(trees: ReadonlySet<SchemaTree>): readonly SchemaNode[] {
  return [...trees].filter((tree) => typeof tree !== "boolean");
}

function sayUndeclared(requiring: SchemaNode, { keyword, declared }: Closure, say: SchemaReport["warn"]): void {
  const required = requiring.assertions.get("required");
  for (const [index, name] of namesOf(required)) {
    if (declared.has(name)) continue;
    say(
      childPointer(childPointer(requiring.pointer, "required"), index),
      () =>
        `No object can match: ${JSON.stringify(name)} is required, and ${keyword}: false forbids it; declare it under properties, or remove it here`,
    );
  }
}
