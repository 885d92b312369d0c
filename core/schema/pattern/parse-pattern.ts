// Turns the text of an ECMA-262 regular expression (flag u) into a tree. Refuses what can't be
// matched in linear time (lookaround, backreferences) and what is not a valid expression, and says
// what to write instead.

/** One character class or escape. */
export interface CharacterSet {
  /** Equal for sets of equal text and case rule. */
  readonly key: string;
  has(codePoint: number): boolean;
}

export type PatternNode =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "assert"; readonly assertion: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly body: PatternNode; readonly min: number; readonly max: number };

export type Assertion = "start" | "end" | "boundary" | "no-boundary";

export class PatternError extends Error {
  override readonly name = "PatternError";
}

export const maxPatternLength = 4096;
const maxGroupDepth = 50;
export const maxRepeat = 1000;

/** `ignoreCase`: for our own expressions; a schema has `(?i:…)`. @throws PatternError */
export function parsePattern(source: string, ignoreCase = false): PatternNode {
  if (source.length > maxPatternLength) {
    throw new PatternError(`the pattern is longer than ${maxPatternLength} characters; split it with allOf`);
  }
  return new PatternParser(source, ignoreCase).parse();
}

const shorthandSet = /^\\(?:[dDwWsS]|[pP]\{[A-Za-z0-9_=]{1,64}\})/u;
const hexEscape =
  /^\\(?:x[0-9A-Fa-f]{2}|u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|c[A-Za-z]|[tnvfr]|0(?![0-9]))/u;
