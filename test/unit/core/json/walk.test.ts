import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf } from "../../../../core/json/members.ts";
import { depthOf, endOfString, endOfValue } from "../../../../core/json/walk.ts";

/** Many quotes and backslashes, short and long. */
const texts = fc
  .array(fc.constantFrom('"', "\\", "a", "bc", "ü", "😀", "\n", "x".repeat(30)), { maxLength: 40 })
  .map((pieces) => pieces.join(""));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "json" },
    texts,
    fc.constantFrom(0, -1.5, true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(texts, tie("value"), { maxKeys: 3 }),
  ),
}));

describe("a walk over canonical text", () => {
  it("finds the end of a string of any length, whatever is escaped in it", () => {
    fc.assert(
      fc.property(texts, texts, (text, after) => {
        const written = JSON.stringify(text);
        expect(endOfString(`["",${written},${JSON.stringify(after)}]`, 4)).toBe(4 + written.length);
      }),
    );
  });

  it("finds the end of a value and each element of an array", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (values) => {
        const written = JSON.stringify(values);
        expect(endOfValue(`${written},1`, 0)).toBe(written.length);
        expect(elementsOf(written)).toEqual(values.map((each) => JSON.stringify(each)));
      }),
    );
  });

  it("counts levels outside strings only", () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(depthOf(JSON.stringify(given))).toBe(levels(given));
      }),
    );
  });
});

function levels(given: unknown): number {
  if (typeof given !== "object" || given === null) return 0;
  return 1 + Math.max(0, ...Object.values(given).map(levels));
}
