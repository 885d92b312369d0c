// Where in a text a JSON Pointer leads.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../../../core/config/types.ts";
import { childPointer } from "../../../../../core/json/json-pointer.ts";
import { rangeAt } from "../../../../../pages/console/editor/positions.ts";

const text = `{
  "title" : "a \\"quoted\\" word",
  "list":[ 1.0 , {"deep": true}, [] ],
  "a/b~c": null,
  "\\u0065scaped": 1e400 ,
  "": "empty name"
}`;

/** The part of the text that the pointer leads to. */
function partAt(pointer: string, whole = text): string {
  const { from, to } = rangeAt(whole, pointer);
  return whole.slice(from, to);
}

describe("the place of a pointer", () => {
  it.each([
    ["", "{"],
    ["/title", '"title" : "a \\"quoted\\" word"'],
    ["/list", '"list":['],
    ["/list/0", "1.0"],
    ["/list/1", "{"],
    ["/list/1/deep", '"deep": true'],
    ["/list/2", "["],
    ["/a~1b~0c", '"a/b~c": null'],
    ["/escaped", '"\\u0065scaped": 1e400'],
    ["/", '"": "empty name"'],
  ])("%j is %j", (pointer, part) => {
    expect(partAt(pointer)).toBe(part);
  });

  it.each([
    ["a missing member", "/none", "{"],
    ["what is below a missing member", "/none/below/it", "{"],
    ["an index past the end", "/list/3", '"list":['],
    ["an index in an empty array", "/list/2/0", "["],
    ["- of an array", "/list/-", '"list":['],
    ["a word below an array", "/list/deep", '"list":['],
    ["an index with a leading zero", "/list/00", '"list":['],
    ["what is below a scalar", "/title/0", '"title" : "a \\"quoted\\" word"'],
    ["a member that every object inherits", "/constructor", "{"],
  ])("of %s (%j) is that of the nearest parent", (_what, pointer, part) => {
    expect(partAt(pointer)).toBe(part);
  });

  it.each(["", " ", "{", '{"a', '{"a"', '{"a":', '{"a":1', '{"a" 1}', "[1,", "[", "}{", '{"\\q":1}', '{"a":[1,}'])(
    "is within the text for %j, which isn't JSON",
    (broken) => {
      for (const pointer of ["", "/a", "/a/0", "/1", "/a/1/b"]) {
        const { from, to } = rangeAt(broken, pointer);
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeGreaterThanOrEqual(from);
        expect(to).toBeLessThanOrEqual(broken.length);
      }
    },
  );

  it("is found for every scalar of every value, whatever the white space", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2, "\t"), (value, space) => {
        const whole = JSON.stringify(value, null, space);
        for (const [pointer, scalar] of scalarsIn(value as Json, "")) {
          expect(partAt(pointer, whole).endsWith(JSON.stringify(scalar))).toBe(true);
        }
      }),
    );
  });
});

function scalarsIn(value: Json, pointer: string): readonly (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null) return [[pointer, value]];
  return Object.entries(value).flatMap(([name, member]) => scalarsIn(member as Json, childPointer(pointer, name)));
}
