// What is kept of an object's text.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { selected, selectionOf } from "../../../../core/json/selection.ts";
import { jsonTexts, someKeys } from "../../../support/json/random-json.ts";

const kept = (text: string, ...paths: readonly (readonly string[])[]) => selected(text, selectionOf(paths));

describe("a selection", () => {
  const text =
    '{"id":"1","n":9007199254740993,"f":1.0,"o":{"b":1,"a":[1.50,{"x":2}],"c":{"d":null}},"":0,"a.b":{"c":"\\u0001"}}';

  it.each<[readonly (readonly string[])[], string]>([
    [[["n"], ["f"]], '{"n":9007199254740993,"f":1.0}'],
    [[["f"], ["n"]], '{"n":9007199254740993,"f":1.0}'],
    [
      [
        ["o", "c"],
        ["o", "b"],
      ],
      '{"o":{"b":1,"c":{"d":null}}}',
    ],
    [[["o", "c", "d"]], '{"o":{"c":{"d":null}}}'],
    [[["o", "missing"]], '{"o":{}}'],
    [[["o", "a", "x"]], '{"o":{}}'],
    [[["n", "x"]], "{}"],
    [[["o"], ["o", "b"]], '{"o":{"b":1,"a":[1.50,{"x":2}],"c":{"d":null}}}'],
    [[["o", "b"], ["o"]], '{"o":{"b":1,"a":[1.50,{"x":2}],"c":{"d":null}}}'],
    [[["a.b"]], '{"a.b":{"c":"\\u0001"}}'],
    [[["a", "b"]], "{}"],
    [[[""]], '{"":0}'],
    [[], "{}"],
    [[["constructor"], ["__proto__"]], "{}"],
  ])("of %j keeps what it names, in the order and form of the text", (paths, expected) => {
    expect(kept(text, ...paths)).toBe(expected);
  });

  it("of any paths is what a plain walk keeps", () => {
    const paths = fc.array(fc.array(fc.constantFrom(...someKeys), { minLength: 1, maxLength: 3 }), { maxLength: 4 });
    const wrapped = fc.tuple(jsonTexts, jsonTexts).map(([a, b]) => `{"a":${a},"__proto__":${b}}`);
    fc.assert(
      fc.property(wrapped, paths, (source, chosen) => {
        expect(Object.entries(JSON.parse(kept(source, ...chosen)))).toEqual(
          Object.entries(plainly(JSON.parse(source), chosen)),
        );
      }),
    );
  });
});

function plainly(object: object, paths: readonly (readonly string[])[]): object {
  const entries = Object.entries(object).flatMap(([name, value]): (readonly [string, unknown])[] => {
    const below = paths.filter(([first]) => first === name);
    if (below.length === 0) return [];
    if (below.some((path) => path.length === 1)) return [[name, value]];
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject
      ? [
          [
            name,
            plainly(
              value,
              below.map((path) => path.slice(1)),
            ),
          ],
        ]
      : [];
  });
  return Object.fromEntries(entries);
}
