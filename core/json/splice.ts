// Reads, inserts, replaces and removes one value inside a canonical document text, by the rules of
// root keys. Returns the new document, or why the path or the value can't be used.

import { depthOf, elementAt, endOfValue, memberAt } from "./walk.ts";

/** Decoded path segments; whether one is a key or an index, its container's type decides. */
export type Path = readonly string[];

export type ReadOutcome = { readonly outcome: "found"; readonly text: string } | { readonly outcome: "not_found" };

/** The refusals of a document store that depend on the text alone (DocumentRefusal). */
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

/** Where a value starts, or why there is none. */
type Found = number | "missing" | "scalar";

/** From the value at `start` to the one under `segment`. */
function step(text: string, start: number, segment: string): Found {
  const first = text.charAt(start);
  if (first === openObject) return memberAt(text, start, JSON.stringify(segment))?.valueStart ?? "missing";
  if (first !== openArray) return "scalar";
  const index = indexOf(segment);
  if (index === undefined) return "missing";
  const element = elementAt(text, start, index);
  return "start" in element ? element.start : "missing";
}

function find(text: string, path: Path): Found {
  let here = 0;
  for (const segment of path) {
    const next = step(text, here, segment);
    if (typeof next === "string") return next;
    here = next;
  }
  return here;
}

interface Parent {
  readonly isObject: boolean;
  readonly start: number;
  /** The last segment of the path. */
  readonly last: string;
}

/** The container that a write changes. */
function parentOf(text: string, path: Path): Parent | SpliceRefusal {
  const start = find(text, path.slice(0, -1));
  if (start === "missing") return { outcome: "parent_not_found" };
  if (start === "scalar") return { outcome: "not_a_container" };
  const first = text.charAt(start);
  if (first !== openObject && first !== openArray) return { outcome: "not_a_container" };
  return { isObject: first === openObject, start, last: path.at(-1) ?? "" };
}

function replaced(text: string, start: number, value: string): string {
  return text.slice(0, start) + value + text.slice(endOfValue(text, start));
}

/** Adds `entry` behind the last one of the container. */
function appended(text: string, { start }: Parent, entry: string): string {
  const close = endOfValue(text, start) - 1;
  return `${text.slice(0, close)}${close === start + 1 ? "" : ","}${entry}${text.slice(close)}`;
}

/** Removes the entry that starts at `start`, and the comma before or behind it. */
function cut(text: string, start: number, valueStart: number): string {
  const end = endOfValue(text, valueStart);
  if (text.charAt(end) === ",") return text.slice(0, start) + text.slice(end + 1);
  const from = text.charAt(start - 1) === "," ? start - 1 : start;
  return text.slice(0, from) + text.slice(end);
}

/** The value at `path`; anything missing, a path below a scalar too, is `not_found`. */
export function readAt(text: string, path: Path): ReadOutcome {
  const found = find(text, path);
  return typeof found === "string"
    ? { outcome: "not_found" }
    : { outcome: "found", text: text.slice(found, endOfValue(text, found)) };
}

/**
 * Adds a new key to an object, or inserts into an array at an index up to its length (`-` = the
 * end). `path` is not empty. `too_deep` comes first: it depends on the path and the value alone.
 */
export function insertAt(text: string, path: Path, value: string, maxDepth: number): InsertOutcome {
  if (isTooDeep(path, value, maxDepth)) return { outcome: "too_deep" };
  const parent = parentOf(text, path);
  if ("outcome" in parent) return parent;
  return parent.isObject ? insertKey(text, parent, value) : insertElement(text, parent, value);
}

function insertKey(text: string, parent: Parent, value: string): InsertOutcome {
  const name = JSON.stringify(parent.last);
  if (memberAt(text, parent.start, name) !== undefined) return { outcome: "key_exists" };
  return { outcome: "created", document: appended(text, parent, `${name}:${value}`) };
}

function insertElement(text: string, parent: Parent, value: string): InsertOutcome {
  if (parent.last === "-") return { outcome: "created", document: appended(text, parent, value) };
  const index = indexOf(parent.last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, parent.start, index);
  if ("start" in element) {
    const document = `${text.slice(0, element.start)}${value},${text.slice(element.start)}`;
    return { outcome: "created", document };
  }
  if (index > element.length) return { outcome: "index_out_of_range", length: element.length };
  return { outcome: "created", document: appended(text, parent, value) };
}

/** Replaces a value, or adds a missing last key. An empty path replaces the document. */
export function putAt(text: string, path: Path, value: string, options: PutOptions): PutOutcome {
  if (isTooDeep(path, value, options.maxDepth)) return { outcome: "too_deep" };
  if (path.length === 0) return { outcome: "replaced", document: value };
  const parent = parentOf(text, path);
  if ("outcome" in parent) return parent;
  return parent.isObject ? putKey(text, parent, value, options.mayCreate) : putElement(text, parent, value);
}

function putKey(text: string, parent: Parent, value: string, mayCreate: boolean): PutOutcome {
  const name = JSON.stringify(parent.last);
  const member = memberAt(text, parent.start, name);
  if (member !== undefined) return { outcome: "replaced", document: replaced(text, member.valueStart, value) };
  if (!mayCreate) return { outcome: "create_refused" };
  return { outcome: "created", document: appended(text, parent, `${name}:${value}`) };
}

function putElement(text: string, parent: Parent, value: string): PutOutcome {
  const index = indexOf(parent.last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, parent.start, index);
  if (!("start" in element)) return { outcome: "index_not_found", length: element.length };
  return { outcome: "replaced", document: replaced(text, element.start, value) };
}

/**
 * Removes a key, or an array element. Whatever is missing is `not_found`, below a scalar too; a
 * last segment that can't be an index of the array is `invalid_index`. `path` is not empty.
 */
export function removeAt(text: string, path: Path): RemoveOutcome {
  const parent = parentOf(text, path);
  if ("outcome" in parent) return { outcome: "not_found" };
  if (parent.isObject) {
    const member = memberAt(text, parent.start, JSON.stringify(parent.last));
    if (member === undefined) return { outcome: "not_found" };
    return { outcome: "removed", document: cut(text, member.nameStart, member.valueStart) };
  }
  const index = indexOf(parent.last);
  if (index === undefined) return { outcome: "invalid_index" };
  const element = elementAt(text, parent.start, index);
  if (!("start" in element)) return { outcome: "not_found" };
  return { outcome: "removed", document: cut(text, element.start, element.start) };
}

/**
 * The text without the member that the path of names leads to, if there is one. What is no object
 * on the way goes as a whole: elements of an array may have the member, and a string may say what
 * the member would.
 */
export function withoutPath(text: string, [name = "", ...below]: Path): string {
  const member = text.charAt(0) === openObject ? memberAt(text, 0, JSON.stringify(name)) : undefined;
  if (member === undefined) return text;
  const { nameStart, valueStart } = member;
  if (below.length === 0 || text.charAt(valueStart) !== openObject) return cut(text, nameStart, valueStart);
  const value = text.slice(valueStart, endOfValue(text, valueStart));
  return replaced(text, valueStart, withoutPath(value, below));
}
