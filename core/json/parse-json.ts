// Turns JSON text of others into values, as JSON.parse does, but with the right names. JSON.parse
// of V8 13.6 (Node 24) guesses a name from an earlier object of the same shape, and compares the
// guess with the source before its escapes are read: after `{"c":1,"\\":1}`, the name newline in
// `{"c":1,"\n":2}` comes out as a backslash. Only names with an escape can be wrong, and then
// always as one that contains a backslash. So a text without such names goes to JSON.parse, and
// others are built from the text. Strings, numbers, and our own texts with fixed names need none of
// this. Throws JSON.parse's SyntaxError.

import { endOfString, endOfValue } from "./walk.ts";

/** Called for each number: where it is put, and how it is written. */
export type NoteNumber = (container: unknown, key: string, value: number, source: string) => void;

export function parseJson(text: string): unknown {
  return text.includes("\\") && hasEscapedName(text) ? built(text) : JSON.parse(text);
}

/** JSON.parse's reviver with the source text of numbers, which its declared type does not have. */
type Reviver = (this: unknown, key: string, member: unknown, context: { readonly source?: string }) => unknown;

/** The same, calling back for every number. */
export function parseJsonNumbers(text: string, note: NoteNumber): unknown {
  if (hasEscapedName(text)) return built(text, note);
  const reviver: Reviver = function (key, member, { source = "" }) {
    if (typeof member === "number") note(this, key, member, source);
    return member;
  };
  return JSON.parse(text, reviver as (this: unknown, key: string, member: unknown) => unknown);
}

const colon = /[ \t\r\n]*:/y;

/** Reads only strings with a backslash, which occurs nowhere else. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", at)) {
    at = endOfString(text, at - 1);
    colon.lastIndex = at;
    if (colon.test(text)) return true;
  }
  return false;
}

interface Open {
  readonly value: Record<string, unknown> | unknown[];
  /** Of the member whose value comes next. */
  name?: string | undefined;
}

function built(text: string, note?: NoteNumber): unknown {
  // Refuses what is not JSON, so that nothing of it needs a check below.
  JSON.parse(text);
  const builder = new Builder(note);
  for (let at = 0; at < text.length; ) at = builder.take(text, at);
  return builder.value;
}

/** A list of open containers instead of recursion takes any depth, as JSON.parse does. */
class Builder {
  readonly #note: NoteNumber | undefined;
  readonly #root: unknown[] = [];
  readonly #open: Open[] = [];
  #inner: Open = { value: this.#root };

  constructor(note: NoteNumber | undefined) {
    this.#note = note;
  }

  get value(): unknown {
    return this.#root[0];
  }

  /** Takes what stands at `at`, and returns the position behind it. */
  take(text: string, at: number): number {
    switch (text.charAt(at)) {
      case "{":
        this.#enter({});
        return at + 1;
      case "[":
        this.#enter([]);
        return at + 1;
      case "}":
      case "]":
        this.#inner = this.#open.pop() ?? this.#inner;
        return at + 1;
      case ",":
      case ":":
      case " ":
      case "\t":
      case "\r":
      case "\n":
        return at + 1;
      default: {
        const end = endOfValue(text, at);
        this.#scalar(text.slice(at, end));
        return end;
      }
    }
  }

  #enter(value: Open["value"]): void {
    this.#put(value);
    this.#open.push(this.#inner);
    this.#inner = { value };
  }

  #scalar(source: string): void {
    const { value: container, name } = this.#inner;
    const value = JSON.parse(source) as string | number | boolean | null;
    if (typeof value === "string" && name === undefined && !Array.isArray(container)) {
      this.#inner.name = value;
      return;
    }
    const key = this.#put(value);
    if (typeof value === "number") this.#note?.(container, key, value, source.trimEnd());
  }

  /** Puts a value where the next one belongs, and returns that place. */
  #put(value: unknown): string {
    const { value: container, name = "" } = this.#inner;
    if (Array.isArray(container)) return String(container.push(value) - 1);
    this.#inner.name = undefined;
    // An assignment would set the prototype instead.
    if (name === "__proto__") {
      Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
    } else container[name] = value;
    return name;
  }
}
