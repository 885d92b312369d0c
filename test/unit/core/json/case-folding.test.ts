// Simple case folding against the one that regular expressions have.

import { expect, it } from "vitest";
import { folded } from "../../../../core/json/case-folding.ts";

it("folds two letters alike exactly if they are equal by simple case folding", () => {
  const letters = Array.from({ length: 0x11_0000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .map((point) => String.fromCodePoint(point))
    .filter((letter) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter);
  const all = letters.join("");
  const wrong = letters.filter((letter) => {
    const equal = [...all.matchAll(new RegExp(letter, "giu"))].map(([found]) => found);
    return equal.some((other) => folded(other) !== folded(letter)) || !equal.includes(folded(letter));
  });
  expect(letters.length).toBeGreaterThan(2_500);
  expect(wrong).toEqual([]);
});

it.each([
  ["ISBN-a", "isbn-A", true],
  ["Straße", "STRASSE", false],
  ["Σίσυφος", "ΣΊΣΥΦΟΣ", true],
  ["\u212a", "k", true],
  ["\u00e9", "e\u0301", false],
])("folds %s and %s: equal is %s", (one, other, isEqual) => {
  expect(folded(one) === folded(other)).toBe(isEqual);
});
