// Turns the text of one character class or escape into a membership test for single code points. The platform's own
// expressions answer it, on one character at a time, where they can't backtrack.

export interface CharacterSet {
  /** Equal for sets of equal text and case rule. */
  readonly key: string;
  has(codePoint: number): boolean;
}

/** `text` is one class, escape or dot of ECMA-262 with flag u. @throws SyntaxError when it is none */
export function characterSet(text: string, ignoreCase: boolean): CharacterSet {
  const expression = new RegExp(`^${text}$`, ignoreCase ? "iu" : "u");
  return {
    key: `${ignoreCase ? "i" : ""}${text}`,
    has: (codePoint) => expression.test(String.fromCodePoint(codePoint)),
  };
}
