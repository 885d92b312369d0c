// Finds the end of a string in JSON text and its canonical form, escaped exactly as JSON.stringify
// does. Refuses control characters, unknown escapes and lone surrogates, literal or escaped.

import { characterAt, JsonRefusal } from "./json-error.ts";

const quote = 0x22;
const backslash = 0x5c;

/**
 * The position of the next character that makes a string more than plain text between two quotes: a
 * backslash, a control character or half of a surrogate pair; the text's length when there is none.
 * Searching once for many strings is twice as fast as reading each character.
 */
export function nextSpecial(source: string, from: number): number {
  special.lastIndex = from;
  return special.test(source) ? special.lastIndex - 1 : source.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const special = /[\\\u0000-\u001f\ud800-\udfff]/g;

export interface ScannedString {
  /** Behind the closing quote. */
  readonly end: number;
  /** Canonical text, quotes included; undefined when the source's own text is canonical. */
  readonly rewrite: string | undefined;
}

/** Reads the string that opens at `start`, whatever it holds. */
export function scanString(source: string, start: number): ScannedString {
  let rewrite = "";
  let kept = start;
  let at = start + 1;
  for (let unit = source.charCodeAt(at); unit !== quote; unit = source.charCodeAt(at)) {
    if (unit === backslash) {
      const end = escapeEnd(source, at);
      const text = escapeText(source, at, end);
      if (text !== undefined) {
        rewrite += source.slice(kept, at) + text;
        kept = end;
      }
      at = end;
    } else {
      at += charactersWidth(source, at, unit);
    }
  }
  const end = at + 1;
  return { end, rewrite: kept === start ? undefined : rewrite + source.slice(kept, end) };
}

/** 1 or, for a surrogate pair, 2. */
function charactersWidth(source: string, at: number, unit: number): number {
  if (unit >= 0x20 && (unit < 0xd800 || unit > 0xdfff)) return 1;
  if (!(unit >= 0x20)) {
    const what = Number.isNaN(unit)
      ? "The text ends inside a string"
      : "A control character in a string must be escaped";
    throw new JsonRefusal("malformed_json", what, at);
  }
  if (unit < 0xdc00 && isLow(source.charCodeAt(at + 1))) return 2;
  throw loneSurrogate(at);
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function loneSurrogate(at: number): JsonRefusal {
  return new JsonRefusal("malformed_json", "A string holds half of a surrogate pair", at);
}

/** The end of the escape at `at`; a surrogate pair of two `\u` escapes is one. */
function escapeEnd(source: string, at: number): number {
  const letter = source.charAt(at + 1);
  if (letter === "") throw new JsonRefusal("malformed_json", "The text ends inside a string", at + 1);
  if (letter !== "u") {
    if ('"\\/bfnrt'.includes(letter)) return at + 2;
    throw new JsonRefusal("malformed_json", `A backslash can't be followed by ${characterAt(source, at + 1)}`, at);
  }
  const unit = hexUnit(source, at);
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  const paired = unit < 0xdc00 && source.startsWith("\\u", at + 6) && isLow(hexUnit(source, at + 6));
  if (paired) return at + 12;
  throw loneSurrogate(at);
}

/** The code unit of the `\uXXXX` at `at`. */
function hexUnit(source: string, at: number): number {
  let value = 0;
  for (let digit = at + 2; digit < at + 6; digit++) value = value * 16 + hexDigit(source.charCodeAt(digit));
  if (!Number.isNaN(value)) return value;
  throw new JsonRefusal("malformed_json", "\\u must be followed by four hexadecimal digits", at);
}

function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const letter = unit | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** What JSON.stringify writes in place of the escape; undefined when it is the same. */
function escapeText(source: string, at: number, end: number): string | undefined {
  if (end === at + 2) return source.charCodeAt(at + 1) === 0x2f ? "/" : undefined;
  const unit = hexUnit(source, at);
  if (end === at + 12) return String.fromCharCode(unit, hexUnit(source, at + 6));
  const character = String.fromCharCode(unit);
  if (unit > backslash) return character;
  const text = JSON.stringify(character).slice(1, -1);
  return source.startsWith(text, at) && text.length === end - at ? undefined : text;
}