const quantifier = /^(?:[*+?]|\{(\d{1,9})(,(\d{1,9})?)?\})\??/u;
const bareAssertion = /^(?:\^|\$|\\[bB])/u;
const groupOpening = /^\((?:\?(?:<[\p{ID_Start}$_][\p{ID_Continue}$]*>|:|(i)?:))?/u;
/** What stands for itself after a backslash: ECMA's syntax characters and ASCII punctuation. */
const punctuation = /^[!-/:-@[-`{-~]$/u;

class PatternParser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #ignoreCase: boolean;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#ignoreCase = ignoreCase;
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw this.#error('")" closes no group; write \\) for the character itself');
    return node;
  }

  #choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: "choice", options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && this.#peek() !== "|" && this.#peek() !== ")") parts.push(this.#term());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "sequence", parts };
  }

  #term(): PatternNode {
    // A group may come down to an assertion and may be repeated all the same.
    const isAssertion = bareAssertion.test(this.#rest());
    const body = this.#atom();
    const found = quantifier.exec(this.#rest());
    if (found === null) return body;
    if (isAssertion) throw this.#error("an assertion such as ^, $ or \\b can't be repeated");
    this.#at += found[0].length;
    const [min, max] = repetition(found);
    if (min > maxRepeat || (max !== Number.POSITIVE_INFINITY && max > maxRepeat)) {
      throw this.#error(`a repetition counts to ${maxRepeat} at most; use minLength and maxLength for longer strings`);
    }
    if (max < min) throw this.#error("the numbers of a repetition are out of order");
    if (quantifier.test(this.#rest())) throw this.#error("a repetition can't be repeated; put the first one in (?:…)");
    return { kind: "repeat", body, min, max };
  }

  #atom(): PatternNode {
    switch (this.#peek()) {
      case "^":
        this.#at++;
        return { kind: "assert", assertion: "start" };
      case "$":
        this.#at++;
        return { kind: "assert", assertion: "end" };
      case ".":
        this.#at++;
        return this.#set(".");
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      default:
        return this.#literal();
    }
  }

  #literal(): PatternNode {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    if ("*+?".includes(character))
      throw this.#error(`"${character}" repeats nothing; write \\${character} for the character`);
    if ("{}]".includes(character)) throw this.#error(`write \\${character} for the character "${character}" itself`);
    this.#at += character.length;
    return this.#set(literalText(character));
  }

  #group(): PatternNode {
    const rest = this.#rest();
    if (/^\(\?<?[=!]/u.test(rest)) {
      throw this.#error(
        "lookahead and lookbehind can't be matched in linear time; use allOf with several patterns, or not",
      );
    }
    const opening = groupOpening.exec(rest);
    if (opening === null || (opening[0] === "(" && rest.startsWith("(?"))) {
      throw this.#error("only the groups (…), (?:…), (?<name>…) and (?i:…) are supported");
    }
    if (++this.#depth > maxGroupDepth) throw this.#error(`groups nest at most ${maxGroupDepth} deep`);
    const outerCase = this.#ignoreCase;
    if (opening[1] === "i") this.#ignoreCase = true;
    this.#at += opening[0].length;
    const body = this.#choice();
    if (!this.#take(")")) throw this.#error('a group is not closed; write \\( for the character "(" itself');
    this.#ignoreCase = outerCase;
    this.#depth--;
    return body;
  }

  #class(): PatternNode {
    const start = this.#at++;
    let text = "[";
    if (this.#take("^")) text += "^";
    while (!this.#take("]")) {
      if (this.#at >= this.#source.length) {
        this.#at = start;
        throw this.#error('"[" is not closed by "]"');
      }
      text += this.#peek() === "\\" ? this.#escapeText(true) : this.#character();
    }
    return this.#set(`${text}]`);
  }

  #character(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #escape(): PatternNode {
    const next = this.#source[this.#at + 1];
    if (next === "b" || next === "B") {
      this.#at += 2;
      return { kind: "assert", assertion: next === "b" ? "boundary" : "no-boundary" };
    }
    return this.#set(this.#escapeText(false));
  }

  /** The escape as it may stand in an expression with flag u. */
  #escapeText(inClass: boolean): string {
    const rest = this.#rest();
    const known = shorthandSet.exec(rest) ?? hexEscape.exec(rest);
    if (known !== null) {
      this.#at += known[0].length;
      return known[0];
    }
    const next = rest[1] ?? "";
    if (punctuation.test(next)) {
      this.#at += 2;
      return literalText(next);
    }
    if (inClass && next === "b") {
      this.#at += 2;
      return "\\b";
    }
    if (/^[1-9k]$/u.test(next))
      throw this.#error("backreferences can't be matched in linear time; spell the choices out");
    throw this.#error(
      next === "" ? "the pattern ends in a backslash; write \\\\" : `\\${next} is not an escape of ECMA-262`,
    );
  }

  #set(text: string): PatternNode {
    try {
      return { kind: "set", set: characterSet(text, this.#ignoreCase) };
    } catch (cause) {
      throw this.#error(`${text} is not a valid set of characters`, cause);
    }
  }

  #peek(): string | undefined {
    return this.#source[this.#at];
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #rest(): string {
    return this.#source.slice(this.#at, this.#at + 256);
  }

  #error(reason: string, cause?: unknown): PatternError {
    return new PatternError(`at character ${this.#at + 1}: ${reason}`, { cause });
  }
}

function repetition(found: RegExpExecArray): readonly [number, number] {
  const symbol = found[0][0];
  if (symbol === "*") return [0, Number.POSITIVE_INFINITY];
  if (symbol === "+") return [1, Number.POSITIVE_INFINITY];
  if (symbol === "?") return [0, 1];
  const min = Number(found[1]);
  if (found[2] === undefined) return [min, min];
  return [min, found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3])];
}

/**
 * `text` is one class, escape or dot of ECMA-262 with flag u: the platform's own expressions answer
 * it, on one character at a time, where they can't backtrack. @throws SyntaxError
 */
function characterSet(text: string, ignoreCase: boolean): CharacterSet {
  const expression = new RegExp(`^${text}$`, ignoreCase ? "iu" : "u");
  return {
    key: `${ignoreCase ? "i" : ""}${text}`,
    has: (codePoint) => expression.test(String.fromCodePoint(codePoint)),
  };
}

function literalText(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
