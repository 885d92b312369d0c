// JSON text over several lines: what it says stays, character by character.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prettyJson } from "../../../../../pages/console/editor/pretty.ts";

describe("pretty JSON", () => {
  it("puts each member and element on a line, two spaces further in", () => {
    expect(prettyJson('{"a":[1,{"b":"c"}],"d":null}')).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": "c"\n    }\n  ],\n  "d": null\n}',
    );
  });

  it.each(["1.0", "1e400", "12345678901234567890", "-0", '"\\u0041\\/\\""', "true", "null", "{}", "[]"])(
    "keeps %s as it is written, also inside an array",
    (text) => {
      expect(prettyJson(text)).toBe(text);
      expect(prettyJson(` [ ${text} ,${text}\n] `)).toBe(`[\n  ${text},\n  ${text}\n]`);
    },
  );

  it("keeps members of one name", () => {
    expect(prettyJson('{"a":1,"a":2}')).toBe('{\n  "a": 1,\n  "a": 2\n}');
  });

  it.each(["", " ", "{", "[1,]", '{"a"}', "nul", "1 2", '"\n"', "{} x", "01"])(
    "leaves %j, which isn't JSON",
    (text) => {
      expect(prettyJson(text)).toBe(text);
    },
  );

  it("leaves brackets, colons and commas inside strings alone", () => {
    const text = '"{[,:]}\\\\"';
    expect(prettyJson(`{${text}:${text}}`)).toBe(`{\n  ${text}: ${text}\n}`);
  });

  it("changes neither the value nor, the second time, the text", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, noUnicodeString: false }), fc.constantFrom(0, 1, "\t"), (text, space) => {
        const pretty = prettyJson(JSON.stringify(JSON.parse(text), null, space));
        expect(JSON.parse(pretty)).toEqual(JSON.parse(text));
        expect(prettyJson(pretty)).toBe(pretty);
      }),
    );
  });

  it("writes what JSON.stringify writes, wherever that keeps the text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("takes time that grows with the text, and not with its square", () => {
    // Not timed: text of a size at which anything quadratic would not end.
    const text = JSON.stringify(Array.from({ length: 200_000 }, (_, index) => ({ [`member ${index}`]: [index, {}] })));
    expect(prettyJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
  });

  it("leaves text nested so deeply that its indentation would be most of it", () => {
    const text = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    expect(prettyJson(text)).toBe(text);
  });
});
