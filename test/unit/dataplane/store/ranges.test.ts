// Ranges of encoded values against the order they are made of.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareEncoded, encodeSortValue } from "../../../../dataplane/store/order.ts";
import {
  above,
  beginningWith,
  below,
  common,
  equalTo,
  holds,
  outside,
  united,
  type ValueRange,
} from "../../../../dataplane/store/ranges.ts";
import { scalars } from "../../../support/json/random-json.ts";

const encodings = scalars.map(encodeSortValue);
const ranges: fc.Arbitrary<readonly ValueRange[]> = fc
  .array(
    fc.oneof(
      encodings.map(equalTo),
      encodings.map((one) => above(one, true)),
      encodings.map((one) => below(one, false)),
    ),
    { maxLength: 4 },
  )
  .map(united);

describe("ranges", () => {
  it("united hold what any of them holds, ascending and apart", () => {
    fc.assert(
      fc.property(fc.array(encodings.map(equalTo), { maxLength: 5 }), encodings, (parts, encoded) => {
        const all = united(parts);
        expect(holds(all, encoded)).toBe(parts.some((part) => holds([part], encoded)));
        for (const [at, { from, to }] of all.entries()) {
          expect(compareEncoded(from, to)).toBeLessThan(0);
          expect(compareEncoded(all[at - 1]?.to ?? "", from)).toBeLessThan(0);
        }
      }),
    );
  });

  it("in common hold what both hold, and outside what neither does", () => {
    fc.assert(
      fc.property(ranges, ranges, encodings, (one, other, encoded) => {
        expect(holds(common(one, other), encoded)).toBe(holds(one, encoded) && holds(other, encoded));
        expect(holds(outside(one), encoded)).toBe(!holds(one, encoded));
      }),
    );
  });

  it("hold an index's entry exactly when they hold its value", () => {
    fc.assert(
      fc.property(ranges, encodings, (all, encoded) => {
        expect(holds(all, `${encoded}\u00000199b1c0-0000-7000-8000-000000000000`)).toBe(holds(all, encoded));
        expect(holds(all, `${encoded}\u0000${encodeSortValue('"second"')}`)).toBe(holds(all, encoded));
      }),
    );
  });

  it("of a beginning hold the strings that begin so, whatever their code points", () => {
    const texts = fc.string({
      unit: fc.constantFrom("a", "b", "\u0000", "\u0001", "\u0002", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}"),
    });
    fc.assert(
      fc.property(texts, texts, (beginning, text) => {
        const range = beginningWith(encodeSortValue(JSON.stringify(beginning)));
        expect(holds([range], encodeSortValue(JSON.stringify(text)))).toBe(text.startsWith(beginning));
      }),
    );
  });

  it.each([
    ["null", "0", "1"],
    ["true", "1", "3"],
    ["false", "1", "3"],
    ["1", "3", "4"],
    ['"a"', "4", "5"],
  ])("above and below %s stay within its type", (text, from, to) => {
    const encoded = encodeSortValue(text);
    expect([below(encoded, true).from, above(encoded, true).to]).toEqual([from, to]);
  });
});
