// Says why and where a JSON text is refused: line, column and JSON Pointer, without repeating the text itself.

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

/** Names one character; only printable ASCII is shown, for others can hide or turn what stands around them. */
export function characterAt(source: string, at: number): string {
  const code = source.codePointAt(at);
  if (code === undefined) return "the end of the text";
  if (code > 0x20 && code < 0x7f) return `'${String.fromCharCode(code)}'`;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

export function jsonErrorOf(refusal: JsonRefusal, source: string, path: readonly (string | number)[]): JsonError {
  const before = source.slice(0, refusal.at);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = countLines(before);
  const column = codePoints(before, lineStart) + 1;
  const where = `line ${line}, column ${column}, JSON Pointer "${shortPointerOf(path)}"`;
  return { code: refusal.code, detail: `${refusal.message} (${where})`, reason: refusal.message, at: refusal.at };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function codePoints(text: string, from: number): number {
  let count = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}
