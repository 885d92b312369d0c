// Finds where in JSON text, with any white space, a JSON Pointer leads. A pointer to what is
// missing leads to the nearest existing parent; text that is not JSON gives the position so far.

import { segmentsOf } from "../../../core/json/json-pointer.ts";
import { endOfString, endOfValue } from "../../../core/json/walk.ts";
import { skipSpace } from "./pretty.ts";

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

interface Found {
  /** Where the member begins: at its name; for an element and the entire value, at the value. */
  readonly start: number;
  readonly valueStart: number;
}

/** A scalar with its name; of an object or an array, its name and the bracket that opens it. */
export function rangeAt(text: string, pointer: string): TextRange {
  const start = skipSpace(text, 0);
  let found: Found = { start, valueStart: start };
  for (const segment of segmentsOf(pointer)) {
    const child = childAt(text, found.valueStart, segment);
    if (child === undefined) break;
    found = child;
  }
  return { from: found.start, to: shownEnd(text, found.valueStart) };
}

function shownEnd(text: string, start: number): number {
  if (start >= text.length) return text.length;
  if ("{[".includes(text.charAt(start))) return start + 1;
  return start + text.slice(start, endOfValue(text, start)).trimEnd().length;
}

function childAt(text: string, container: number, segment: string): Found | undefined {
  const opener = text.charAt(container);
  if (opener === "{") return memberNamed(text, container, segment);
  return opener === "[" && /^(0|[1-9]\d*)$/.test(segment) ? elementAt(text, container, Number(segment)) : undefined;
}

function memberNamed(text: string, container: number, name: string): Found | undefined {
  let start = skipSpace(text, container + 1);
  while (text.charAt(start) === '"') {
    const nameEnd = endOfString(text, start);
    const colon = skipSpace(text, nameEnd);
    if (text.charAt(colon) !== ":") return undefined;
    const valueStart = skipSpace(text, colon + 1);
    if (nameIn(text.slice(start, nameEnd)) === name) return { start, valueStart };
    start = nextAfter(text, valueStart);
  }
  return undefined;
}

function elementAt(text: string, container: number, index: number): Found | undefined {
  let start = skipSpace(text, container + 1);
  for (let passed = 0; passed < index; passed += 1) {
    start = nextAfter(text, start);
    if (start >= text.length) return undefined;
  }
  return start >= text.length || text.charAt(start) === "]" ? undefined : { start, valueStart: start };
}

/** Where the text after the next comma begins; the text's end where there is none. */
function nextAfter(text: string, valueStart: number): number {
  if (valueStart >= text.length) return text.length;
  const end = skipSpace(text, endOfValue(text, valueStart));
  return text.charAt(end) === "," ? skipSpace(text, end + 1) : text.length;
}

function nameIn(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
