import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Meter, WorkExhausted } from "../../../../../core/schema/meter.ts";
import { compilePattern } from "../../../../../core/schema/pattern/matcher.ts";
import { PatternError } from "../../../../../core/schema/pattern/parse-pattern.ts";
import { countForTier } from "../../../../support/time/test-tier.ts";

function plentiful(units = 1e9): Meter {
  const meter = new Meter();
  meter.left = units;
  return meter;
}

const matches = (pattern: string, text: string): boolean => compilePattern(pattern).test(text, plentiful());

describe("a pattern", () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ["", ["", "a"], []],
    ["a", ["a", "bab"], ["", "b"]],
    ["^a", ["ab"], ["ba"]],
    ["a$", ["ba"], ["ab", "a\n"]],
    ["^$", [""], ["a", "\n"]],
    ["^a|b$", ["ax", "xb"], ["xa", "bx"]],
    ["^(?:a|b)$", ["a", "b"], ["ab"]],
    ["a||b", ["", "x"], []],
    ["^a*$", ["", "aaa"], ["b"]],
    ["^a+?$", ["a", "aa"], [""]],
    ["^a?b$", ["b", "ab"], ["aab"]],
    ["^a{2}$", ["aa"], ["a", "aaa"]],
    ["^a{2,}$", ["aa", "aaaa"], ["a"]],
    ["^a{1,3}$", ["a", "aaa"], ["", "aaaa"]],
    ["^a{0}$", [""], ["a"]],
    ["^(a*)*$", ["", "aaa"], ["b"]],
    ["^(?:^)*(?:\\b)?a$", ["a"], ["b"]],
    ["^(|a)+$", ["", "a", "aa"], ["b"]],
    ["^(ab|a)(bc|c)$", ["abc", "ac", "abbc"], ["ab", "aac"]],
    ["^.$", ["a", "é", "😀", "-"], ["\n", "\r", "\u2028", "ab"]],
    ["^[a-c]$", ["a", "c"], ["d", "-"]],
    ["^[^a-c]$", ["d", "\n", "😀"], ["a", ""]],
    ["^[a-]$", ["a", "-"], ["b"]],
    ["^[]$", [], ["", "a"]],
    ["^[^]$", ["a", "\n"], [""]],
    ["^[\\]\\\\]$", ["]", "\\"], ["["]],
    ["^[\\d_]$", ["5", "_"], ["a"]],
    ["^\\d$", ["7"], ["٣", "a"]],
    ["^\\w$", ["a", "Z", "0", "_"], ["é", "-"]],
    ["^\\s$", [" ", "\t", "\v", "\u00a0", "\ufeff", "\u2003"], ["a"]],
    ["^\\S+$", ["aé"], ["a b"]],
    ["\\bcat\\b", ["cat", "a cat."], ["cats", "concat"]],
    ["\\Bcat", ["concat"], ["cat"]],
    ["^\\p{L}+$", ["añé日"], ["a1"]],
    ["^\\p{Script=Greek}+$", ["αβγ"], ["abc"]],
    ["^\\P{Lu}$", ["a"], ["A"]],
    ["^\\u00e9\\u{1F600}\\uD83D\\uDE00$", ["é😀😀"], ["é😀"]],
    ["^\\x41\\cJ\\t\\n\\v\\f\\r\\0$", ["A\n\t\n\v\f\r\0"], []],
    ["^\\^\\$\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/\\\\$", ["^$.*+?()[]{}|/\\"], []],
    ["^\\-\\_\\@\\#$", ["-_@#"], []],
    ["^(?<year>\\d{4})-(\\d\\d)$", ["2024-05"], ["24-05"]],
    ["^(?i:ab)c$", ["abc", "ABc"], ["ABC"]],
    ["^(?i:[a-z\u212a])$", ["K", "k", "\u212a"], ["1"]],
    ["^(?:(?:(?:a)))$", ["a"], ["b"]],
    ["日+", ["x日日"], ["本"]],
    ["^[😀-😎]$", ["😃"], ["😟"]],
  ])("%j", (pattern, good, bad) => {
    for (const text of good) expect.soft(matches(pattern, text), `matches ${JSON.stringify(text)}`).toBe(true);
    for (const text of bad) expect.soft(matches(pattern, text), `does not match ${JSON.stringify(text)}`).toBe(false);
  });

  it("gives the same answer however often it is asked", () => {
    const matcher = compilePattern("^(a|b)*c$");
    for (let round = 0; round < 3; round++) {
      expect(matcher.test("abac", plentiful())).toBe(true);
      expect(matcher.test("aba", plentiful())).toBe(false);
    }
  });

  it("keeps its answers when its memory of states is full", () => {
    const matcher = compilePattern("^[ab]*a[ab]{12}c$");
    const text = Array.from({ length: 30_000 }, (_, index) => ((index * 2654435761) % 7 < 3 ? "a" : "b")).join("");
    expect(matcher.test(`${text}a${"b".repeat(12)}c`, plentiful())).toBe(true);
    expect(matcher.test(`${text}b${"b".repeat(12)}c`, plentiful())).toBe(false);
    expect(matcher.test(`a${"b".repeat(12)}c`, plentiful())).toBe(true);
  });

  it("tells many characters apart", () => {
    const matcher = compilePattern("^[\\u4e00-\\u9fff]+!$");
    const text = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join("");
    expect(matcher.test(`${text}!`, plentiful())).toBe(true);
    expect(matcher.test(`${text}a!`, plentiful())).toBe(false);
  });
});

