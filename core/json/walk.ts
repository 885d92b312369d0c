// Steps over canonical JSON text: from the start of a string or value to its end, from element to element, to the depth of a
// value. Trusts its input, which canonicalJson or Redis JSON wrote, and refuses nothing.

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The position behind the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at + 1;
    at += unit === backslash ? 2 : 1;
  }
  return at;
}

/** The position behind the value that starts at `start`. */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first === openArray || first === openObject) return endOfContainer(text, start);
  return endOfWord(text, start);
}

/** Behind a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === comma || unit === closeArray || unit === closeObject) return at;
    at++;
  }
  return at;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
      continue;
    }
    at++;
    depth += change(unit);
    if (depth === 0) return at;
  }
  return at;
}

/** How a character outside strings changes the depth. */
function change(unit: number): number {
  if (unit === openArray || unit === openObject) return 1;
  return unit === closeArray || unit === closeObject ? -1 : 0;
}

/** Levels of nesting of a text: 0 for a scalar, 1 for `[]`. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = endOfString(text, at);
      continue;
    }
    at++;
    depth += change(unit);
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The element at `index` of the array that starts at `start`, or the array's length when it is shorter. */
export function elementAt(text: string, start: number, index: number): Span | { readonly length: number } {
  let at = start + 1;
  if (text.charCodeAt(at) === closeArray) return { length: 0 };
  for (let passed = 0; ; passed++) {
    const end = endOfValue(text, at);
    if (passed === index) return { start: at, end };
    if (text.charCodeAt(end) !== comma) return { length: passed + 1 };
    at = end + 1;
  }
}

export interface MemberSpan {
  /** Of the name's opening quote. */
  readonly nameStart: number;
  readonly value: Span;
}

/** The member whose name has the canonical text `nameText` (quotes included), of the object that starts at `start`. */
export function memberAt(text: string, start: number, nameText: string): MemberSpan | undefined {
  let at = start + 1;
  if (text.charCodeAt(at) === closeObject) return undefined;
  for (;;) {
    const nameStart = at;
    const nameEnd = endOfString(text, at);
    const valueEnd = endOfValue(text, nameEnd + 1);
    if (nameEnd - nameStart === nameText.length && text.startsWith(nameText, nameStart)) {
      return { nameStart, value: { start: nameEnd + 1, end: valueEnd } };
    }
    if (text.charCodeAt(valueEnd) !== comma) return undefined;
    at = valueEnd + 1;
  }
}
