import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { valueAt } from "../../../../core/json/members.ts";
import { compareEncoded, encodedStringBytes, encodeSortValue } from "../../../../dataplane/store/order.ts";
import { doubleTexts, integerTexts, strings } from "../../../support/json/json-texts.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

// ------------------------------------------------------------------------ the order of
// docs/queries.md, exactly and slowly

/** A number as `digits * 2^-1074`, which is exact for every double and every integer. */
function exact(text: string): bigint {
  const unit = 1074n;
  if (!/[.e]/.test(text)) return BigInt(text) << unit;
  const bits = new BigUint64Array(new Float64Array([Number(text)]).buffer)[0] ?? 0n;
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return bits >> 63n === 1n ? -magnitude : magnitude;
}

/** The code points that begin within the first 1,024 bytes of UTF-8. */
function counted(text: string): readonly number[] {
  const points: number[] = [];
  let bytes = 0;
  for (const character of JSON.parse(text) as string) {
    if (bytes >= 1024) break;
    points.push(character.codePointAt(0) ?? 0);
    bytes += Buffer.byteLength(character);
  }
  return points;
}

const rank = (text: string | undefined) =>
  text === undefined ? 0 : ["n", "f", "t", "number", '"', "[", "{"].indexOf(kind(text));
const kind = (text: string) => (/^[-0-9]/.test(text) ? "number" : text.charAt(0));

function reference(left: string | undefined, right: string | undefined): number {
  if (rank(left) !== rank(right)) return Math.sign(rank(left) - rank(right));
  if (left === undefined || right === undefined) return 0;
  if (kind(left) === "number") return sign(exact(left), exact(right));
  return kind(left) === '"' ? comparePoints(counted(left), counted(right)) : 0;
}

function sign(left: bigint, right: bigint): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function comparePoints(left: readonly number[], right: readonly number[]): number {
  for (const [at, point] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (point !== other) return Math.sign(point - other);
  }
  return left.length < right.length ? -1 : 0;
}

// --------------------------------------------------------------------------------------------
// values

function canonical(source: string): string {
  const result = canonicalJson(source, 64);
  if (!result.ok) throw new Error(result.error.detail);
  return result.json.text;
}

const numbers = fc.oneof(
  integerTexts,
  doubleTexts.map(canonical),
  // Integers and doubles that stand close together, where a double can't tell two integers apart.
  fc
    .tuple(fc.constantFrom(53n, 54n, 60n, 62n, 63n, 64n), fc.bigInt({ min: -5000n, max: 5000n }), fc.boolean())
    .map(([power, step, isDouble]) => {
      const value = 2n ** power + step;
      return isDouble || value >= 2n ** 64n ? canonical(`${value}.0`) : String(value);
    }),
  fc
    .tuple(fc.constantFrom(53n, 60n, 63n), fc.bigInt({ min: -5000n, max: 5000n }), fc.boolean())
    .map(([power, step, isDouble]) => {
      const value = -(2n ** power) + step;
      return isDouble || value < -(2n ** 63n) ? canonical(`${value}.0`) : String(value);
    }),
);

const longStrings = fc
  .tuple(fc.constantFrom("a", "é", "€", "😀", "\u0000"), fc.integer({ min: 0, max: 5 }), strings, strings)
  .map(([filler, less, middle, end]) => {
    const count = Math.floor(encodedStringBytes / Buffer.byteLength(filler)) - less;
    return filler.repeat(count) + middle + end;
  });
const texts = fc.oneof(strings, longStrings).map((value) => JSON.stringify(value));
const others = fc.constantFrom(undefined, "null", "true", "false", "[]", "[1]", "{}", '{"a":1}');
const values = fc.oneof({ weight: 4, arbitrary: numbers }, { weight: 4, arbitrary: texts }, others);
const pairs = fc.oneof(fc.tuple(values, values), fc.tuple(numbers, numbers), fc.tuple(texts, texts));

const ids = fc.constantFrom("0191-a", "0191-b", "f");
const entry = (value: string | undefined, id: string) => Buffer.from(`${encodeSortValue(value)}\0${id}`);

