// Turns the JSON of a schema into a tree of nodes with the keywords of 2020-12, whatever its draft.
// Reports every keyword whose value can't be used, with its pointer, and warns of those that are
// ignored.

import type { Json, JsonObject } from "../../config/types.ts";
import { childPointer, pointerOf, segmentsOf, valueAtPointer } from "../../json/json-pointer.ts";
import { isObject } from "../../json/json-value.ts";
import { isKnownFormat, unknownFormat } from "../formats.ts";
import { schemaLimits } from "../limits.ts";
import { Patterns } from "../pattern/matcher.ts";
import { PatternError } from "../pattern/parse-pattern.ts";
import { checkAssertion, isAssertion } from "./check-assertion.ts";
import { dialectOf, isOfDialect } from "./drafts.ts";
import { annotations, isExtension, isKeyword, isList, isNamed, isSingle, unknownKeyword } from "./keywords.ts";
import { References } from "./references.ts";
import type { SchemaReport } from "./report.ts";
import type {
  AssertionKeyword,
  Dialect,
  ListKeyword,
  NamedKeyword,
  Reference,
  SchemaNode,
  SchemaTree,
  SingleKeyword,
} from "./schema-tree.ts";

export interface SchemaRead {
  readonly root: SchemaNode;
  readonly nodes: readonly SchemaNode[];
  readonly patterns: Patterns;
}

/** The tree, complete unless something is reported; undefined when there is none. */
export function readSchema(schema: JsonObject, report: SchemaReport): SchemaRead | undefined {
  const dialect = dialectOf(schema, report);
  if (dialect === undefined) return undefined;
  const reader = new SchemaReader(schema, dialect, report);
  const root = reader.read(schema, "");
  reader.references.resolve();
  return typeof root === "boolean" ? undefined : { root, nodes: reader.nodes, patterns: reader.patterns };
}

/** A node while it is read. */
interface OpenNode extends SchemaNode {
  readonly assertions: Map<AssertionKeyword, Json>;
  readonly references: Reference[];
  readonly single: Map<SingleKeyword, SchemaTree>;
  readonly lists: Map<ListKeyword, readonly SchemaTree[]>;
  readonly named: Map<NamedKeyword, ReadonlyMap<string, SchemaTree>>;
  default: Json | undefined;
}

/** Next to `$ref`, drafts before 2020-12 read only definitions. */
const besideReference: ReadonlySet<string> = new Set(["$ref", "$defs", "definitions", "$schema", "$id", "id"]);

const exclusiveBounds = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;

function isExclusive(keyword: string): boolean {
  return exclusiveBounds.some(([exclusive]) => exclusive === keyword);
}

/** Draft-04 has `true` next to a bound where later drafts have the bound itself. */
function excludeBounds({ assertions }: OpenNode, schema: JsonObject): void {
  for (const [exclusive, inclusive] of exclusiveBounds) {
    const bound = assertions.get(inclusive);
    if (schema[exclusive] !== true || bound === undefined) continue;
    assertions.delete(inclusive);
    assertions.set(exclusive, bound);
  }
}

class SchemaReader {
  readonly nodes: SchemaNode[] = [];
  readonly patterns = new Patterns();
  readonly references: References;
  readonly #schema: JsonObject;
  readonly #dialect: Dialect;
  readonly #report: SchemaReport;
  #schemas = 0;

