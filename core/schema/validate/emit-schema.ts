// Turns a schema tree into the schema that ajv compiles: the keywords that ajv checks, a charge on
// every schema object, the places of our own checks, and each schema object that is referenced or
// applied by checks as a function of its own.

import type { Json } from "../../config/types.ts";
import { isObject } from "../../json/json-value.ts";
import type { VisitCost } from "../meter.ts";
import type { SchemaRead } from "../read/read-schema.ts";
import { type SchemaNode, type SchemaTree, schemasPerValue } from "../read/schema-tree.ts";
import { chargeKeyword, checkKeyword } from "./ajv-keywords.ts";
import { checkNever, checksOf } from "./checks.ts";
import type { Check, ValidationContext } from "./context.ts";

export interface EmittedSchema {
  readonly schema: { readonly $defs: Readonly<Record<string, unknown>>; readonly $ref: string };
  /** What the check keyword refers to. */
  readonly checks: readonly Check[];
  /** Ids of the schema objects that checks apply. */
  readonly calledIds: readonly number[];
}

type EmittedObject = Record<string, unknown>;

/** Where the schema object with this id stands among the emitted `$defs`. */
export function functionPath(id: number): string {
  return `#/$defs/${id}`;
}

export function emitSchema({ root, nodes }: SchemaRead, context: ValidationContext): EmittedSchema {
  const called = calledNodes(nodes);
  const emitter = new Emitter(new Set([...functionNodes(root, nodes), ...called]), context);
  return {
    schema: { $defs: emitter.emitFunctions(), $ref: functionPath(root.id) },
    checks: emitter.checks,
    calledIds: [...called].map(({ id }) => id),
  };
}

/** Schema objects that checks apply: to a member, or to find out whether an alternative holds. */
function calledNodes(nodes: readonly SchemaNode[]): ReadonlySet<SchemaNode> {
  const tracks = nodes.some(({ single }) => single.has("unevaluatedProperties") || single.has("unevaluatedItems"));
  const trees = nodes.flatMap((node) => [
    ...calledKeywords.map((keyword) => node.single.get(keyword)),
    ...(tracks ? alternatives(node) : []),
  ]);
  return new Set(trees.filter((tree) => typeof tree === "object"));
}

/**
 * Schema objects that become functions: referenced ones, and alternatives with parts, because only
 * a function ends when it has enough failures.
 */
function functionNodes(root: SchemaNode, nodes: readonly SchemaNode[]): readonly SchemaNode[] {
  const trees = nodes.flatMap((node) => [
    ...node.references.map(({ target }) => target),
    ...alternatives(node).filter(hasParts),
  ]);
  return [root, ...trees.filter((tree) => typeof tree === "object")];
}

const calledKeywords = ["contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"] as const;

function alternatives({ lists, single }: SchemaNode): readonly (SchemaTree | undefined)[] {
  return [...(lists.get("anyOf") ?? []), ...(lists.get("oneOf") ?? []), single.get("if"), single.get("not")];
}

function hasParts(tree: SchemaTree | undefined): boolean {
  return typeof tree === "object" && tree.single.size + tree.lists.size + tree.named.size > 0;
}

/** Keywords that ajv is given as they are. */
const plain = [
  "type",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "format",
  "maxItems",
  "minItems",
  "maxProperties",
  "minProperties",
  "required",
] as const;

const singles = ["not", "if", "then", "else", "items", "additionalProperties"] as const;
const lists = ["anyOf", "oneOf", "prefixItems"] as const;

const hiddenName = "__proto__";
/**
 * ajv skips the name `__proto__` among properties and patterns; these patterns, which no schema is
 * likely to use, replace both.
 */
const hiddenPatterns = { whole: "^(?:(?:__proto__))$", anywhere: "(?:(?:__proto__))" } as const;

const plainVisit: VisitCost = { base: 5, perMember: 0, callsPerMember: 0, perCharacters: 0 };

class Emitter {
  readonly checks: Check[] = [];
  readonly #functions: ReadonlySet<SchemaNode>;
  readonly #context: ValidationContext;
  readonly #counts = new Map<SchemaNode, number>();

  constructor(functions: ReadonlySet<SchemaNode>, context: ValidationContext) {
    this.#functions = functions;
    this.#context = context;
  }

  emitFunctions(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#functions].map((node) => [node.id, this.#object(node)]));
  }

