// Resolves the references inside one schema: `#`, pointers and anchors, alone or after the schema's
// own `$id`. Reports those that lead elsewhere, nowhere, or to something that is not a schema. With
// one document and one resource, `$dynamicRef` leads where `$ref` would.

import type { Json } from "../../config/types.ts";
import { childPointer } from "../../json/json-pointer.ts";
import { draftNamed } from "./drafts.ts";
import type { SchemaReport } from "./report.ts";
import type { Dialect, Reference, SchemaNode, SchemaTree } from "./schema-tree.ts";

interface Unresolved {
  readonly from: { readonly references: Reference[] };
  readonly pointer: string;
  readonly text: string;
}

/** Those that name a schema or refer to one, and can be used. */
export const referenceKeywords: readonly string[] = [
  "$schema",
  "$id",
  "id",
  "$ref",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
];

/** The base of references in a schema without `$id`; no reference will name its scheme. */
const unnamedRoot = "x-this-schema:///";

const anchorName = /^[A-Za-z_][-A-Za-z0-9._]*$/u;

/** Reads what stands at a pointer that no keyword reads; undefined when that is no schema. */
type ReadAt = (pointer: string) => SchemaTree | undefined;

export class References {
  readonly #report: SchemaReport;
  readonly #readAt: ReadAt;
  readonly #trees = new Map<string, SchemaTree>();
  readonly #anchors = new Map<string, SchemaTree>();
  readonly #unresolved: Unresolved[] = [];
  #rootId = unnamedRoot;

  constructor(report: SchemaReport, readAt: ReadAt) {
    this.#report = report;
    this.#readAt = readAt;
  }

  /** Remembers that a schema is at `pointer`. */
  register(pointer: string, tree: SchemaTree): void {
    this.#trees.set(pointer, tree);
  }

  /** Whether a schema stands at `pointer`. */
  has(pointer: string): boolean {
    return this.#trees.has(pointer);
  }

  /** Reads a keyword that names a schema or refers to one; false when it is none of these. */
  read(
    node: SchemaNode & { readonly references: Reference[] },
    keyword: string,
    value: Json,
    dialect: Dialect,
  ): boolean {
    const pointer = childPointer(node.pointer, keyword);
    switch (keyword) {
      case "$ref":
      case "$dynamicRef":
        if (typeof value === "string") this.#unresolved.push({ from: node, pointer, text: value });
        else this.#report.problem(pointer, "Write a string such as #/$defs/name");
        return true;
      case "$anchor":
      case "$dynamicAnchor":
        this.#readAnchor(node, pointer, value);
        return true;
      case "$id":
      case "id":
        this.#readId(node, pointer, value, dialect);
        return true;
      case "$schema":
        if (draftNamed(value) !== dialect) this.#report.problem(pointer, "Write $schema at the root only");
        return true;
      case "$recursiveRef":
      case "$recursiveAnchor":
        this.#report.problem(pointer, "Write $ref (or $dynamicRef and $dynamicAnchor) in its place");
        return true;
      case "$vocabulary":
        this.#report.problem(pointer, "Vocabularies can't be chosen; leave it out");
        return true;
      default:
        return false;
    }
  }

  /** Gives every reference its target; call once, after the last schema is placed. */
  resolve(): void {
    for (const { from, pointer, text } of this.#unresolved) {
      const target = this.#target(text, pointer);
      if (target !== undefined) from.references.push({ pointer, target });
    }
  }

  #target(text: string, pointer: string): SchemaTree | undefined {
    const uri = absolute(text, this.#rootId);
    if (uri === undefined || uri.split("#", 1)[0] !== this.#rootId) {
      this.#report.problem(
        pointer,
        "Only references inside the schema are followed; copy what it refers to under $defs and write #/$defs/name",
      );
      return undefined;
    }
    // URL writes some characters of a fragment in another way, so the reference's own text counts.
    const fragment = decoded(text.includes("#") ? text.slice(text.indexOf("#") + 1) : "");
    const target =
      fragment === "" || fragment.startsWith("/")
        ? (this.#trees.get(fragment) ?? this.#readAt(fragment))
        : this.#anchors.get(fragment);
    if (target === undefined) {
      this.#report.problem(
        pointer,
        "This reference leads to no schema; put the schema under $defs and write #/$defs/name",
      );
    }
    return target;
  }

  #readAnchor(node: SchemaNode, pointer: string, value: Json): void {
    if (typeof value !== "string" || !anchorName.test(value)) {
      this.#report.problem(pointer, "Write a name of letters, digits, - _ and dots that starts with a letter");
    } else if (this.#anchors.has(value) && this.#anchors.get(value) !== node) {
      this.#report.problem(pointer, "Another schema already has this anchor; write another name");
    } else {
      this.#anchors.set(value, node);
    }
  }

  #readId(node: SchemaNode, pointer: string, value: Json, dialect: Dialect): void {
    if (typeof value !== "string") this.#report.problem(pointer, "Write a string");
    else if (value.startsWith("#/"))
      this.#report.warn(pointer, () => "An $id can't be a pointer and is ignored; remove it");
    else if (dialect !== "2020-12" && value.startsWith("#")) this.#readAnchor(node, pointer, value.slice(1));
    else if (node.pointer === "") this.#rootId = absolute(value.replace(/#.*$/su, ""), unnamedRoot) ?? unnamedRoot;
    else
      this.#report.problem(
        pointer,
        "A schema inside the schema can't have its own $id; remove it, and refer to the schema by #/$defs/name or an $anchor",
      );
  }
}

/** Undefined for what is no URI reference. */
function absolute(reference: string, base: string): string | undefined {
  return URL.parse(reference, base)?.href;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // Malformed percent-encoding leads nowhere, and is reported as such.
    return `${fragment} `;
  }
}