describe("a pattern is refused", () => {
  it.each<readonly [string, RegExp]>([
    ["(?=a)b", /at character 1: lookahead/],
    ["a(?!b)", /at character 2: lookahead.*not/],
    ["(?<=a)b", /lookbehind/],
    ["(?<!a)b", /lookbehind/],
    ["(a)\\1", /at character 4: backreferences/],
    ["(?<x>a)\\k<x>", /backreferences/],
    ["(", /not closed.*\\\(/],
    ["a)", /closes no group/],
    ["(?P<x>a)", /only the groups/],
    ["(?>a)", /only the groups/],
    ["(?i)a", /only the groups/],
    ["[a", /not closed/],
    ["[b-a]", /not a valid set/],
    ["[\\d-z]", /not a valid set/],
    ["*a", /repeats nothing/],
    ["a**", /can't be repeated/],
    ["^*", /assertion/],
    ["\\b+", /assertion/],
    ["a{2,1}", /out of order/],
    ["a{1001}", /1000 at most.*maxLength/],
    ["a{", /\\\{/],
    ["}", /\\\}/],
    ["]", /\\\]/],
    ["a\\", /ends in a backslash/],
    ["\\a", /not an escape/],
    ["\\ ", /not an escape/],
    ["\\A", /not an escape/],
    ["\\Z", /not an escape/],
    ["\\Qa\\E", /not an escape/],
    ["\\u12", /not an escape/],
    ["\\u{110000}", /not a valid set/],
    ["\\p{Nonsense}", /not a valid set/],
    ["\\pL", /not an escape/],
    ["\\01", /not an escape/],
    ["((a{100}){100}){100}", /5000 steps/],
    ["(?:a{1000}){1,1000}", /5000 steps/],
    ["(".repeat(60) + ")".repeat(60), /50 deep/],
    ["a".repeat(4097), /4096 characters/],
  ])("%j", (pattern, says) => {
    expect(() => compilePattern(pattern)).toThrow(PatternError);
    expect(() => compilePattern(pattern)).toThrow(says);
  });
});

/** Expressions of the supported syntax over a small alphabet, so that texts often match. */
const atom = fc.constantFrom(
  "a",
  "b",
  "é",
  "😀",
  ".",
  "[ab]",
  "[^a]",
  "\\w",
  "\\W",
  "\\d",
  "^",
  "$",
  "\\b",
  "\\B",
  "\\p{L}",
  "-",
);
const { expression } = fc.letrec<{ expression: string; term: string; group: string }>((tie) => ({
  expression: fc
    .array(fc.array(tie("term"), { maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((options) => options.map((terms) => terms.join("")).join("|")),
  term: fc.oneof(
    { weight: 4, arbitrary: atom },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie("group"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"))
        .map(([group, quantifier]) => group + quantifier),
    },
  ),
  group: fc.oneof(
    { depthSize: "xsmall" },
    fc.constant("(?:a)"),
    tie("expression").map((inner) => `(?:${inner})`),
  ),
}));
const text = fc
  .array(fc.constantFrom("a", "b", "c", "é", "😀", "1", " ", "-", "\n"), { maxLength: 7 })
  .map((parts) => parts.join(""));

describe("the matcher against the platform's own", () => {
  it("answers alike for expressions of every kind", () => {
    fc.assert(
      fc.property(expression, fc.array(text, { minLength: 1, maxLength: 8 }), (pattern, texts) => {
        // The platform's matcher needs exponential time for many nested repetitions.
        fc.pre((pattern.match(/[*+]|\{1,\}/gu) ?? []).length <= 4);
        const matcher = compilePattern(pattern);
        const own = new RegExp(pattern, "u");
        // V8 looks for \\B inside surrogate pairs, too, which ECMA-262 with flag u does not.
        const compared = pattern.includes("\\B") ? texts.filter((candidate) => !candidate.includes("😀")) : texts;
        for (const candidate of compared) {
          expect(matcher.test(candidate, plentiful()), `${pattern} on ${JSON.stringify(candidate)}`).toBe(
            own.test(candidate),
          );
        }
      }),
      { numRuns: countForTier(400) },
    );
  });

  it("accepts no expression that the platform refuses", () => {
    const piece = fc.constantFrom(
      ..."ab()[]{}?*+^$|.\\-,1:=!<>dDwWbBkpPuxi0",
      "(?:",
      "(?=",
      "(?<",
      "\\p{L}",
      "{1,2}",
      "\\u{61}",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const pattern = pieces.join("");
        try {
          compilePattern(pattern);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
          return;
        }
        expect(() => new RegExp(asWithFlagU(pattern), "u"), pattern).not.toThrow();
      }),
      { numRuns: countForTier(2000) },
    );
  });
});

/**
 * Escaped punctuation is the one thing allowed beyond flag u: it is written by its code, which
 * means the same in a class and outside.
 */
function asWithFlagU(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gsu, (whole, character: string) =>
    "-,:=!<>".includes(character) ? `\\x${character.charCodeAt(0).toString(16)}` : whole,
  );
}

describe("the work of a match", () => {
  const cost = (pattern: string, candidate: string): number => {
    const meter = plentiful();
    compilePattern(pattern).test(candidate, meter);
    return 1e9 - meter.left;
  };

  it("grows with the length of the text, for patterns that make others fail", () => {
    for (const pattern of ["^(a+)+$", "(x+x+)+y", "^(a|aa)+$", "^(a?){30}a{30}$", "(.*)(.*)(.*)(.*)z"]) {
      const short = cost(pattern, `${"a".repeat(1_000)}!`);
      const long = cost(pattern, `${"a".repeat(10_000)}!`);
      expect(long, pattern).toBeLessThan(12 * short);
      expect(long, pattern).toBeLessThan(100_000);
    }
  });

  it("ends when the budget is spent", () => {
    const candidate = Array.from({ length: 100_000 }, (_, index) => ((index * 7919) % 13 < 6 ? "a" : "b")).join("");
    const matcher = compilePattern("[ab]*a[ab]{900}c$");
    expect(() => matcher.test(candidate, plentiful(1e6))).toThrow(WorkExhausted);
    expect(() => matcher.test("a".repeat(1_000), plentiful(100))).toThrow(WorkExhausted);
  });
});