  /** `keyword` is the one under which `tree` stands. */
  #schema(tree: SchemaTree, keyword: string): unknown {
    if (tree === true) return true;
    if (tree === false) return { [chargeKeyword]: plainVisit, [checkKeyword]: this.#indexesOf([checkNever(keyword)]) };
    // The charge is what ends a loop over many values that all fail.
    return this.#functions.has(tree)
      ? { [chargeKeyword]: plainVisit, $ref: functionPath(tree.id) }
      : this.#object(tree);
  }

  #object(node: SchemaNode): EmittedObject {
    const checks = checksOf(node, this.#context);
    const emitted: EmittedObject = { [chargeKeyword]: this.#cost(node, checks.length) };
    for (const keyword of plain) {
      if (node.assertions.has(keyword)) emitted[keyword] = node.assertions.get(keyword);
    }
    if (checks.length > 0) emitted[checkKeyword] = this.#indexesOf(checks);
    this.#emitReferences(node, emitted);
    for (const keyword of lists) {
      const trees = node.lists.get(keyword);
      if (trees !== undefined) emitted[keyword] = trees.map((tree) => this.#schema(tree, keyword));
    }
    for (const keyword of singles) {
      const tree = node.single.get(keyword);
      if (tree !== undefined) emitted[keyword] = this.#schema(tree, keyword);
    }
    this.#emitMembers(node, emitted);
    return emitted;
  }

  #indexesOf(checks: readonly Check[]): readonly number[] {
    return checks.map((check) => this.checks.push(check) - 1);
  }

  #emitReferences(node: SchemaNode, emitted: EmittedObject): void {
    const references = node.references.map(({ target }) => this.#schema(target, "$ref"));
    const all = [...references, ...(node.lists.get("allOf") ?? []).map((tree) => this.#schema(tree, "allOf"))];
    if (all.length > 0) emitted.allOf = all;
  }

  #emitMembers({ named }: SchemaNode, emitted: EmittedObject): void {
    const properties = this.#named(named.get("properties"), "properties");
    const patterns = this.#named(named.get("patternProperties"), "patternProperties");
    const ofPattern = named.get("patternProperties")?.get(hiddenName);
    if (ofPattern !== undefined) patterns[hiddenPatterns.anywhere] = this.#schema(ofPattern, "patternProperties");
    const ofName = named.get("properties")?.get(hiddenName);
    if (ofName !== undefined) patterns[hiddenPatterns.whole] = this.#schema(ofName, "properties");
    // ajv writes an empty branch for an empty keyword.
    if (Object.keys(properties).length > 0) emitted.properties = properties;
    if (Object.keys(patterns).length > 0) emitted.patternProperties = patterns;
    const dependent = named.get("dependentSchemas");
    if (dependent !== undefined) emitted.dependentSchemas = this.#named(dependent, "dependentSchemas");
  }

  #named(schemas: ReadonlyMap<string, SchemaTree> = new Map(), keyword: string): EmittedObject {
    return Object.fromEntries([...schemas].map(([name, tree]) => [name, this.#schema(tree, keyword)]));
  }

  #cost({ assertions, named, single }: SchemaNode, checks: number): VisitCost {
    const properties = named.get("properties")?.size ?? 0;
    const patterns = [...(named.get("patternProperties")?.values() ?? [])];
    const additional = single.get("additionalProperties") ?? true;
    const counted = ["minProperties", "maxProperties"].filter((keyword) => assertions.has(keyword as never)).length;
    const measured = ["minLength", "maxLength"].filter((keyword) => assertions.has(keyword as never)).length;
    const loops =
      patterns.length + counted + (additional === true ? 0 : 1 + patterns.length + Math.min(properties, 8) / 4);
    const applied = [...patterns, additional, single.get("unevaluatedProperties") ?? true].filter(
      (tree) => tree !== true,
    );
    const names = namesIn(assertions.get("required")) + namesIn(assertions.get("dependentRequired"));
    const calls = checks + (assertions.has("pattern") ? 1 : 0);
    return {
      base: 4 + 2 * (properties + names + (named.get("dependentSchemas")?.size ?? 0)) + 6 * calls,
      perMember: Math.ceil(2 * loops),
      callsPerMember: applied.reduce<number>((sum, tree) => sum + schemasPerValue(tree, this.#counts), 0),
      perCharacters: 2 * measured,
    };
  }
}

function namesIn(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.values(value).reduce<number>((sum, names) => sum + 1 + namesIn(names), 0) : 0;
}
