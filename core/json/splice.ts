// Reads, inserts, replaces and removes one value inside a canonical document text, by the key/value rules of the HTTP
// contract; answers with the new document, or with the reason why the path or the value can't be used.

import { depthOf, elementAt, memberAt, type Span } from "./walk.ts";

/** Decoded path segments; whether one is a key or an index, its container's type decides. */
export type Path = readonly string[];

export type ReadOutcome = { readonly outcome: "found"; readonly text: string } | { readonly outcome: "not_found" };

/** The refusals of a document store that the document's text alone decides (DocumentRefusal in the store's port). */
export type SpliceRefusal =
  | { readonly outcome: "parent_not_found" | "not_a_container" | "invalid_index" }
  | { readonly outcome: "key_exists" | "not_found" | "create_refused" | "too_deep" }
  | { readonly outcome: "index_out_of_range" | "index_not_found"; readonly length: number };

export type InsertOutcome = { readonly outcome: "created"; readonly document: string } | SpliceRefusal;
export type PutOutcome = { readonly outcome: "created" | "replaced"; readonly document: string } | SpliceRefusal;
export type RemoveOutcome = { readonly outcome: "removed"; readonly document: string } | SpliceRefusal;

export interface PutOptions {
  /** Whether a missing last key of an object may be added. */
  readonly mayCreate: boolean;
  readonly maxDepth: number;
}

const openObject = "{";
const openArray = "[";

/** An array index: `0`, or digits without a leading zero. */
function indexOf(segment: string): number | undefined {
  return /^(?:0|[1-9][0-9]*)$/.test(segment) ? Number(segment) : undefined;
}

/** True when `value` at `path` would nest deeper than `maxDepth`, whatever the document holds. */
export function isTooDeep(path: Path, value: string, maxDepth: number): boolean {
  return path.length > maxDepth || path.length + depthOf(value) > maxDepth;
}

type Step = Span | "missing" | "scalar";

/** From the container at `start` to the value under `segment`. */
function step(text: string, start: number, segment: string): Step {
  const first = text.charAt(start);
  if (first === openObject) return memberAt(text, start, JSON.stringify(segment))?.value ?? "missing";
  if (first !== openArray) return "scalar";
  const index = indexOf(segment);
  if (index === undefined) return "missing";
  const element = elementAt(text, start, index);
  return "start" in element ? element : "missing";
}

function walk(text: string, path: Path): Step {
  let here: Span = { start: 0, end: text.length };
  for (const segment of path) {
    const next = step(text, here.start, segment);
    if (typeof next === "string") return next;
    here = next;
  }
  return here;
}

interface Parent {
  readonly isObject: boolean;
  readonly span: Span;
  readonly last: string;
}

/** The container that a write changes. */
function parentOf(text: string, path: Path): Parent | SpliceRefusal {
  const found = walk(text, path.slice(0, -1));
  if (found === "missing") return { outcome: "parent_not_found" };
  if (found === "scalar") return { outcome: "not_a_container" };
  const first = text.charAt(found.start);
  if (first !== openObject && first !== openArray) return { outcome: "not_a_container" };
  return { isObject: first === openObject, span: found, last: path.at(-1) ?? "" };
}

function replaced(text: string, { start, end }: Span, value: string): string {
  return text.slice(0, start) + value + text.slice(end);
}

/** Adds `entry` behind the last one of the container. */
function appended(text: string, { end }: Span, entry: string): string {
  // Only an opening bracket can stand before the closing one of an empty container: strings end in a quote.
  const isEmpty = "{[".includes(text.charAt(end - 2));
  return `${text.slice(0, end - 1)}${isEmpty ? "" : ","}${entry}${text.slice(end - 1)}`;
}

/** Takes an entry out, with the comma before or behind it. */
function cut(text: string, { start, end }: Span): string {
  if (text.charAt(end) === ",") return text.slice(0, start) + text.slice(end + 1);
  const from = text.charAt(start - 1) === "," ? start - 1 : start;
  return text.slice(0, from) + text.slice(end);
}

/** The value at `path`; anything missing, a path below a scalar too, is `not_found`. */
export function readAt(text: string, path: Path): ReadOutcome {
  const found = walk(text, path);
  return typeof found === "string"
    ? { outcome: "not_found" }
    : { outcome: "found", text: text.slice(found.start, found.end) };
}

/**
 * Adds a new key to an object, or inserts into an array at an index up to its length (`-` = the end). `path` is not empty.
 * `too_deep` comes first: it depends on the path and the value alone.
 */
export function insertAt(text: string, path: Path, value: string, maxDepth: number): InsertOutcome {
  if (isTooDeep(path, value, maxDepth)) return { outcome: "too_deep" };
  const parent = parentOf(text, path);
  if ("outcome" in parent) return parent;
  return parent.isObject ? insertKey(text, parent, value) : insertElement(text, parent, value);
}

function insertKey(text: string, { span, last }: Parent, value: string): InsertOutcome {
  const name = JSON.stringify(last);
  if (memberAt(text, span.start, name) !== undefined) return { outcome: "key_exists" };
  return { outcome: "created", document: appended(text, span, `${name}:${value}`) };
}

function insertElement(text: string, { span, last }: Parent, value: string): InsertOutcome {
  if (last === "-") return { outcome: "created", document: appended(text, span, value) };
  const index = indexOf(last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, span.start, index);
  if ("start" in element) {
    const document = `${text.slice(0, element.start)}${value},${text.slice(element.start)}`;
    return { outcome: "created", document };
  }
  if (index > element.length) return { outcome: "index_out_of_range", length: element.length };
  return { outcome: "created", document: appended(text, span, value) };
}

/** Replaces a value, or adds a missing last key of an object. An empty path replaces the whole document. */
export function putAt(text: string, path: Path, value: string, options: PutOptions): PutOutcome {
  if (isTooDeep(path, value, options.maxDepth)) return { outcome: "too_deep" };
  if (path.length === 0) return { outcome: "replaced", document: value };
  const parent = parentOf(text, path);
  if ("outcome" in parent) return parent;
  return parent.isObject ? putKey(text, parent, value, options.mayCreate) : putElement(text, parent, value);
}

function putKey(text: string, { span, last }: Parent, value: string, mayCreate: boolean): PutOutcome {
  const name = JSON.stringify(last);
  const member = memberAt(text, span.start, name);
  if (member !== undefined) return { outcome: "replaced", document: replaced(text, member.value, value) };
  if (!mayCreate) return { outcome: "create_refused" };
  return { outcome: "created", document: appended(text, span, `${name}:${value}`) };
}

function putElement(text: string, { span, last }: Parent, value: string): PutOutcome {
  const index = indexOf(last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, span.start, index);
  if (!("start" in element)) return { outcome: "index_not_found", length: element.length };
  return { outcome: "replaced", document: replaced(text, element, value) };
}

/**
 * Removes a key, or an array element. Whatever is missing is `not_found`, below a scalar too; a last segment that can't be
 * an index of the array is `invalid_index`. `path` is not empty.
 */
export function removeAt(text: string, path: Path): RemoveOutcome {
  const parent = parentOf(text, path);
  if ("outcome" in parent) return { outcome: "not_found" };
  if (parent.isObject) {
    const member = memberAt(text, parent.span.start, JSON.stringify(parent.last));
    if (member === undefined) return { outcome: "not_found" };
    return { outcome: "removed", document: cut(text, { start: member.nameStart, end: member.value.end }) };
  }
  const index = indexOf(parent.last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, parent.span.start, index);
  if (!("start" in element)) return { outcome: "not_found" };
  return { outcome: "removed", document: cut(text, element) };
}
