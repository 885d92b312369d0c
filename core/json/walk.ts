// Steps over canonical JSON text: from the start of a string or value to its end, from element to
// element. Trusts its input, which canonicalJson or Redis JSON wrote.

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The position behind the closing quote of the string that opens at `start`. */
export function endOfString(text: string, start: number): number {
  // A search even in a short string. With a loop over its characters, the members of 700 characters
  // took 0.7 to 2.7 µs, depending on how the engine had compiled the loop; this takes 0.5.
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    if (text.charCodeAt(end - 1) !== backslash || !isEscaped(text, at, end)) return end + 1;
    at = end + 1;
  }
}

/** Whether the quote at `end` belongs to the string that is open at `from`. */
function isEscaped(text: string, from: number, end: number): boolean {
  let escapes = end;
  while (escapes > from && text.charCodeAt(escapes - 1) === backslash) escapes--;
  return (end - escapes) % 2 === 1;
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

/**
 * Where the element at `index` of the array at `start` begins, or the array's length when it is
 * shorter. What follows the element is not read: a walk down a path passes every character once.
 */
export function elementAt(text: string, start: number, index: number): ElementPosition {
  let at = start + 1;
  if (text.charCodeAt(at) === closeArray) return { length: 0 };
  for (let passed = 0; passed < index; passed++) {
    const end = endOfValue(text, at);
    if (text.charCodeAt(end) !== comma) return { length: passed + 1 };
    at = end + 1;
  }
  return { start: at };
}

export type ElementPosition = { readonly start: number } | { readonly length: number };

export interface MemberPosition {
  /** Position of the name's opening quote. */
  readonly nameStart: number;
  readonly valueStart: number;
}

/**
 * The member of the object at `start` whose name is `nameText` in canonical text, quotes included.
 */
export function memberAt(text: string, start: number, nameText: string): MemberPosition | undefined {
  let nameStart = start + 1;
  if (text.charCodeAt(nameStart) === closeObject) return undefined;
  for (;;) {
    // An unescaped quote ends both, so a name that starts like the wanted one is the wanted one.
    if (text.startsWith(nameText, nameStart)) return { nameStart, valueStart: nameStart + nameText.length + 1 };
    const valueStart = endOfString(text, nameStart) + 1;
    const end = endOfValue(text, valueStart);
    if (text.charCodeAt(end) !== comma) return undefined;
    nameStart = end + 1;
  }
}
