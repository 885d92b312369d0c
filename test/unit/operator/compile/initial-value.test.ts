import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { initialValueText } from "../../../../operator/compile/initial-value.ts";

const mebibyte = 1 << 20;

function textOf(value: Parameters<typeof initialValueText>[0]): string {
  const result = initialValueText(value, mebibyte);
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
}

describe("initialValueText", () => {
  it("starts from an empty object when nothing is said, and from null when null is said", () => {
    expect(textOf(undefined)).toBe("{}");
    expect(textOf(null)).toBe("null");
  });

  it("sorts members by bytes of UTF-8, digits among them", () => {
    expect(textOf({ b: 1, "\u{1f600}": 2, "\uff61": 3, "10": 4, "9": 5, "!": 6 })).toBe(
      '{"!":6,"10":4,"9":5,"b":1,"\uff61":3,"\u{1f600}":2}',
    );
  });

  it("writes whole numbers without a fraction, as Kubernetes does", () => {
    expect(textOf([1.0, -0, 9007199254740991, -9007199254740991, 0.1, 1e-7])).toBe(
      "[1,0,9007199254740991,-9007199254740991,0.1,1e-7]",
    );
  });

  it.each([2 ** 53, -(2 ** 53), 1e300])("refuses the integer %d, which has lost digits", (value) => {
    const result = initialValueText([value], mebibyte);
    expect(result).toMatchObject({
      ok: false,
      refusal: { reason: "InvalidSpec", faults: [{ pointer: "/spec/initialValue/0" }] },
    });
  });

  it("refuses half a surrogate pair in a value and in a name", () => {
    expect(initialValueText(["\ud800"], mebibyte).ok).toBe(false);
    expect(initialValueText({ "\udc00": 1 }, mebibyte).ok).toBe(false);
  });

  it("counts bytes and not characters", () => {
    expect(initialValueText("é".repeat(10), 22).ok).toBe(true);
    expect(initialValueText("é".repeat(10), 21).ok).toBe(false);
  });

  it("makes a text that the data plane would store as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const result = initialValueText(value as never, mebibyte);
        fc.pre(result.ok);
        const text = result.ok ? result.value : "";
        expect(canonicalJson(text, 64)).toMatchObject({ ok: true, json: { text } });
      }),
    );
  });
});
