// Lists what a schema declares for sorting, filtering and indexes: the root's properties and those
// of nested objects, with their types, and whether other top-level members are refused.

import type { Json } from "../config/types.ts";
import { type SchemaNode, type SchemaTree, unconditional } from "./read/schema-tree.ts";

export type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

export interface DeclaredProperty {
  /** As in `_sort`: a top-level name, or a dotted path into nested objects. */
  readonly name: string;
  readonly path: readonly string[];
  /** Empty = untyped: any value. */
  readonly types: readonly JsonType[];
  /** Present when its strings are dates, and it holds nothing else but null. */
  readonly format?: DateFormat;
  /** Code points that its strings have at most; absent = no bound. */
  readonly maxLength?: number;
  /** Without it the object that holds it is never valid. */
  readonly isRequired?: true;
}

const dateFormats = ["date", "date-time"] as const;
export type DateFormat = (typeof dateFormats)[number];

const maxProperties = 1000;
const maxPathLength = 8;

interface PropertyLocation {
  readonly path: readonly string[];
  /** All schemas that declare this property. */
  readonly trees: readonly SchemaTree[];
  readonly isRequired: boolean;
  /** Schema objects above it: one that contains itself is entered once. */
  readonly above: ReadonlySet<SchemaNode>;
}

/** Top-level properties first, then by depth, in order of declaration. */
export function declaredProperties(root: SchemaNode): ReadonlyMap<string, DeclaredProperty> {
  const found = new Map<string, DeclaredProperty>();
  const waiting: PropertyLocation[] = [{ path: [], trees: [root], isRequired: false, above: new Set() }];
  for (const location of waiting) {
    for (const property of propertiesBelow(location)) {
      const name = property.path.join(".");
      if (found.size >= maxProperties) return found;
      if (!found.has(name)) found.set(name, declared(name, property));
      waiting.push(property);
    }
  }
  return found;
}

function declared(name: string, { path, trees, isRequired }: PropertyLocation): DeclaredProperty {
  const types = typesOf(trees) ?? [];
  const format =
    types.includes("string") && types.every((type) => type === "string" || type === "null") && dateFormatOf(trees);
  const maxLength = maxLengthOf(trees);
  const bounds = { ...(maxLength !== undefined && { maxLength }), ...(isRequired && { isRequired }) };
  return { name, path, types, ...(format && { format }), ...bounds };
}

function maxLengthOf(trees: readonly SchemaTree[]): number | undefined {
  const bounds = unconditional(trees).flatMap((tree) => {
    if (typeof tree === "boolean") return [];
    const { assertions } = tree;
    const listed = assertions.get("enum") ?? (assertions.has("const") ? [assertions.get("const")] : undefined);
    const lengths = Array.isArray(listed) ? [Math.max(0, ...listed.map(codePoints))] : [];
    const bound = assertions.get("maxLength");
    return typeof bound === "number" ? [bound, ...lengths] : lengths;
  });
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

function codePoints(value: unknown): number {
  return typeof value === "string" ? [...value].length : 0;
}

function dateFormatOf(trees: readonly SchemaTree[]): DateFormat | undefined {
  const named = unconditional(trees).map((tree) =>
    typeof tree === "boolean" ? undefined : tree.assertions.get("format"),
  );
  return dateFormats.find((format) => named.includes(format));
}

/** The properties one level down that may be there; none below a schema that contains itself. */
function propertiesBelow({ path, trees, above }: PropertyLocation): readonly PropertyLocation[] {
  const nodes = unconditional(trees).filter((tree) => typeof tree !== "boolean");
  if (path.length >= maxPathLength || nodes.some((node) => above.has(node))) return [];
  const entered = new Set([...above, ...nodes]);
  const required = new Set(nodes.flatMap(({ assertions }) => assertions.get("required") ?? []));
  return [...propertiesOf(nodes)]
    .filter(([, declaring]) => !unconditional(declaring).includes(false))
    .map(([name, declaring]) => ({
      path: path.concat(name),
      trees: declaring,
      isRequired: required.has(name),
      above: entered,
    }));
}

/** True when the schema refuses every undeclared top-level member. */
export function isClosed(root: SchemaNode): boolean {
  const nodes = unconditional([root]).filter((tree) => typeof tree !== "boolean");
  const hasPatterns = nodes.some((node) => (node.named.get("patternProperties")?.size ?? 0) > 0);
  const isConditional = nodes.some(
    ({ lists, single, named }) =>
      lists.has("anyOf") || lists.has("oneOf") || single.has("if") || named.has("dependentSchemas"),
  );
  return nodes.some(
    ({ single, named }) =>
      (single.get("additionalProperties") === false && (named.get("patternProperties")?.size ?? 0) === 0) ||
      (single.get("unevaluatedProperties") === false && !hasPatterns && !isConditional),
  );
}

function propertiesOf(nodes: readonly SchemaNode[]): ReadonlyMap<string, readonly SchemaTree[]> {
  const byName = new Map<string, SchemaTree[]>();
  for (const node of nodes) {
    for (const [name, tree] of node.named.get("properties") ?? []) {
      const trees = byName.get(name);
      if (trees === undefined) byName.set(name, [tree]);
      else trees.push(tree);
    }
  }
  return byName;
}

/** The types that all the schemas allow together; undefined when they restrict none. */
function typesOf(trees: readonly SchemaTree[]): readonly JsonType[] | undefined {
  let types: readonly JsonType[] | undefined;
  for (const tree of unconditional(trees)) {
    if (typeof tree === "boolean") continue;
    for (const own of ownTypes(tree)) types = types === undefined ? own : bothTypes(types, own);
  }
  return types;
}

/** What each keyword of the schema object, its references and allOf aside, allows. */
function ownTypes({ assertions, lists }: SchemaNode): readonly (readonly JsonType[])[] {
  const found: (readonly JsonType[])[] = [];
  const type = assertions.get("type");
  if (type !== undefined) found.push([type].flat() as JsonType[]);
  const listed = assertions.get("enum");
  if (Array.isArray(listed)) found.push(distinct(listed.map(typeOf)));
  const constant = assertions.get("const");
  if (constant !== undefined) found.push([typeOf(constant)]);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const options = (lists.get(keyword) ?? []).map((tree) => (tree === false ? [] : typesOf([tree])));
    if (options.length > 0 && options.every((types) => types !== undefined)) found.push(distinct(options.flat()));
  }
  return found;
}

function distinct(types: readonly JsonType[]): readonly JsonType[] {
  const all = new Set(types);
  return [...all].filter((type) => type !== "integer" || !all.has("number"));
}

function bothTypes(one: readonly JsonType[], other: readonly JsonType[]): readonly JsonType[] {
  const narrowed = (types: readonly JsonType[], by: readonly JsonType[]) =>
    types.filter((type) => by.includes(type) || (type === "integer" && by.includes("number")));
  return distinct([...narrowed(one, other), ...narrowed(other, one)]);
}

function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as "string" | "boolean" | "object";
}
