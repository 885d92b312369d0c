// Reads and changes the members of objects, and reads the elements of arrays, in canonical JSON
// text without parsing their values, so that numbers and order stay. Throws a TypeError for
// anything else: a defect of the caller.

import { endOfString, endOfValue, memberAt } from "./walk.ts";

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export interface Member {
  /** Unescaped. */
  readonly name: string;
  /** Position of the name's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The kind of a canonical text, from its first character. */
export function kindOf(text: string): JsonKind {
  switch (text.charAt(0)) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

/** The members of an object text, in its order. */
export function membersOf(text: string): readonly Member[] {
  if (kindOf(text) !== "object") throw new TypeError("Only an object has members");
  const members: Member[] = [];
  if (text === "{}") return members;
  let start = 1;
  while (start < text.length) {
    const nameEnd = endOfString(text, start);
    const valueEnd = endOfValue(text, nameEnd + 1);
    members.push({ name: nameIn(text, start, nameEnd), start, valueStart: nameEnd + 1, valueEnd });
    start = valueEnd + 1;
  }
  return members;
}

/** The texts of an object's values by name. */
export function valuesOf(text: string): ReadonlyMap<string, string> {
  return new Map(membersOf(text).map(({ name, valueStart, valueEnd }) => [name, text.slice(valueStart, valueEnd)]));
}

/** The name, unescaped, whose quotes stand at `start` and before `end`. */
export function nameIn(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** The texts of an array's elements, in its order. */
export function elementsOf(text: string): string[] {
  if (text.charAt(0) !== "[") throw new TypeError("Only an array has elements");
  const elements: string[] = [];
  if (text === "[]") return elements;
  for (let start = 1; start < text.length; ) {
    const end = endOfValue(text, start);
    elements.push(text.slice(start, end));
    start = end + 1;
  }
  return elements;
}

/** How many members an object has at its top, or elements an array; 0 of anything else. */
export function membersIn(text: string): number {
  const kind = kindOf(text);
  if (kind === "object") return membersOf(text).length;
  return kind === "array" ? elementsOf(text).length : 0;
}

/** The text of the value that object keys lead to from `text`; undefined when there is none. */
export function valueAt(text: string, path: readonly string[]): string | undefined {
  let start = 0;
  for (const name of path) {
    const member = text.charCodeAt(start) === 0x7b ? memberAt(text, start, JSON.stringify(name)) : undefined;
    if (member === undefined) return undefined;
    start = member.valueStart;
  }
  return start === 0 ? text : text.slice(start, endOfValue(text, start));
}

/** Puts each value of `changes` in its member's place, and new members at the end. */
export function mergeMembers(text: string, changes: ReadonlyMap<string, string>): string {
  const added = new Map(changes);
  let merged = "";
  let kept = 0;
  for (const { name, valueStart, valueEnd } of membersOf(text)) {
    const value = changes.get(name);
    if (value === undefined) continue;
    added.delete(name);
    merged += text.slice(kept, valueStart) + value;
    kept = valueEnd;
  }
  if (added.size === 0) return merged + text.slice(kept);
  const behind = [...added].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",");
  return `${merged}${text.slice(kept, -1)}${text === "{}" ? "" : ","}${behind}}`;
}

/** The object without the members of these names; the others keep their order. */
export function withoutMembers(text: string, names: ReadonlySet<string>): string {
  const kept = membersOf(text).filter(({ name }) => !names.has(name));
  return `{${kept.map(({ start, valueEnd }) => text.slice(start, valueEnd)).join(",")}}`;
}
