// Arbitrary JSON values as canonical texts: every kind of number, odd keys, escapes, nesting.

import fc from "fast-check";
import { canonicalJson } from "../../../core/json/canonical.ts";

/** Keys that nest and collide often, with all that stores trip over. */
export const someKeys = [
  "a",
  "b",
  "0",
  "1",
  "01",
  "-",
  "",
  "__proto__",
  "constructor",
  "a.b",
  'q"',
  "q'",
  "b\\",
  "\"'\\",
  "\u0001",
  "é😀",
] as const;

const numbers = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map(String),
  fc.constantFrom(
    "9007199254740993",
    "9007199254740992",
    "9007199254740992.0",
    "1.0",
    "-0.0",
    "0.0",
    "1e2",
    "18446744073709551615",
  ),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => (Number.isInteger(value) ? `${value.toExponential()}` : String(value))),
);

const strings = fc.oneof(
  fc.constantFrom("", "a", "ab", "\u0000", "a\u0000", "\u0001", "\uffee", "😀", "\\", '"', "é".repeat(600)),
  fc.string({ unit: "binary", maxLength: 6 }),
);

const scalarTexts = fc.oneof(
  fc.constantFrom("null", "true", "false"),
  numbers,
  strings.map((value) => JSON.stringify(value)),
);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    scalarTexts,
    fc.array(tie("value"), { maxLength: 4 }).map((elements) => `[${elements.join(",")}]`),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...someKeys), tie("value")), { maxLength: 4, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`),
  ),
}));

/** Canonical text of any value. */
export const jsonTexts: fc.Arbitrary<string> = value.map(canonical);
/** Canonical text of a scalar. */
export const scalars: fc.Arbitrary<string> = scalarTexts.map(canonical);

function canonical(source: string): string {
  const result = canonicalJson(source, 64);
  if (!result.ok) throw new Error(`${result.error.detail}: ${source}`);
  return result.json.text;
}
