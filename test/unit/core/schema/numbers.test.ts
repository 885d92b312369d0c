import { describe, expect, it } from "vitest";
import { failuresOf } from "./compiled.ts";

const property = (schema: unknown): unknown => ({ properties: { a: schema } });
const keywords = (schema: unknown, text: string) => failuresOf(property(schema), text).map(({ keyword }) => keyword);

describe("integers beyond what a double holds", () => {
  it.each(["9007199254740993", "-9223372036854775808", "18446744073709551615"])("%s is an integer", (number) => {
    expect(keywords({ type: "integer" }, `{"a":${number}}`)).toEqual([]);
    expect(keywords({ type: "number" }, `{"a":${number}}`)).toEqual([]);
  });

  it("bounds compare right", () => {
    expect(keywords({ maximum: 9007199254740991 }, '{"a":9007199254740993}')).toEqual(["maximum"]);
    expect(keywords({ minimum: 9007199254740991 }, '{"a":9007199254740992}')).toEqual([]);
    expect(keywords({ exclusiveMinimum: 0 }, '{"a":18446744073709551615}')).toEqual([]);
  });

  it("a bound of 64 bits refuses what is clearly beyond it", () => {
    const int64 = { minimum: -(2 ** 63), maximum: 2 ** 63 };
    expect(keywords(int64, '{"a":9223372036854775807}')).toEqual([]);
    expect(keywords(int64, '{"a":-9223372036854775808}')).toEqual([]);
    expect(keywords(int64, '{"a":9223372036854778000}')).toEqual(["maximum"]);
    expect(keywords(int64, '{"a":-9223372036854778000}')).toEqual(["minimum"]);
  });

  it("neighbours are unique items", () => {
    const schema = { uniqueItems: true, maxItems: 9 };
    expect(keywords(schema, '{"a":[9007199254740992,9007199254740993]}')).toEqual([]);
    expect(keywords(schema, '{"a":[{"b":[9007199254740993]},{"b":[9007199254740992]}]}')).toEqual([]);
    expect(keywords(schema, '{"a":[9007199254740993,9007199254740993]}')).toEqual(["uniqueItems"]);
    expect(keywords(schema, '{"a":[9007199254740993],"b":[9007199254740993]}')).toEqual([]);
  });

  it("multiples count every digit", () => {
    expect(keywords({ multipleOf: 3 }, '{"a":9007199254740993}')).toEqual([]);
    expect(keywords({ multipleOf: 2 }, '{"a":9007199254740993}')).toEqual(["multipleOf"]);
    expect(keywords({ multipleOf: 5 }, '{"a":18446744073709551615}')).toEqual([]);
  });

  it("no value of a schema equals them", () => {
    expect(keywords({ enum: [9007199254740991] }, '{"a":9007199254740993}')).toEqual(["enum"]);
  });
});

describe("numbers that are written differently", () => {
  it.each(["1", "1.0", "10e-1", "0.1e1"])("%s is the integer 1", (number) => {
    expect(keywords({ type: "integer", const: 1 }, `{"a":${number}}`)).toEqual([]);
  });

  it("-0.0 equals 0", () => {
    expect(keywords({ const: 0 }, '{"a":-0.0}')).toEqual([]);
    expect(keywords({ uniqueItems: true, maxItems: 2 }, '{"a":[0,-0.0]}')).toEqual(["uniqueItems"]);
  });

  it("multiples count in decimals at every magnitude", () => {
    expect(keywords({ multipleOf: 0.01 }, '{"a":1234567.89}')).toEqual([]);
    expect(keywords({ multipleOf: 1e-7 }, '{"a":0.0000003}')).toEqual([]);
    expect(keywords({ multipleOf: 1e-300 }, '{"a":1e300}')).toEqual([]);
    expect(keywords({ multipleOf: 0.3 }, '{"a":0.1}')).toEqual(["multipleOf"]);
  });
});
