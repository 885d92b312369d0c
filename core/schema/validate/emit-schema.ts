// Turns a schema tree into the schema that ajv compiles: only keywords that were checked, schema objects that are referred
// to or called by keywords each as a function of their own, and a charge on every schema object.

import type { Json } from "../../config/types.ts";
import { isObject } from "../../json/json-value.ts";
import type { StepCost } from "../meter.ts";
import { type SchemaNode, type SchemaTree, schemasPerValue } from "../read/schema-tree.ts";

/** Keywords of our own. `x-` names can't meet a schema's: unknown keywords never get here. */
export const stepKeyword = "x-step";
export const neverKeyword = "x-never";

/** What `contains`, `propertyNames` and `unevaluated…` are given in place of a schema. */
export type Called = boolean | number;

export interface ContainsRule {
  readonly called: Called;
  readonly min: number;
  readonly max: number | undefined;
}

export interface UnevaluatedRule {
  readonly node: SchemaNode;
  readonly called: Called;
}

export interface EmittedSchema {
  readonly schema: { readonly $defs: Readonly<Record<string, unknown>>; readonly $ref: string };
  /** Ids of the schema objects that keywords call. */
  readonly calledIds: readonly number[];
}

type EmittedObject = Record<string, unknown>;

/** Where the schema object with this id stands among the emitted `$defs`. */
export function functionPath(id: number): string {
  return `#/$defs/${id}`;
}

export function emitSchema(root: SchemaNode, nodes: readonly SchemaNode[]): EmittedSchema {
  const called = calledNodes(nodes);
  const emitter = new Emitter(new Set([...functionNodes(root, nodes), ...called]));
  return {
    schema: { $defs: emitter.emitFunctions(), $ref: functionPath(root.id) },
    calledIds: [...called].map(({ id }) => id),
  };
}

/** Schema objects that keywords call by themselves, to judge a member or to learn whether an alternative holds. */
function calledNodes(nodes: readonly SchemaNode[]): ReadonlySet<SchemaNode> {
  const tracks = nodes.some(({ single }) => single.has("unevaluatedProperties") || single.has("unevaluatedItems"));
  const trees = nodes.flatMap((node) => [
    ...calledKeywords.map((keyword) => node.single.get(keyword)),
    ...(tracks ? alternatives(node) : []),
  ]);
  return new Set(trees.filter((tree) => typeof tree === "object"));
}

/** Schema objects that become functions by themselves: those referred to, and alternatives with parts. */
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
  "dependentRequired",
  "enum",
  "const",
  "multipleOf",
] as const;

const hiddenName = "__proto__";
/** Patterns that no schema is likely to write, for a name and a pattern that ajv passes over. */
export const hiddenPatterns = { whole: "^(?:(?:__proto__))$", anywhere: "(?:(?:__proto__))" } as const;

const plainStep: StepCost = { base: 5, perMember: 0, callsPerMember: 0, perCharacters: 0 };

class Emitter {
  readonly #functions: ReadonlySet<SchemaNode>;
  readonly #counts = new Map<SchemaNode, number>();

  constructor(functions: ReadonlySet<SchemaNode>) {
    this.#functions = functions;
  }

  emitFunctions(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#functions].map((node) => [node.id, this.#object(node)]));
  }

