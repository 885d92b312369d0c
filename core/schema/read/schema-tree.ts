// A schema as read: one node per schema object, with the keywords of 2020-12 whatever its draft
// was, references resolved.

import type { Json } from "../../config/types.ts";

/** A schema is an object of keywords, or `true` (anything) or `false` (nothing). */
export type SchemaTree = boolean | SchemaNode;

export type Dialect = "draft-04" | "draft-06" | "draft-07" | "2020-12";

export interface SchemaNode {
  readonly id: number;
  /** RFC 6901, into the schema as given. */
  readonly pointer: string;
  /** Keywords whose value is no schema, checked. */
  readonly assertions: ReadonlyMap<AssertionKeyword, Json>;
  readonly references: readonly Reference[];
  readonly single: ReadonlyMap<SingleKeyword, SchemaTree>;
  readonly lists: ReadonlyMap<ListKeyword, readonly SchemaTree[]>;
  readonly named: ReadonlyMap<NamedKeyword, ReadonlyMap<string, SchemaTree>>;
  /** Also next to `$ref`, where older drafts ignore assertions. */
  readonly default: Json | undefined;
}

export interface Reference {
  /** Location of the `$ref` or `$dynamicRef` itself. */
  readonly pointer: string;
  readonly target: SchemaTree;
}

export type AssertionKeyword =
  | "type"
  | "enum"
  | "const"
  | "multipleOf"
  | "maximum"
  | "exclusiveMaximum"
  | "minimum"
  | "exclusiveMinimum"
  | "maxLength"
  | "minLength"
  | "pattern"
  | "format"
  | "maxItems"
  | "minItems"
  | "uniqueItems"
  | "maxContains"
  | "minContains"
  | "maxProperties"
  | "minProperties"
  | "required"
  | "dependentRequired";

export type SingleKeyword =
  | "not"
  | "if"
  | "then"
  | "else"
  | "items"
  | "contains"
  | "additionalProperties"
  | "propertyNames"
  | "unevaluatedItems"
  | "unevaluatedProperties";

export type ListKeyword = "allOf" | "anyOf" | "oneOf" | "prefixItems";

export type NamedKeyword = "properties" | "patternProperties" | "dependentSchemas";

/** The schemas that apply to the same value as `node` itself, always or under a condition. */
export function* inPlace(node: SchemaNode): Generator<{ readonly tree: SchemaTree; readonly pointer: string }> {
  for (const { target, pointer } of node.references) yield { tree: target, pointer };
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [index, tree] of (node.lists.get(keyword) ?? []).entries()) {
      yield { tree, pointer: `${node.pointer}/${keyword}/${index}` };
    }
  }
  for (const keyword of ["not", "if", "then", "else"] as const) {
    const tree = node.single.get(keyword);
    if (tree !== undefined) yield { tree, pointer: `${node.pointer}/${keyword}` };
  }
  for (const tree of node.named.get("dependentSchemas")?.values() ?? []) {
    yield { tree, pointer: `${node.pointer}/dependentSchemas` };
  }
}

/** Schemas that always apply to `node`'s value: targets of references, and its `allOf`. */
export function alwaysInPlace(node: SchemaNode): readonly SchemaTree[] {
  return [...node.references.map(({ target }) => target), ...(node.lists.get("allOf") ?? [])];
}

/** The schemas themselves, and all that apply whenever they do. */
export function unconditional(trees: readonly SchemaTree[]): readonly SchemaTree[] {
  const found = new Set(trees);
  for (const tree of found) {
    if (typeof tree !== "boolean") for (const part of alwaysInPlace(tree)) found.add(part);
  }
  return [...found];
}

/** Schemas of the members and items of `node`'s value. */
export function inside({ single, lists, named }: SchemaNode): readonly SchemaTree[] {
  const rest = ["additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains"] as const;
  return [
    ...(named.get("properties")?.values() ?? []),
    ...(named.get("patternProperties")?.values() ?? []),
    ...(lists.get("prefixItems") ?? []),
    ...rest.flatMap((keyword) => single.get(keyword) ?? []),
  ];
}

/** `root` and all that `subschemasOf` leads to, each once. */
export function reachable(
  root: SchemaNode,
  subschemasOf: (node: SchemaNode) => readonly SchemaTree[],
): ReadonlySet<SchemaTree> {
  const found = new Set<SchemaTree>([root]);
  for (const tree of found) {
    if (typeof tree !== "boolean") for (const subschema of subschemasOf(tree)) found.add(subschema);
  }
  return found;
}

/** The entries of a list of names, such as that of `required`. */
export function namesOf(list: Json | undefined): readonly [index: number, name: string][] {
  return Array.isArray(list) ? [...list.entries()] : [];
}

/** How many schemas apply to one value of `tree`. `known` is a cache, filled here. */
export function schemasPerValue(tree: SchemaTree, known: Map<SchemaNode, number>): number {
  if (typeof tree === "boolean") return 1;
  let sum = known.get(tree);
  if (sum !== undefined) return sum;
  sum = 1;
  for (const part of inPlace(tree)) sum += schemasPerValue(part.tree, known);
  known.set(tree, sum);
  return sum;
}
