// Turns the JSON Schema of an ApiResource, whatever its draft, into schemas of 2020-12 for another
// document: a referenced schema becomes a definition with a name of the caller's. Unknown keywords
// are left out, and `default`, which generators of clients take for a promise that the member
// exists, is only described, also where it is filled in.

import type { Json, JsonObject } from "../config/types.ts";
import { valueAtPointer } from "../json/json-pointer.ts";
import { isObject } from "../json/json-value.ts";
import { annotations, isExtension } from "./read/keywords.ts";
import { readSchema } from "./read/read-schema.ts";
import { SchemaReport } from "./read/report.ts";
import type { SchemaNode, SchemaTree } from "./read/schema-tree.ts";

export interface PortableSchema {
  readonly root: JsonObject;
  /** The targets of references, by the name of `nameOf`; the root only if it is one. */
  readonly definitions: ReadonlyMap<string, Json>;
}

export interface Naming {
  /** The name of what stands at this pointer into the schema as given; asked once for each. */
  nameOf(pointer: string): string;
  /** What a reference to the definition of this name says. */
  refTo(name: string): string;
}

/** What the service does with the defaults of a schema. */
export interface ShownDefaults {
  readonly areFilled: boolean;
  /** Required members that may be left out, by the pointer of each schema object. */
  readonly optional?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** `schema` is one that compiles. */
export function portableSchema(schema: JsonObject, naming: Naming, defaults: ShownDefaults): PortableSchema {
  const read = readSchema(schema, new SchemaReport());
  if (read === undefined) throw new Error("A schema that does not compile can't be shown");
  const exporter = new Exporter(schema, naming, defaults);
  const root = exporter.export(read.root) as JsonObject;
  return { root, definitions: exporter.finish() };
}

/** They refer to the document that the schema came from, or describe what only it can use. */
const leftOut: ReadonlySet<string> = new Set(["$comment", "contentSchema"]);

class Exporter {
  readonly #schema: JsonObject;
  readonly #naming: Naming;
  readonly #defaults: ShownDefaults;
  readonly #names = new Map<SchemaTree, string>();
  readonly #waiting: { readonly name: string; readonly tree: SchemaTree }[] = [];

  constructor(schema: JsonObject, naming: Naming, defaults: ShownDefaults) {
    this.#schema = schema;
    this.#naming = naming;
    this.#defaults = defaults;
  }

  export(tree: SchemaTree): Json {
    if (typeof tree === "boolean") return tree;
    const [first, ...others] = tree.references.map(({ target }) => this.#reference(target));
    const lists = this.#lists(tree);
    if (others.length > 0) lists.set("allOf", [...(lists.get("allOf") ?? []), ...others]);
    return Object.fromEntries([
      ...this.#described(tree),
      ...Object.entries(first ?? {}),
      ...this.#assertions(tree),
      ...lists,
      ...this.#named(tree),
      ...[...tree.single].map(([keyword, inner]): [string, Json] => [keyword, this.export(inner)]),
    ]);
  }

  /** The definitions, and those that they refer to. */
  finish(): ReadonlyMap<string, Json> {
    const definitions = new Map<string, Json>();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      definitions.set(next.name, this.export(next.tree));
    }
    return definitions;
  }

  #reference(target: SchemaTree): JsonObject {
    if (typeof target === "boolean") return target ? {} : { not: {} };
    let name = this.#names.get(target);
    if (name === undefined) {
      name = this.#naming.nameOf(target.pointer);
      this.#names.set(target, name);
      this.#waiting.push({ name, tree: target });
    }
    return { $ref: this.#naming.refTo(name) };
  }

  #assertions({ assertions, pointer }: SchemaNode): ReadonlyMap<string, Json> {
    const optional = this.#defaults.optional?.get(pointer);
    const required = assertions.get("required");
    if (optional === undefined || !Array.isArray(required)) return assertions;
    const left = required.filter((name) => !optional.has(name));
    const shown = new Map<string, Json>(assertions).set("required", left);
    // Drafts before 2020-12, to which tools translate documents, don't allow an empty one.
    if (left.length === 0) shown.delete("required");
    return shown;
  }

  #lists({ lists }: SchemaNode): Map<string, readonly Json[]> {
    return new Map([...lists].map(([keyword, trees]) => [keyword, trees.map((tree) => this.export(tree))]));
  }

  #named({ named }: SchemaNode): readonly [string, Json][] {
    return [...named].map(([keyword, trees]) => [
      keyword,
      Object.fromEntries([...trees].map(([name, tree]) => [name, this.export(tree)])),
    ]);
  }

  /** Its annotations, and what others than this service may read (`x-…`). */
  #described({ pointer }: SchemaNode): readonly [string, Json][] {
    const given = valueAtPointer(this.#schema, pointer);
    if (!isObject(given)) return [];
    const { default: suggested, ...kept } = given;
    const described = Object.entries(kept).filter(
      ([keyword]) => (annotations.has(keyword) && !leftOut.has(keyword)) || isExtension(keyword),
    );
    return suggested === undefined ? described : [...described, ...this.#suggestion(given.description, suggested)];
  }

  /** A default, for programs and for people. */
  #suggestion(description: Json | undefined, value: Json): readonly [string, Json][] {
    const text = JSON.stringify(value);
    const sentences = typeof description === "string" && description !== "" ? [description] : [];
    const sentence = this.#defaults.areFilled
      ? `Default: \`${text}\`, filled in where a new object lacks it.`
      : `Suggested value: \`${text}\`; it is not filled in.`;
    if (text.length <= maxShownDefault) sentences.push(sentence);
    const entries: [string, Json][] = [["x-default", value]];
    return sentences.length === 0 ? entries : [["description", sentences.join(" ")], ...entries];
  }
}

/** Characters of JSON; what is longer is not repeated for people. */
const maxShownDefault = 100;