  /** `refusedBy` names the keyword that refuses where the schema is `false`. */
  #schema(tree: SchemaTree, refusedBy: string): unknown {
    if (tree === true) return true;
    if (tree === false) return { [stepKeyword]: plainStep, [neverKeyword]: refusedBy };
    // The step is what ends a loop over many values that all fail.
    return this.#functions.has(tree) ? { [stepKeyword]: plainStep, $ref: functionPath(tree.id) } : this.#object(tree);
  }

  #object(node: SchemaNode): EmittedObject {
    const emitted: EmittedObject = { [stepKeyword]: this.#cost(node) };
    for (const keyword of plain) {
      if (node.assertions.has(keyword)) emitted[keyword] = node.assertions.get(keyword);
    }
    if (node.assertions.get("uniqueItems") === true) emitted.uniqueItems = node.assertions.get("maxItems");
    this.#emitAlternatives(node, emitted);
    this.#emitParts(node, emitted);
    this.#emitCalled(node, emitted);
    return emitted;
  }

  #emitAlternatives(node: SchemaNode, emitted: EmittedObject): void {
    const references = node.references.map(({ target }) => this.#schema(target, "$ref"));
    const all = [...references, ...(node.lists.get("allOf") ?? []).map((tree) => this.#schema(tree, "allOf"))];
    if (all.length > 0) emitted.allOf = all;
    for (const keyword of ["anyOf", "oneOf"] as const) {
      const options = node.lists.get(keyword);
      if (options !== undefined) emitted[keyword] = options.map((tree) => this.#schema(tree, keyword));
    }
    for (const keyword of ["not", "if", "then", "else"] as const) {
      const tree = node.single.get(keyword);
      if (tree !== undefined) emitted[keyword] = this.#schema(tree, keyword);
    }
    const dependent = node.named.get("dependentSchemas");
    if (dependent !== undefined) emitted.dependentSchemas = this.#named(dependent, "dependentSchemas");
  }

  #emitParts(node: SchemaNode, emitted: EmittedObject): void {
    const properties = this.#named(node.named.get("properties"), "properties", (name) => name !== hiddenName);
    const patterns = this.#patternProperties(node);
    // ajv writes an empty branch for an empty keyword.
    if (Object.keys(properties).length > 0) emitted.properties = properties;
    if (Object.keys(patterns).length > 0) emitted.patternProperties = patterns;
    const prefix = node.lists.get("prefixItems");
    if (prefix !== undefined) emitted.prefixItems = prefix.map((tree) => this.#schema(tree, "prefixItems"));
    for (const keyword of ["items", "additionalProperties"] as const) {
      const tree = node.single.get(keyword);
      if (tree !== undefined) emitted[keyword] = this.#schema(tree, keyword);
    }
  }

  /** ajv passes over the name `__proto__` in properties, and as a pattern; other patterns stand for both. */
  #patternProperties(node: SchemaNode): EmittedObject {
    const patterns = node.named.get("patternProperties");
    const emitted = this.#named(patterns, "patternProperties", (source) => source !== hiddenName);
    const ofPattern = patterns?.get(hiddenName);
    if (ofPattern !== undefined) emitted[hiddenPatterns.anywhere] = this.#schema(ofPattern, "patternProperties");
    const ofName = node.named.get("properties")?.get(hiddenName);
    if (ofName !== undefined) emitted[hiddenPatterns.whole] = this.#schema(ofName, "properties");
    return emitted;
  }

  #named(
    schemas: ReadonlyMap<string, SchemaTree> | undefined,
    keyword: string,
    wanted: (name: string) => boolean = () => true,
  ): EmittedObject {
    const members = [...(schemas ?? [])].filter(([name]) => wanted(name));
    return Object.fromEntries(members.map(([name, tree]) => [name, this.#schema(tree, keyword)]));
  }

  #emitCalled(node: SchemaNode, emitted: EmittedObject): void {
    const contains = node.single.get("contains");
    if (contains !== undefined) {
      const min = node.assertions.get("minContains") ?? 1;
      emitted.contains = { called: called(contains), min, max: node.assertions.get("maxContains") };
    }
    const names = node.single.get("propertyNames");
    if (names !== undefined && names !== true) emitted.propertyNames = called(names);
    for (const keyword of ["unevaluatedProperties", "unevaluatedItems"] as const) {
      const tree = node.single.get(keyword);
      if (tree !== undefined && tree !== true) emitted[keyword] = { node, called: called(tree) };
    }
  }

  #cost({ assertions, named, single }: SchemaNode): StepCost {
    const properties = named.get("properties")?.size ?? 0;
    const patterns = [...(named.get("patternProperties")?.values() ?? [])];
    const additional = single.get("additionalProperties") ?? true;
    const counted = ["minProperties", "maxProperties"].filter((keyword) => assertions.has(keyword as never)).length;
    const measured = ["minLength", "maxLength"].filter((keyword) => assertions.has(keyword as never)).length;
    const loops =
      patterns.length + counted + (additional === true ? 0 : 1 + patterns.length + Math.min(properties, 8) / 4);
    const calls = [...patterns, additional, single.get("unevaluatedProperties") ?? true];
    const names = namesIn(assertions.get("required")) + namesIn(assertions.get("dependentRequired"));
    const judged = judgedKeywords.filter((keyword) => assertions.has(keyword as never) || single.has(keyword as never));
    return {
      base: 4 + 2 * (properties + names + (named.get("dependentSchemas")?.size ?? 0)) + 6 * judged.length,
      perMember: Math.ceil(2 * loops),
      callsPerMember: calls.reduce<number>(
        (sum, tree) => sum + (tree === true ? 0 : schemasPerValue(tree, this.#counts)),
        0,
      ),
      perCharacters: 2 * measured,
    };
  }
}

/** Keywords that cost a call. */
const judgedKeywords = [
  "pattern",
  "const",
  "enum",
  "multipleOf",
  "uniqueItems",
  "dependentRequired",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
] as const;

function called(tree: SchemaTree): Called {
  return typeof tree === "boolean" ? tree : tree.id;
}

function namesIn(value: Json | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.values(value).reduce<number>((sum, names) => sum + 1 + namesIn(names), 0) : 0;
}
