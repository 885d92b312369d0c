// Reads charts/jsonplane/values.yaml, which is written by hand, into a JSON Schema of its values:
// defaults from the values, descriptions from the comments above them, and further keywords from
// `@schema {…}` at a comment's end. Throws with the line of a value that has no description, or an
// @schema that can't be read.

import { isMap, isScalar, LineCounter, type Pair, parse, parseDocument, type YAMLMap } from "yaml";

/** JSON Schema, draft-07. */
export interface ValueSchema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  /** Of a group: its values, others than these are refused. */
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly [keyword: string]: unknown;
}

interface Source {
  readonly lines: readonly string[];
  readonly counter: LineCounter;
}

export function readValues(text: string): ValueSchema {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  if (!isMap(document.contents)) throw new Error("values.yaml is not a mapping");
  return groupSchema("Values of the chart jsonplane.", document.contents, { lines: text.split("\n"), counter });
}

function groupSchema(description: string, map: YAMLMap, source: Source): ValueSchema {
  const properties = Object.fromEntries(map.items.map((pair) => [String(pair.key), valueSchema(pair, source)]));
  return { description, type: "object", additionalProperties: false, properties };
}

function valueSchema(pair: Pair, source: Source): ValueSchema {
  const { description, keywords } = commentOf(pair, source);
  if (isMap(pair.value) && isGroup(pair.value, source)) return groupSchema(description, pair.value, source);
  const fallback = isMap(pair.value) || !isScalar(pair.value) ? toJson(pair.value) : pair.value.value;
  return { description, type: typeOf(fallback), ...keywords, default: fallback };
}

/**
 * The members of a group are described; those of a mapping that is one value, such as `resources`,
 * are not.
 */
function isGroup(map: YAMLMap, source: Source): boolean {
  return map.flow !== true && map.items.some((pair) => commentLines(pair, source).length > 0);
}

function commentOf(pair: Pair, source: Source): { readonly description: string; readonly keywords: ValueSchema } {
  const text = commentLines(pair, source).join(" ");
  const [description = "", schema = "{}"] = text.split(/(?:^| )@schema /);
  const where = `values.yaml:${lineOf(pair, source) + 1}: ${String(pair.key)}`;
  if (description === "") throw new Error(`${where} has no description: write a comment above it`);
  try {
    const keywords: unknown = parse(schema);
    if (typeof keywords === "object" && keywords !== null) return { description, keywords: keywords as ValueSchema };
  } catch (cause) {
    throw new Error(`${where} has an @schema that is not YAML: ${schema}`, { cause });
  }
  throw new Error(`${where} has an @schema that is not a mapping: ${schema}`);
}

/** The lines of comment right above, without their `#`. */
function commentLines(pair: Pair, source: Source): readonly string[] {
  const end = lineOf(pair, source);
  let begin = end;
  while (/^ *#/.test(source.lines[begin - 1] ?? "")) begin -= 1;
  return source.lines.slice(begin, end).map((line) => line.trim().slice(1).trim());
}

/** Counted from 0. */
function lineOf({ key }: Pair, { counter }: Source): number {
  if (!isScalar(key) || !key.range) throw new Error("A key of values.yaml is not a plain text");
  return counter.linePos(key.range[0]).line - 1;
}

function toJson(node: unknown): unknown {
  return (node as { toJSON(): unknown }).toJSON();
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
