// Says why and where a JSON text is refused: line, column and JSON Pointer, without quoting the
// text.

import { pointerOf } from "./json-pointer.ts";

export type JsonErrorCode = "malformed_json" | "duplicate_member" | "number_out_of_range" | "too_deep";

export interface JsonError {
  readonly code: JsonErrorCode;
  /** A sentence for the client; quotes at most a few characters of what was sent. */
  readonly detail: string;
  /** The same without the place. */
  readonly reason: string;
  /** The place, as a position in the text. */
  readonly at: number;
}

/** Thrown inside this package only; canonicalJson turns it into a result. */
export class JsonRefusal extends Error {
  override readonly name = "JsonRefusal";
  readonly code: JsonErrorCode;
  readonly at: number;

  constructor(code: JsonErrorCode, message: string, at: number) {
    super(message);
    this.code = code;
    this.at = at;
  }
}

const maxSegment = 32;
const maxPointer = 256;

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Cutting a surrogate pair in two would make the detail itself unencodable.
  const cut = text.slice(0, limit);
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

/** With long names and long pointers cut short. */
function shortPointerOf(path: readonly (string | number)[]): string {
  return shortened(pointerOf(path.map((step) => shortened(String(step), maxSegment))), maxPointer);
}

/** Names one character. Only printable ASCII is shown: others can reorder what is around. */
export function characterAt(source: string, at: number): string {
  const code = source.codePointAt(at);
  if (code === undefined) return "the end of the text";
  if (code > 0x20 && code < 0x7f) return `'${String.fromCharCode(code)}'`;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The line in which reading stopped, as the last of those that begin before it. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where it begins in the text. */
  readonly start: number;
}

export function jsonErrorOf(
  refusal: JsonRefusal,
  source: string,
  line: Line,
  path: readonly (string | number)[],
): JsonError {
  const column = codePoints(source.slice(line.start, refusal.at)) + 1;
  const where = `line ${line.number}, column ${column}, JSON Pointer "${shortPointerOf(path)}"`;
  return { code: refusal.code, detail: `${refusal.message} (${where})`, reason: refusal.message, at: refusal.at };
}

function codePoints(text: string): number {
  // In Latin-1 text, a search for surrogates ends before it begins; counting a mebibyte would take
  // two milliseconds.
  if (!surrogate.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

const surrogate = /[\ud800-\udfff]/;
