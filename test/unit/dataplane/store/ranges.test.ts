// Ranges of encoded values against the order they are made of.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareEncoded, encodeSortValue } from "../../../../dataplane/store/order.ts";
import {
  complement,
  contains,
  equalTo,
  greaterThan,
  intersection,
  lessThan,
  startingWith,
  union,
  type ValueRange,
} from "../../../../dataplane/store/ranges.ts";
import { scalars } from "../../../support/json/random-json.ts";

const encodings = scalars.map(encodeSortValue);
const ranges: fc.Arbitrary<readonly ValueRange[]> = fc
  .array(
    fc.oneof(
      encodings.map(equalTo),
      encodings.map((one) => greaterThan(one, true)),
      encodings.map((one) => lessThan(one, false)),
    ),
    { maxLength: 4 },
  )
  .map(union);

describe("ranges", () => {
  it("a union contains what any of its ranges contains, in ascending and disjoint ranges", () => {
    fc.assert(
      fc.property(fc.array(encodings.map(equalTo), { maxLength: 5 }), encodings, (parts, encoded) => {
        const all = union(parts);
        expect(contains(all, encoded)).toBe(parts.some((part) => contains([part], encoded)));
        for (const [at, { from, to }] of all.entries()) {
          expect(compareEncoded(from, to)).toBeLessThan(0);
          expect(compareEncoded(all[at - 1]?.to ?? "", from)).toBeLessThan(0);
        }
      }),
    );
  });

  it("an intersection contains what both contain, and a complement what its ranges don't", () => {
    fc.assert(
      fc.property(ranges, ranges, encodings, (one, other, encoded) => {
        expect(contains(intersection(one, other), encoded)).toBe(contains(one, encoded) && contains(other, encoded));
        expect(contains(complement(one), encoded)).toBe(!contains(one, encoded));
      }),
    );
  });

  it("contain an index's entry exactly when they contain its value", () => {
    fc.assert(
      fc.property(ranges, encodings, (all, encoded) => {
        expect(contains(all, `${encoded}\u00000199b1c0-0000-7000-8000-000000000000`)).toBe(contains(all, encoded));
        expect(contains(all, `${encoded}\u0000${encodeSortValue('"second"')}`)).toBe(contains(all, encoded));
      }),
    );
  });

  it("of a prefix contain the strings that start with it, whatever their code points", () => {
    const texts = fc.string({
      unit: fc.constantFrom("a", "b", "\u0000", "\u0001", "\u0002", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"),
    });
    fc.assert(
      fc.property(texts, texts, (beginning, text) => {
        const range = startingWith(encodeSortValue(JSON.stringify(beginning)));
        expect(contains([range], encodeSortValue(JSON.stringify(text)))).toBe(text.startsWith(beginning));
      }),
    );
  });

  it.each([
    ["null", "0", "1"],
    ["true", "1", "3"],
    ["false", "1", "3"],
    ["1", "3", "4"],
    ['"a"', "4", "5"],
  ])("greater and less than %s stay within its type", (text, from, to) => {
    const encoded = encodeSortValue(text);
    expect([lessThan(encoded, true).from, greaterThan(encoded, true).to]).toEqual([from, to]);
  });
});
