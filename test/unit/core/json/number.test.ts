import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { doubleText, shortestText, stepped } from "../../../../core/json/number.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const doubles = fc.double({ noNaN: true, noDefaultInfinity: true });

describe("the text of a double", () => {
  it("is written out from 0.00001 to below 1e16, and has an exponent beyond", () => {
    const texts = [
      0, -0, 1, -1, 0.1, 100, 1e15, 9999999999999998, 1e16, 1e21, 1.5e300, 0.00001, 0.0000015, 1e-6, 5e-324,
    ];
    expect(texts.map(shortestText)).toEqual([
      ...["0.0", "-0.0", "1.0", "-1.0", "0.1", "100.0", "1000000000000000.0", "9999999999999998.0", "1e16", "1e21"],
      ...["1.5e300", "0.00001", "1.5e-6", "1e-6", "5e-324"],
    ]);
  });

  it("reads as that double again", () => {
    fc.assert(
      fc.property(doubles, (value) => {
        expect(Number(shortestText(value))).toBe(value);
      }),
    );
  });

  it("is left alone up to 15 digits, the most that people and prices use", () => {
    const decimals = fc.tuple(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }), fc.nat({ max: 20 }));
    fc.assert(
      fc.property(decimals, ([digits, places]) => {
        const value = Number(`${digits}e-${places}`);
        expect(Number(doubleText(value))).toBe(value);
      }),
    );
  });

  it("moves by one unit in the last place at most between 1e-5 and 1e15, and stays there", () => {
    const usual = fc.oneof(
      doubles,
      fc.double({ min: 1e-5, max: 1e15, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(usual, (value) => {
        const text = doubleText(value);
        expect(doubleText(Number(text))).toBe(text);
        if (Math.abs(value) >= 1e-5 && Math.abs(value) < 1e15) {
          expect([stepped(value, -1), value, stepped(value, 1)]).toContain(Number(text));
        }
      }),
      { numRuns: countForTier(3_000) },
    );
  });

  it("is what Redis JSON makes of doubles that it can't keep", () => {
    // Seen with RedisJSON 2.8.3.
    expect([1.9000000000000001, 0.9064677126018299, 8401543178112468].map(doubleText)).toEqual([
      "1.9",
      "0.90646771260183",
      "8401543178112467.0",
    ]);
    expect([0.1 + 0.2, 1.1 * 3, 1 / 3, Math.PI].map(doubleText)).toEqual([
      "0.30000000000000004",
      "3.3000000000000003",
      "0.3333333333333333",
      "3.141592653589793",
    ]);
  });

  it("never leaves the finite numbers", () => {
    for (let steps = 0; steps < 500; steps++) {
      expect(Number.isFinite(Number(doubleText(stepped(Number.MAX_VALUE, -steps))))).toBe(true);
      expect(Number.isFinite(Number(doubleText(stepped(-Number.MAX_VALUE, steps))))).toBe(true);
    }
  });
});

describe("a step between doubles", () => {
  it("goes to the next one, through zero and across powers of two", () => {
    expect(stepped(0, 1)).toBe(5e-324);
    expect(stepped(0, -1)).toBe(-5e-324);
    expect(stepped(-5e-324, 2)).toBe(5e-324);
    expect(stepped(1, -1)).toBe(1 - Number.EPSILON / 2);
    expect(stepped(1, 1)).toBe(1 + Number.EPSILON);
    expect(stepped(-1, 1)).toBe(-1 + Number.EPSILON / 2);
    expect(stepped(Number.MAX_VALUE, 1)).toBe(Number.POSITIVE_INFINITY);
  });

  it("is undone by a step back", () => {
    const steps = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(fc.double({ min: -1e300, max: 1e300, noNaN: true }), steps, (value, count) => {
        expect(stepped(stepped(value, count), -count) + 0).toBe(value + 0);
      }),
    );
  });
});
