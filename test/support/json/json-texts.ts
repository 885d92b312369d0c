// Makes JSON texts for property tests with fast-check: every kind of number, string and name that
// has gone wrong somewhere, written canonically or with white space and needless escapes.

import fc from "fast-check";

/**
 * A value as it is written: numbers as their own text, members as a list, so that nothing is lost
 * on the way.
 */
export type Written =
  | { readonly literal: string }
  | { readonly string: string }
  | { readonly elements: readonly Written[] }
  | { readonly members: readonly (readonly [string, Written])[] };

const integers = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc
    .constantFrom(2n ** 53n, 2n ** 63n, 2n ** 64n - 6n, -(2n ** 53n), -(2n ** 63n) + 5n)
    .chain((base) => fc.bigInt({ min: -5n, max: 5n }).map((step) => base + step)),
  fc.bigInt({ min: -20n, max: 2000n }),
);

/** Small integers, and those around the bounds of doubles and of 64 bits. */
export const integerTexts = integers.map(String);

export const awkwardDoubles = [
  ...[
    "1.0",
    "-0.0",
    "0.0",
    "1e2",
    "1E+2",
    "1e21",
    "1e-7",
    "0.000001",
    "1e16",
    "9999999999999998.0",
    "123456789012345680.0",
  ],
  ...[
    "5e-324",
    "4.9e-324",
    "1.7976931348623157e308",
    "2.2250738585072014e-308",
    "1e-400",
    "1.50",
    "0.30000000000000004",
  ],
  ...["1.9000000000000001", "9007199254740993.0", "18446744073709551616.0", "1e22", "1e23", "123e-20", "0e99", "-1e-5"],
] as const;

export const doubleTexts = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => withMark(String(value))),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 999 })).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc.constantFrom(...awkwardDoubles),
);

function withMark(text: string): string {
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const characters = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...'"\\/\b\f\n\r\t\u0000\u0001\u001f\u007f\u0080\u2028\u2029\ufeff\ue000\uffff😀𐀀é'),
  },
);

/** Well-formed strings of any characters. */
export const strings = fc.array(characters, { maxLength: 12 }).map((parts) => parts.join(""));

export const names = fc.oneof(
  fc.constantFrom("", "a", "b", "__proto__", "constructor", "0", "10", "-", "a.b", "a/b", 'a"b', "a\\b", "a'b", "~0"),
  strings,
);

const literals = fc.oneof(integerTexts, doubleTexts, fc.constantFrom("true", "false", "null", "-0"));

/** Values of a few levels, without two members of one name. */
export const written: fc.Arbitrary<Written> = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    literals.map((literal) => ({ literal })),
    strings.map((string) => ({ string })),
    fc.array(tie("value"), { maxLength: 5 }).map((elements) => ({ elements })),
    fc
      .uniqueArray(fc.tuple(names, tie("value")), { selector: ([name]) => name, maxLength: 5 })
      .map((members) => ({ members })),
  ),
})).value;

/** How a text is written: white space and escapes, chosen by turns from a list. */
export const manners = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });

/**
 * The text of a value in one manner; `[0]` is the plainest: no white space and no needless escape.
 */
export function render(value: Written, manner: readonly number[]): string {
  let turn = 0;
  const choice = (count: number) => (manner[turn++ % manner.length] ?? 0) % count;
  const space = () => ["", "", " ", "\n", "\r\n\t "][choice(5)] ?? "";
  const list = (parts: readonly string[], [open, close]: readonly [string, string]) =>
    `${open}${space()}${parts.join(`${space()},${space()}`)}${space()}${close}`;
  const write = (part: Written): string => {
    if ("literal" in part) return part.literal;
    if ("string" in part) return quoted(part.string, choice);
    if ("elements" in part) return list(part.elements.map(write), ["[", "]"]);
    const members = part.members.map(([name, inner]) => `${quoted(name, choice)}${space()}:${space()}${write(inner)}`);
    return list(members, ["{", "}"]);
  };
  return `${space()}${write(value)}${space()}`;
}

function quoted(text: string, choice: (count: number) => number): string {
  const units = [...text].map((character) => {
    const plain = JSON.stringify(character).slice(1, -1);
    if (choice(4) !== 3) return plain;
    if (character === "/") return "\\/";
    const escapes = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16));
    return escapes
      .map((hex) => `\\u${choice(2) === 0 ? hex.padStart(4, "0") : hex.toUpperCase().padStart(4, "0")}`)
      .join("");
  });
  return `"${units.join("")}"`;
}