describe("the encoding of a value", () => {
  it("sorts bytewise in the order of values", () => {
    fc.assert(
      fc.property(pairs, ([left, right]) => {
        const bytewise = Buffer.compare(Buffer.from(encodeSortValue(left)), Buffer.from(encodeSortValue(right)));
        expect(bytewise).toBe(reference(left, right));
      }),
      { numRuns: countForTier(5_000) },
    );
  });

  it("sorts index entries by value, then by id, under an owner too", () => {
    fc.assert(
      fc.property(pairs, ids, ids, ([left, right], leftId, rightId) => {
        const wanted = reference(left, right) || Buffer.compare(Buffer.from(leftId), Buffer.from(rightId));
        expect(Buffer.compare(entry(left, leftId), entry(right, rightId))).toBe(wanted);
        const owned = (text: Buffer) => Buffer.concat([Buffer.from("user:ann\0"), text]);
        expect(Buffer.compare(owned(entry(left, leftId)), owned(entry(right, rightId)))).toBe(wanted);
      }),
      { numRuns: countForTier(2_000) },
    );
  });

  it("holds no NUL and is well-formed", () => {
    fc.assert(
      fc.property(values, (value) => {
        const encoding = encodeSortValue(value);
        expect(encoding.includes("\0")).toBe(false);
        expect(encoding.isWellFormed()).toBe(true);
      }),
    );
  });

  it("sorts one example of each kind", () => {
    const ascending = [
      ...[
        "null",
        "false",
        "true",
        "-1.7976931348623157e308",
        "-9223372036854775808",
        "-9223372036854775807",
        "-1.5",
        "-1",
      ],
      ...[
        "-5e-324",
        "0",
        "5e-324",
        "0.1",
        "1",
        "1.5",
        "2",
        "10",
        "9007199254740992.0",
        "9007199254740993",
        "9007199254740994",
      ],
      ...[
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551614",
        "18446744073709551615",
        "1.8446744073709552e19",
      ],
      ...[
        '""',
        '"\\u0000"',
        '"\\u0000\\u0000"',
        '"\\u0000\\u0001"',
        '"\\u0000a"',
        '"\\u0001"',
        '"\\u0001\\u0000"',
        '"\\u0002"',
      ],
      ...['" "', '"10"', '"9"', '"A"', '"a"', '"a\\u0000"', '"aa"', '"é"', '"\uffff"', '"😀"', "[]", "{}"],
    ];
    const encoded = ascending.map((text) => Buffer.from(encodeSortValue(text)));
    for (const [at, encoding] of encoded.entries()) {
      const next = encoded[at + 1];
      if (next !== undefined) expect([ascending[at], Buffer.compare(encoding, next)]).toEqual([ascending[at], -1]);
    }
  });

  it("is one for equal values: missing and null, 1 and 1.0, zeros, all arrays, all objects", () => {
    const same = [
      [undefined, "null"],
      ["1", "1.0"],
      ["0", "-0.0", "0.0"],
      ["9007199254740992", "9007199254740992.0"],
      ["100", "100.0"],
      ["[]", "[1]", "[null,2]"],
      ["{}", '{"a":1}'],
    ];
    for (const group of same) expect(new Set(group.map(encodeSortValue)).size).toBe(1);
  });

  it("tells integers apart that are one double", () => {
    const neighbours = ["9007199254740992", "9007199254740993", "18446744073709551614", "18446744073709551615"];
    expect(new Set(neighbours.map(encodeSortValue)).size).toBe(neighbours.length);
  });

  it("counts a string up to the code point that its 1,024th byte belongs to", () => {
    const encoded = (value: string) => encodeSortValue(JSON.stringify(value));
    const full = "x".repeat(1023);
    expect(encoded(`${full}a`)).toBe(encoded(`${full}ab`));
    expect(encoded(`${full}a`)).not.toBe(encoded(`${full}b`));
    expect(encoded(`${full}é`)).not.toBe(encoded(`${full}è`));
    expect(compareEncoded(encoded(`${full}x`), encoded(`${full}é`))).toBeLessThan(0);
    expect(encoded("😀".repeat(256))).toBe(encoded("😀".repeat(1_000)));
    expect(encoded("a".repeat(10_000_000)).length).toBeLessThanOrEqual(1025);
  });

  it("is short for small numbers", () => {
    for (const text of ["0", "1", "42", "-7", "1000", "0.5"])
      expect(encodeSortValue(text).length).toBeLessThanOrEqual(8);
  });
});

describe("comparing values without an index", () => {
  it("gives the order of the encodings' bytes, also beyond U+FFFF", () => {
    fc.assert(
      fc.property(pairs, ([left, right]) => {
        const [a, b] = [encodeSortValue(left), encodeSortValue(right)];
        expect(Math.sign(compareEncoded(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(Math.sign(compareEncoded(encodeSortValue(left), encodeSortValue(right)))).toBe(reference(left, right));
      }),
      { numRuns: countForTier(2_000) },
    );
    expect(compareEncoded("\uffff", "😀")).toBeLessThan(0);
    expect(compareEncoded("😀", "\ue000")).toBeGreaterThan(0);
  });
});

describe("the field of an object", () => {
  it("is reached through names, not through arrays", () => {
    const text = '{"a":{"b":[1,2]},"a.b":3}';
    expect(valueAt(text, ["a", "b"])).toBe("[1,2]");
    expect(valueAt(text, ["a.b"])).toBe("3");
    expect(valueAt(text, ["a", "b", "0"])).toBeUndefined();
    expect(valueAt(text, ["toString"])).toBeUndefined();
  });
});
