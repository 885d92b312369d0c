// Turns JSON text into its canonical text, which is stored, compared and served. Refuses what is
// not strict RFC 8259, repeated member names, numbers that can't be stored and too deep nesting.
//
// Canonical: no white space, strings as JSON.stringify writes them, members in the order sent,
// integers verbatim, fractions and exponents as number.ts writes them, `-0` as `-0.0`. Redis JSON
// returns every canonical text unchanged.

import { characterAt, type JsonError, JsonRefusal, jsonErrorOf } from "./json-error.ts";
import { type JsonKind, kindOf } from "./members.ts";
import { doubleRewrite, integerRewrite, numberEnd, wholeEnd } from "./scan-number.ts";
import { nextSpecial, scanString } from "./scan-string.ts";

export interface CanonicalJson {
  readonly text: string;
  readonly kind: JsonKind;
  /** Levels of nesting: a scalar has 0, `[]` and `{}` have 1, `[[]]` has 2. */
  readonly depth: number;
}

export type CanonicalResult =
  | { readonly ok: true; readonly json: CanonicalJson }
  | { readonly ok: false; readonly error: JsonError };

/**
 * Reads a text in steps, so that a long one holds the event loop no longer than its reader wants.
 */
export interface CanonicalReader {
  /** Reads so many characters more, and to the end of an open string; undefined = not finished. */
  read(characters: number): CanonicalResult | undefined;
}

const unit = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  colon: 0x3a,
  openArray: 0x5b,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** Up to this many names of one object are compared one by one, which is cheaper than a set. */
const maxListedNames = 12;

interface Container {
  readonly isObject: boolean;
  /** Where this object's names start in the shared list of names. */
  readonly firstName: number;
  names: Set<string> | undefined;
  index: number;
}

class Canonicaliser implements CanonicalReader {
  readonly #source: string;
  readonly #maxDepth: number;
  readonly #open: Container[] = [];
  /**
   * Names of all open objects, outer ones first; an object with many keeps only its latest here.
   */
  readonly #names: string[] = [];
  #inName = false;
  #at = 0;
  /** All before this position is in #written already, in canonical form. */
  #kept = 0;
  #written = "";
  #depth = 0;
  /**
   * The next character that makes a string more than plain text (nextSpecial), as far as is known.
   */
  #special = -1;
  /** Lines that have begun so far, and where the last one did. */
  #lines = 1;
  #lineStart = 0;
  #kind: JsonKind | undefined;
  #valueNext = true;

  constructor(source: string, maxDepth: number) {
    this.#source = source;
    this.#maxDepth = maxDepth;
  }