  constructor(schema: JsonObject, dialect: Dialect, report: SchemaReport) {
    this.#schema = schema;
    this.#dialect = dialect;
    this.#report = report;
    this.references = new References(report, (pointer) => this.#readUnderUnknown(pointer));
  }

  read(value: Json, pointer: string): SchemaTree {
    if (this.#schemas === schemaLimits.subschemas) {
      const message = `A schema may contain at most ${schemaLimits.subschemas} schemas, true and false included; share equal ones by $defs and $ref`;
      this.#report.problem(pointer, message);
    }
    this.#schemas++;
    const tree = this.#readTree(value, pointer);
    this.references.register(pointer, tree);
    return tree;
  }

  /** The target of a reference below an unknown keyword: some generators keep definitions there. */
  #readUnderUnknown(pointer: string): SchemaTree | undefined {
    const names = segmentsOf(pointer);
    const keyword = names.findLast((_name, index) => this.references.has(pointerOf(names.slice(0, index))));
    const value = isKeyword(String(keyword)) ? undefined : valueAtPointer(this.#schema, pointer);
    return typeof value === "boolean" || isObject(value) ? this.read(value, pointer) : undefined;
  }

  #readTree(value: Json, pointer: string): SchemaTree {
    if (typeof value === "boolean") return value;
    if (!isObject(value)) {
      this.#report.problem(pointer, "Write a schema here: an object of keywords, or true or false");
      return true;
    }
    const node: OpenNode = {
      id: this.nodes.length,
      pointer,
      assertions: new Map(),
      references: [],
      single: new Map(),
      lists: new Map(),
      named: new Map(),
      default: value.default,
    };
    this.nodes.push(node);
    if (this.#schemas <= schemaLimits.subschemas) this.#readKeywords(node, value);
    return node;
  }

  #readKeywords(node: OpenNode, schema: JsonObject): void {
    const onlyReference = this.#dialect !== "2020-12" && Object.hasOwn(schema, "$ref");
    for (const [keyword, value] of Object.entries(schema)) {
      if (!onlyReference || besideReference.has(keyword)) {
        this.#readKeyword(node, keyword, value);
      } else if (!annotations.has(keyword)) {
        this.#report.warn(
          childPointer(node.pointer, keyword),
          () => `${keyword} next to $ref is ignored in ${this.#dialect}; put both under allOf, or leave $schema out`,
        );
      }
    }
    // Last, because what they mean depends on other keywords.
    if (this.#dialect === "draft-04") excludeBounds(node, schema);
    const rest = schema.additionalItems;
    if (this.#dialect !== "2020-12" && !onlyReference && rest !== undefined) this.#readAdditionalItems(node, rest);
  }

  #readKeyword(node: OpenNode, keyword: string, value: Json): void {
    const pointer = childPointer(node.pointer, keyword);
    if (!isOfDialect(keyword, this.#dialect)) this.#warnOfUnknown(keyword, pointer);
    else if (this.#dialect === "draft-04" && isExclusive(keyword)) this.#checkFlag(pointer, value);
    else if (isAssertion(keyword)) this.#readAssertion(node, keyword, value);
    else if (isSingle(keyword)) this.#readSingle(node, keyword, value);
    else if (isList(keyword)) node.lists.set(keyword, this.#readList(value, pointer));
    else if (isNamed(keyword)) this.#readNamed(node, keyword, value);
    else this.#readOther(node, keyword, value);
  }

  #readOther(node: OpenNode, keyword: string, value: Json): void {
    const pointer = childPointer(node.pointer, keyword);
    const annotation = annotations.get(keyword);
    if (annotation !== undefined) {
      if (!annotation.fits(value)) this.#report.problem(pointer, annotation.message);
    } else if (keyword === "$defs" || keyword === "definitions") {
      this.#readMap(value, pointer);
    } else if (keyword === "dependencies") {
      this.#readDependencies(node, value, pointer);
    } else if (keyword !== "additionalItems" && !this.references.read(node, keyword, value, this.#dialect)) {
      this.#warnOfUnknown(keyword, pointer);
    }
  }

  #warnOfUnknown(keyword: string, pointer: string): void {
    if (!isExtension(keyword)) this.#report.warn(pointer, () => unknownKeyword(keyword, this.#dialect));
  }

  #readAssertion(node: OpenNode, keyword: AssertionKeyword, value: Json): void {
    const pointer = childPointer(node.pointer, keyword);
    const problem = checkAssertion(keyword, value);
    if (problem !== undefined) {
      this.#report.problem(pointer + problem.pointer, problem.message);
      return;
    }
    if (keyword === "pattern") this.#addPattern(String(value), pointer);
    if (keyword === "format" && !isKnownFormat(String(value))) {
      this.#report.warn(pointer, () => unknownFormat(String(value)));
    }
    node.assertions.set(keyword, value);
  }

  #checkFlag(pointer: string, value: Json): void {
    if (typeof value === "boolean") return;
    const message = "In draft-04, write true or false, next to the bound in minimum or maximum";
    this.#report.problem(pointer, message);
  }

  #readSingle(node: OpenNode, keyword: SingleKeyword, value: Json): void {
    const pointer = childPointer(node.pointer, keyword);
    if (keyword === "items" && Array.isArray(value)) {
      if (this.#dialect !== "2020-12") node.lists.set("prefixItems", this.#readList(value, pointer));
      else this.#report.problem(pointer, "Write prefixItems for a list of schemas; items takes one schema");
      return;
    }
    node.single.set(keyword, this.read(value, pointer));
  }

  #readList(value: Json, pointer: string): readonly SchemaTree[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#report.problem(pointer, "Write a list of at least one schema");
      return [];
    }
    return value.map((item: Json, index) => this.read(item, childPointer(pointer, index)));
  }

  #readNamed(node: OpenNode, keyword: NamedKeyword, value: Json): void {
    const pointer = childPointer(node.pointer, keyword);
    const schemas = this.#readMap(value, pointer);
    if (keyword === "patternProperties") {
      for (const source of schemas.keys()) this.#addPattern(source, childPointer(pointer, source));
    }
    node.named.set(keyword, schemas);
  }

  #addPattern(source: string, pointer: string): void {
    try {
      this.patterns.add(source);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.#report.problem(pointer, error.message);
    }
  }

  #readMap(value: Json, pointer: string): ReadonlyMap<string, SchemaTree> {
    if (!isObject(value)) {
      this.#report.problem(pointer, "Write an object whose members are schemas");
      return new Map();
    }
    return new Map(
      Object.entries(value).map(([name, member]) => [name, this.read(member, childPointer(pointer, name))]),
    );
  }

  /** What older drafts call dependencies, 2020-12 calls dependentRequired and dependentSchemas. */
  #readDependencies(node: OpenNode, value: Json, pointer: string): void {
    if (!isObject(value)) {
      this.#report.problem(pointer, "Write an object of schemas or lists of member names");
      return;
    }
    const isNames = (dependency: Json) => Array.isArray(dependency);
    const members = Object.entries(value);
    const required = Object.fromEntries(members.filter(([, dependency]) => isNames(dependency)));
    const problem = checkAssertion("dependentRequired", required);
    if (problem !== undefined) this.#report.problem(pointer + problem.pointer, problem.message);
    else node.assertions.set("dependentRequired", required);
    const schemas = members.filter(([, dependency]) => !isNames(dependency));
    node.named.set("dependentSchemas", this.#readMap(Object.fromEntries(schemas), pointer));
  }

  /** additionalItems of older drafts, next to a list of items, is items of 2020-12. */
  #readAdditionalItems(node: OpenNode, value: Json): void {
    const tree = this.read(value, childPointer(node.pointer, "additionalItems"));
    if (node.lists.has("prefixItems")) node.single.set("items", tree);
  }
}