  read(characters: number): CanonicalResult | undefined {
    const pause = this.#at + characters;
    try {
      if (this.#kind === undefined) {
        this.#skipSpace();
        this.#kind = kindOf(this.#source.charAt(this.#at));
      }
      while (this.#valueNext || this.#open.length > 0) {
        if (this.#at >= pause) return undefined;
        this.#valueNext = this.#valueNext ? this.#value() : this.#afterValue();
      }
      this.#skipSpace();
      if (this.#at < this.#source.length) throw this.#unexpected("the end of the text");
      const text = this.#kept === 0 ? this.#source : this.#written + this.#source.slice(this.#kept);
      return { ok: true, json: { text, kind: this.#kind, depth: this.#depth } };
    } catch (error) {
      if (!(error instanceof JsonRefusal)) throw error;
      const line = { number: this.#lines, start: this.#lineStart };
      return { ok: false, error: jsonErrorOf(error, this.#source, line, this.#path()) };
    }
  }

  /** The path to where reading stopped, or to the object one of whose names can't be read. */
  #path(): (string | number)[] {
    const containers = this.#inName ? this.#open.slice(0, -1) : this.#open;
    return containers.map((container, level) => {
      if (!container.isObject) return container.index;
      const end = this.#open[level + 1]?.firstName ?? this.#names.length;
      return this.#names[end - 1] ?? "";
    });
  }

  /** Reads a scalar or opens a container; true when another value must follow directly. */
  #value(): boolean {
    const first = this.#source.charCodeAt(this.#at);
    if (first === unit.quote) this.#string();
    else if (first === unit.openObject) return this.#openContainer(true, unit.closeObject);
    else if (first === unit.openArray) return this.#openContainer(false, unit.closeArray);
    else if (first === unit.minus || (first >= 0x30 && first <= 0x39)) this.#number();
    else this.#literal(first);
    return false;
  }

  #openContainer(isObject: boolean, closer: number): boolean {
    if (this.#open.length >= this.#maxDepth) {
      throw new JsonRefusal("too_deep", `Values can be nested ${this.#maxDepth} levels deep at most`, this.#at);
    }
    this.#open.push({ isObject, firstName: this.#names.length, names: undefined, index: 0 });
    if (this.#open.length > this.#depth) this.#depth = this.#open.length;
    this.#at++;
    this.#skipSpace();
    if (this.#source.charCodeAt(this.#at) === closer) {
      this.#close();
      return false;
    }
    if (isObject) this.#memberName();
    return true;
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed?.isObject) this.#names.length = closed.firstName;
    this.#at++;
  }

  /** Reads what follows a value inside a container; true when another value follows. */
  #afterValue(): boolean {
    this.#skipSpace();
    const container = this.#open.at(-1);
    if (container === undefined) return false;
    const next = this.#source.charCodeAt(this.#at);
    if (next === unit.comma) {
      this.#at++;
      this.#skipSpace();
      container.index++;
      if (container.isObject) this.#memberName();
      return true;
    }
    if (next !== (container.isObject ? unit.closeObject : unit.closeArray)) {
      throw this.#unexpected(container.isObject ? "',' or '}'" : "',' or ']'");
    }
    this.#close();
    return false;
  }

  #memberName(): void {
    const start = this.#at;
    this.#inName = true;
    if (this.#source.charCodeAt(start) !== unit.quote) throw this.#unexpected("a member's name in quotes");
    const plain = this.#string();
    const source = this.#source;
    const name: string = plain ? source.slice(start + 1, this.#at - 1) : JSON.parse(source.slice(start, this.#at));
    this.#inName = false;
    this.#noteName(name, start);
    this.#skipSpace();
    if (this.#source.charCodeAt(this.#at) !== unit.colon) throw this.#unexpected("':'");
    this.#at++;
    this.#skipSpace();
  }

  #noteName(name: string, start: number): void {
    const container = this.#open.at(-1);
    if (container === undefined) return;
    const names = this.#names;
    const first = container.firstName;
    if (container.names === undefined && names.length - first < maxListedNames) {
      const known = includesFrom(names, first, name);
      names.push(name);
      if (known) throw duplicate(start);
      return;
    }
    container.names ??= new Set(names.slice(first));
    const before = container.names.size;
    container.names.add(name);
    names[names.length - 1] = name;
    if (container.names.size === before) throw duplicate(start);
  }

  /** Reads a string; true when its value is the very text between the quotes. */
  #string(): boolean {
    const start = this.#at;
    if (this.#special < start) this.#special = nextSpecial(this.#source, start);
    const close = this.#source.indexOf('"', start + 1);
    if (close > 0 && close < this.#special) {
      this.#at = close + 1;
      return true;
    }
    const { end, rewrite } = scanString(this.#source, start);
    this.#at = end;
    if (rewrite !== undefined) this.#replace(start, rewrite);
    return false;
  }

  #number(): void {
    const start = this.#at;
    const whole = wholeEnd(this.#source, start);
    const end = numberEnd(this.#source, whole);
    const rewrite =
      end === whole ? integerRewrite(this.#source, start, end) : doubleRewrite(this.#source, start, whole);
    this.#at = end;
    if (rewrite !== undefined) this.#replace(start, rewrite);
  }

  #literal(first: number): void {
    const word = wordOf(first);
    if (word === undefined || !this.#source.startsWith(word, this.#at)) throw this.#unexpected("a JSON value");
    this.#at += word.length;
  }

  /** Writes `text` in place of what was read since `start`. */
  #replace(start: number, text: string): void {
    this.#written += this.#source.slice(this.#kept, start) + text;
    this.#kept = this.#at;
  }

  #skipSpace(): void {
    const start = this.#at;
    if (start >= this.#source.length || this.#source.charCodeAt(start) > 0x20) return;
    let at = start;
    for (; at < this.#source.length; at++) {
      const code = this.#source.charCodeAt(at);
      if (!isSpace(code)) break;
      // No other newlines but those between values are let through.
      if (code === 0x0a) {
        this.#lines++;
        this.#lineStart = at + 1;
      }
    }
    if (at === start) return;
    this.#at = at;
    this.#replace(start, "");
  }

  #unexpected(wanted: string): JsonRefusal {
    const found = characterAt(this.#source, this.#at);
    return new JsonRefusal("malformed_json", `Expected ${wanted}, found ${found}`, this.#at);
  }
}

function includesFrom(names: readonly string[], first: number, name: string): boolean {
  for (let at = first; at < names.length; at++) if (names[at] === name) return true;
  return false;
}

function wordOf(first: number): string | undefined {
  switch (first) {
    case 0x74:
      return "true";
    case 0x66:
      return "false";
    case 0x6e:
      return "null";
    default:
      return undefined;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function duplicate(at: number): JsonRefusal {
  return new JsonRefusal("duplicate_member", "An object has two members with the same name", at);
}

/** The canonical form, or `source` itself when it is canonical. Linear time. */
export function canonicalJson(source: string, maxDepth: number): CanonicalResult {
  return readToEnd(new Canonicaliser(source, maxDepth));
}

/** As canonicalJson, of UTF-8 bytes; a byte order mark or invalid UTF-8 is `malformed_json`. */
export function canonicalJsonOfBytes(bytes: Uint8Array, maxDepth: number): CanonicalResult {
  return readToEnd(canonicalReader(bytes, maxDepth));
}

/** The same, for who reads a part at a time. */
export function canonicalReader(bytes: Uint8Array, maxDepth: number): CanonicalReader {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return malformed("The text starts with a byte order mark; send UTF-8 without one");
  }
  try {
    return new Canonicaliser(utf8.decode(bytes), maxDepth);
  } catch {
    return malformed("The text is not valid UTF-8");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function malformed(detail: string): CanonicalReader {
  return { read: () => ({ ok: false, error: { code: "malformed_json", detail, reason: detail, at: 0 } }) };
}

function readToEnd(reader: CanonicalReader): CanonicalResult {
  const result = reader.read(Number.POSITIVE_INFINITY);
  if (result === undefined) throw new Error("A text was read to its end, and there is more of it");
  return result;
}
